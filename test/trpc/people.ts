import { UsageHourly } from '#db/entities/usage-hourly.ts'
import { startFileConsole } from '#test/support/console-app.ts'

type Failures = { modelName?: string; group?: string; calls: number; attempts: number }

/** The console for a file of tests, which ends it with its last one, and who uses it: an administrator and two users. */
export async function startWithPeople() {
  const app = await startFileConsole()
  const admin = await app.person({ role: 10 })
  const anna = await app.person({ username: 'anna' })
  /** A row of hourly usage, of anna unless the fields say otherwise. */
  const addHour = (hour: Date, fields: Partial<UsageHourly> = {}) =>
    app.em().insert(UsageHourly, {
      hour,
      userId: anna.id,
      modelName: 'gpt-4o',
      channelId: 1,
      tokenId: 1,
      group: 'default',
      count: 1,
      quota: 10,
      ...fields,
    })
  /** Failures in the hour of a time, of anna; those of the same hour add up. */
  const addFailures = (at: Date, { modelName = 'gpt-4o', group = 'default', calls, attempts }: Failures) =>
    app.sql(
      `insert into failures_hourly as t (hour, user_id, model_name, channel_id, token_id, "group", calls, attempts)
       values (date_trunc('hour', $1::timestamptz), $2, $3, 1, 1, $4, $5, $6)
       on conflict (hour, user_id, model_name, channel_id, token_id, "group")
         do update set calls = t.calls + excluded.calls, attempts = t.attempts + excluded.attempts`,
      [at, anna.id, modelName, group, calls, attempts],
    )
  return { app, admin, anna, bert: await app.person({ username: 'bert' }), addHour, addFailures }
}
