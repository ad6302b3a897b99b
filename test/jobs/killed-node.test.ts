import { expect, test } from 'vitest'
import { completion, startReceiver } from '#test/support/receiver.ts'
import { startProduct, until } from '#test/support/processes.ts'
import { createWorld } from '../faults/world.ts'

test('of two products on one database one does a due job, and the other goes on with it when that one is killed', async () => {
  await using world = await createWorld()
  // The first test hangs as long as the node lives that makes it.
  let hangs = true
  await using upstream = await startReceiver(() => ({ body: completion, delayMs: hangs ? 600_000 : 0 }))
  const channels = [
    await world.make.channel({ baseUrl: upstream.url }),
    await world.make.channel({ baseUrl: upstream.url }),
  ]
  await world.make.user({ role: 100 })
  await world.make.option('ChannelTestFrequency', '60')
  await world.make.option('ChannelModelsFrequency', '0')
  const environment = { ...world.environment, WORKERS: '1' }
  const first = await startProduct({ environment })
  try {
    await until(async () => upstream.received.length === 1, { what: 'the first node does not test' })
    const second = await startProduct({ environment })
    try {
      // Long enough for the second to have looked for what is due.
      await new Promise((resolve) => setTimeout(resolve, 7000))
      expect(upstream.received).toHaveLength(1)
      hangs = false
      await first.killAll()
      const row = async () => (await world.pool.query("select * from job_runs where name = 'channel-tests'")).rows[0]
      await until(async () => (await row())?.started_at !== null, {
        what: 'nobody goes on with the job',
      })
      expect(await row()).toMatchObject({
        failed: false,
        running_since: null,
        params: { tested: channels.length, failed: 0, disabled: 0, enabled: 0 },
      })
      expect(upstream.received).toHaveLength(1 + channels.length)
      expect((await second.stop()).code).toBe(0)
    } finally {
      await second.killAll()
    }
  } finally {
    await first.killAll()
  }
})
