import { expect, test } from 'vitest'
import { jobLockClass } from '#jobs/runner.ts'
import { completion, startReceiver } from '#test/support/receiver.ts'
import { startProduct, sendSignal, until } from '#test/support/processes.ts'
import { createWorld } from '../faults/world.ts'

test('of two products on one database one does a due job, and the other goes on with it when that one is killed', async () => {
  await using world = await createWorld()
  // The first test hangs as long as the node lives that makes it.
  let hangs = true
  await using upstream = await startReceiver(() => ({ body: completion, delayMs: hangs ? 600_000 : 0 }))
  // Neither given up nor switched off where a busy machine is slow.
  const channel = { baseUrl: upstream.url, setting: '{"first_byte_timeout":600}' }
  const channels = [await world.make.channel(channel), await world.make.channel(channel)]
  await world.make.option('ChannelDisableThreshold', '0')
  await world.make.user({ role: 100 })
  await world.make.option('ChannelTestFrequency', '60')
  await world.make.option('ChannelModelsFrequency', '0')
  const environment = { ...world.environment, WORKERS: '1' }
  const row = async (name = 'channel-tests') =>
    (await world.pool.query('select * from job_runs where name = $1', [name])).rows[0]
  /** Whether the last job that is due by itself has been done within its interval. */
  const hasLooked = async () => Date.now() - ((await row('attention'))?.started_at?.getTime() ?? 0) < 300_000
  /** Of the locks of jobs only that of the test is held. */
  const hasLetGo = async () =>
    (
      await world.pool.query(
        `select 1 from pg_locks join pg_database d on d.oid = database
         where locktype = 'advisory' and classid = $1 and datname = current_database()`,
        [jobLockClass],
      )
    ).rowCount === 1
  const first = await startProduct({ environment })
  try {
    await until(async () => upstream.received.length === 1, { what: 'the first node does not test' })
    await until(async () => (await hasLooked()) && (await hasLetGo()), { what: 'the first node does not do the rest' })
    // From here on it neither looks nor gives its test up; its session keeps the lock of the job.
    sendSignal(first.pid, 'SIGSTOP')
    const second = await startProduct({ environment })
    try {
      // Both are due now, and only the second is there to look: the last job of its list it does, the first one is being done.
      await world.pool.query(
        `update job_runs set started_at = started_at - interval '1 hour', running_since = running_since - interval '1 hour'
           where name in ('channel-tests', 'attention')`,
      )
      await until(hasLooked, { what: 'the second node does nothing that is due' })
      expect(await row()).toMatchObject({ attempts: 0, started_at: null })
      expect(upstream.received).toHaveLength(1)
      hangs = false
      await first.killAll()
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
