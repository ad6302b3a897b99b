import { expect, it } from 'vitest'
import type { Changes } from '#db/changes.ts'
import { createWriteBarrier } from './write-barrier.ts'

type Announced = (reply: { rows: { nodes: number[] }[] }) => void

it('answers every writer of those that share a barrier, once it is acknowledged', async () => {
  const announcements: Announced[] = []
  let acknowledge: (text: string) => void = () => {}
  const changes = {
    onChange: () => {},
    onConnected: () => {},
    listen: async (_channel: string, onMessage: (text: string) => void) => void (acknowledge = onMessage),
    query: (text: string) =>
      text.includes('pg_advisory_lock_shared')
        ? Promise.resolve()
        : new Promise((resolve) => announcements.push(resolve as Announced)),
  } as unknown as Changes
  const warnings: unknown[] = []
  const barrier = await createWriteBarrier({
    changes,
    nodeId: 1,
    caughtUp: () => Promise.resolve(),
    doubt: () => {},
    log: { warn: (...warning: unknown[]) => warnings.push(warning) } as never,
    longestWaitMs: 60_000,
  })
  // The first is being announced; the others come meanwhile and share the next.
  const writers = Array.from({ length: 50 }, () => barrier())
  announcements[0]?.({ rows: [{ nodes: [1, 2] }] })
  await expect.poll(() => announcements.length).toBe(2)
  announcements[1]?.({ rows: [{ nodes: [1, 2] }] })
  acknowledge('1:2')
  await new Promise(setImmediate)
  acknowledge('2:2')
  await Promise.all(writers)
  expect(warnings).toEqual([])
})
