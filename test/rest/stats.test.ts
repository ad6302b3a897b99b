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

  it('is empty outside the time asked for, and without one', async () => {
    expect((await user.get('/api/data/self', { query: query(hour + 1, hour + 3600) })).data).toEqual([])
    expect((await user.get('/api/data/self')).data).toEqual([])
    expect((await admin.get('/api/data')).data).toEqual([])
  })

  it('of a user covers a month at most, and that of others is for administrators', async () => {
    const long = await user.get('/api/data/self', { query: query(hour - 2_592_001, hour) })
    expect(long.body).toEqual({ success: false, message: '时间跨度不能超过 1 个月' })
    const foreign = await user.get('/api/data/', { query: query(hour, hour) })
    expect([foreign.status, foreign.body['success']]).toEqual([200, false])
  })
})
