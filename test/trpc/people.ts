import { UsageHourly } from '#db/entities/usage-hourly.ts'
import { startFileConsole } from '#test/support/console-app.ts'

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
  return { app, admin, anna, bert: await app.person({ username: 'bert' }), addHour }
}
