import { describe, expect, it } from 'vitest'
import { UsageHourly } from '#db/entities/usage-hourly.ts'
import { startFileConsole } from '#test/support/console-app.ts'

const hour = 1_767_225_600

const app = await startFileConsole()
const anna = await app.person({ username: 'anna' })
const admin = await app.signedIn(await app.person({ role: 10 }))
const user = await app.signedIn(anna)
const usage = { modelName: 'gpt-4o', tokenId: 1, group: 'default', count: 2, promptTokens: 7, completionTokens: 3 }
const at = { hour: new Date(hour * 1000), channelId: 1, quota: 40 }
await app.em().insert(UsageHourly, { ...usage, ...at, userId: anna.id })
await app.em().insert(UsageHourly, { ...usage, ...at, userId: 999 })

const query = (from: number, to: number) => ({ start_timestamp: String(from), end_timestamp: String(to) })

describe('dashboard data on the wire', () => {
  it('is added up over everybody, or read for one user', async () => {
    const everybody = await admin.get('/api/data/', { query: { ...query(hour, hour), default_time: 'hour' } })
    const row = { model_name: 'gpt-4o', created_at: hour }
    expect(everybody.data).toEqual([{ ...row, id: 0, user_id: 0, username: '', token_used: 20, count: 4, quota: 80 }])
    const one = await admin.get('/api/data/', { query: { ...query(hour, hour), username: 'anna' } })
    const own = await user.get('/api/data/self/', { query: query(hour - 3600, hour + 1) })
    const mine = [{ ...row, id: 1, user_id: anna.id, username: 'anna', token_used: 10, count: 2, quota: 40 }]
    expect([one.data, own.data]).toEqual([mine, mine])
  })

  it('of a name is that of all who had it, whom the rows are of', async () => {
    const former = await app.person({ username: 'bob', deletedAt: new Date() })
    await app.sql(`update users set username = 'bob (deleted ' || id || ')' where id = $1`, [former.id])
    await app.em().insert(UsageHourly, { ...usage, ...at, hour: new Date((hour + 7200) * 1000), userId: former.id })
    await app.sql(`insert into logs (user_id, username, type, quota) values ($1, 'bob', 2, 40)`, [former.id])
    const asked = async () => {
      const data = (await admin.get('/api/data/', { query: { ...query(hour, hour + 7200), username: 'bob' } })).data
      const { total } = (await admin.get('/api/log/', { query: { username: 'bob' } })).data as { total: number }
      const stat = (await admin.get('/api/log/stat', { query: { username: 'bob' } })).data as { quota: number }
      return [(data as { user_id: number; quota: number }[]).map((row) => [row.user_id, row.quota]), total, stat.quota]
    }
    expect(await asked()).toEqual([[[former.id, 40]], 1, 40])
    const bob = await app.person({ username: 'bob' })
    await app.em().insert(UsageHourly, { ...usage, ...at, hour: new Date((hour + 7200) * 1000), userId: bob.id })
    await app.sql(`insert into logs (user_id, username, type, quota) values ($1, 'bob', 2, 40)`, [bob.id])
    expect(await asked()).toEqual([[[bob.id, 80]], 2, 80])
  })

  it('is empty outside the time asked for, and without one', async () => {
    expect((await user.get('/api/data/self', { query: query(hour + 1, hour + 3600) })).data).toEqual([])
    expect((await user.get('/api/data/self')).data).toEqual([])
    expect((await admin.get('/api/data')).data).toEqual([])
  })

  it('goes back to the first hour where everything is asked for', async () => {
    const long = new Date('2021-03-01T00:00:00Z')
    await app.em().insert(UsageHourly, { ...usage, ...at, hour: long, userId: 998 })
    const data = (await admin.get('/api/data/', { query: query(0, hour) })).data as { created_at: number }[]
    expect(data[0]?.created_at).toBe(long.getTime() / 1000)
  })

  it('of a user covers a month at most, and that of others is for administrators', async () => {
    const long = await user.get('/api/data/self', { query: query(hour - 2_592_001, hour) })
    expect(long.body).toEqual({ success: false, message: '时间跨度不能超过 1 个月' })
    const foreign = await user.get('/api/data/', { query: query(hour, hour) })
    expect([foreign.status, foreign.body['success']]).toEqual([200, false])
  })
})
