import { expect, onTestFinished, test } from 'vitest'
import type { Changes } from '#db/changes.ts'
import { processorMs } from './processor-time.ts'
import { followChanges } from './follow-changes.ts'

type Listener = Parameters<Changes['onChange']>[0]

/** A follower that receives what the test sends, and the channels that it has read again, look by look. */
function startFollower(reload: (ids: Set<number> | undefined) => Promise<void> = async () => {}) {
  const listeners: Listener[] = []
  const looks: (number[] | 'all')[] = []
  const services = {
    channels: {
      reload: async (ids: Set<number> | undefined) => {
        looks.push(ids ? [...ids] : 'all')
        await reload(ids)
      },
    },
    options: { reload: async () => {} },
    ledger: { leasesReturned: async () => {} },
    log: { error: () => {} },
  }
  const changes = { onChange: (listener: Listener) => listeners.push(listener), onLost: () => {}, onGap: () => {} }
  const follower = followChanges(
    services as unknown as Parameters<typeof followChanges>[0],
    changes as unknown as Changes,
  )
  onTestFinished(follower.stop)
  const change = (id: number) => listeners.forEach((listener) => listener({ table: 'channel', id: String(id) }))
  return { follower, looks, change }
}

test('notices of thousands of channels at once cost milliseconds, and share a look', async () => {
  const { follower, looks, change } = startFollower()
  const ids = Array.from({ length: 20_000 }, (_, index) => index + 1)
  const before = processorMs()
  for (const id of ids) change(id)
  expect(processorMs() - before).toBeLessThan(1000)
  await follower.caughtUp()
  expect(looks).toEqual([ids])
})

test('channels of a look that failed are read again with those noticed meanwhile', async () => {
  const failing = Promise.withResolvers<void>()
  let attempts = 0
  const { follower, looks, change } = startFollower(() => (++attempts === 1 ? failing.promise : Promise.resolve()))
  change(1)
  change(2)
  const done = follower.caughtUp()
  await expect.poll(() => looks.length).toBe(1)
  change(3)
  failing.reject(new Error('gone'))
  await done
  expect(looks.map((ids) => [...ids].toSorted())).toEqual([
    [1, 2],
    [1, 2, 3],
  ])
})
