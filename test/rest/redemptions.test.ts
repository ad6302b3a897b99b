import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { redemptionOrders } from '#features/redemptions/schema.ts'
import { startFileConsole, refused } from '#test/support/console-app.ts'

const app = await startFileConsole()
const admin = await app.person({ role: 10 })
const browser = await app.signedIn(admin)
beforeEach(() => app.sql('delete from redemptions'))

type Row = Record<string, unknown> & { id: number; key: string }
const make = async (fields: Record<string, unknown> = {}): Promise<string[]> =>
  (await browser.post('/api/redemption/', { name: 'codes', quota: 1000, count: 1, ...fields })).data as string[]
const list = async (query: Record<string, string> = {}, path = '/api/redemption/') =>
  (await browser.get(path, { query })).data as { items: Row[]; total: number; page: number; page_size: number }

describe('making codes', () => {
  it('gives their texts, and lists them in the documented form, newest first', async () => {
    const now = Math.floor(Date.now() / 1000)
    const keys = await make({ count: 3, is_gift: true, max_uses: 5, valid_from: now - 10, valid_until: now + 3600 })
    expect(new Set(keys).size).toBe(3)
    for (const key of keys) expect(key).toMatch(/^[0-9a-f]{32}$/)
    const { items, ...paging } = await list({ p: '0' })
    expect(paging).toEqual({ total: 3, page: 1, page_size: 10 })
    expect(items[0]).toEqual({
      id: expect.any(Number),
      user_id: admin.id,
      key: expect.stringMatching(/^[0-9a-f]{32}$/),
      status: 1,
      name: 'codes',
      quota: 1000,
      created_time: expect.any(Number),
      redeemed_time: 0,
      valid_from: now - 10,
      valid_until: now + 3600,
      count: 0,
      used_user_id: 0,
      is_gift: true,
      max_uses: 5,
      used_count: 0,
      DeletedAt: null,
    })
    expect(items.map(({ id }) => id)).toEqual(items.map(({ id }) => id).toSorted((left, right) => right - left))
    expect(items.map(({ key }) => key).toSorted()).toEqual(keys.toSorted())
  })

  it('takes a text of its own for one code, once', async () => {
    expect(await make({ key: 'WELCOME', count: 9 })).toEqual(['WELCOME'])
    expect(await browser.post('/api/redemption/', { name: 'x', quota: 1, key: 'WELCOME' })).toMatchObject(
      refused('兑换码「WELCOME」已存在'),
    )
    expect((await list()).total).toBe(1)
  })

  it('keeps no readable text, and none that is soon guessed back', async () => {
    await make({ key: 'WELCOME' })
    const [stored] = await app.sql('select * from redemptions')
    const { createHash } = await import('node:crypto')
    expect(JSON.stringify(stored)).not.toContain('WELCOME')
    expect(stored?.['key_hash']).not.toBe(createHash('sha256').update('WELCOME').digest('hex'))
  })

  it.each([
    [{ name: '' }, '兑换码名称长度必须在 1 到 20 个字符之间'],
    [{ name: '名'.repeat(21) }, '兑换码名称长度必须在 1 到 20 个字符之间'],
    [{ count: 0 }, '兑换码个数必须在 1 到 100 之间'],
    [{ count: 101 }, '兑换码个数必须在 1 到 100 之间'],
    [{ count: 1.5 }, '兑换码个数必须在 1 到 100 之间'],
    [{ quota: -1 }, '额度必须大于 0'],
    [{ quota: 0.5 }, '额度必须大于 0'],
    [{ quota: 1e30 }, '额度必须大于 0'],
    [{ max_uses: 0 }, '可用次数必须是 -1（不限）或正整数'],
    [{ valid_from: 2000, valid_until: 2000 }, '生效时间必须早于过期时间'],
    [{ key: 'k'.repeat(33) }, '兑换码不能超过 32 个字符'],
  ])('refuses %j and makes nothing', async (change, message) => {
    const reply = await browser.post('/api/redemption/', { name: 'codes', quota: 1000, count: 1, ...change })
    expect(reply).toMatchObject(refused(message))
    expect((await list()).total).toBe(0)
  })

  it('is for administrators', async () => {
    const person = await app.signedIn(await app.person())
    for (const reply of [
      await person.get('/api/redemption/'),
      await person.post('/api/redemption/', { name: 'x', quota: 1, count: 1 }),
      await person.delete('/api/redemption/delete-disabled'),
    ]) {
      expect(reply).toMatchObject(refused('权限不足，无权进行此操作'))
    }
    expect((await app.browser().get('/api/redemption/')).status).toBe(401)
  })
})

describe('finding, changing and deleting codes', () => {
  it('finds by the beginning of the name and by id', async () => {
    await make({ name: 'spring_1' })
    await make({ name: 'springX1' })
    const [second, first] = (await list()).items as [Row, Row]
    const found = async (keyword: string) =>
      (await list({ keyword }, '/api/redemption/search')).items.map(({ id }) => id)
    expect(await found('spring')).toEqual([second.id, first.id])
    expect(await found('spring_')).toEqual([first.id])
    expect(await found('pring')).toEqual([])
    expect(await found(String(first.id))).toEqual([first.id])
    expect((await browser.get(`/api/redemption/${first.id}/`)).data).toEqual(first)
  })

  it('orders them by the columns of the console, no end as the latest, no beginning as the earliest, the unused last', async () => {
    const facts = [
      ['b', 30, 1, null, '2030-01-01', '2026-01-02'],
      ['a', 10, 3, '2026-01-01', null, null],
      ['c', 20, 2, '2026-01-02', '2029-01-01', '2026-01-01'],
    ]
    for (const [name, ...rest] of facts) {
      await make({ name })
      const sql =
        'update redemptions set quota = $2, used_count = $3, valid_from = $4, valid_until = $5, redeemed_at = $6 where name = $1'
      await app.sql(sql, [name, ...rest])
    }
    const { redemptions } = (await app.trpc(admin)).admin
    const namesBy = async (sort: (typeof redemptionOrders)[number], order: 'asc' | 'desc') =>
      (await redemptions.list({ page: 1, sort, order })).items.map(({ name }) => name).join('')
    const found = await Promise.all(
      redemptionOrders.map(async (sort) => [sort, await namesBy(sort, 'asc'), await namesBy(sort, 'desc')]),
    )
    expect(found).toEqual([
      ['id', 'bac', 'cab'],
      ['name', 'abc', 'cba'],
      ['quota', 'acb', 'bca'],
      ['uses', 'bca', 'acb'],
      ['validFrom', 'bac', 'cab'],
      ['validUntil', 'cba', 'abc'],
      ['redeemed', 'cba', 'bca'],
      ['created', 'bac', 'cab'],
    ])
    expect((await redemptions.list({ page: 1 })).items.map(({ name }) => name)).toEqual(['c', 'a', 'b'])
  })

  it('changes what may be changed of a code that nobody has used', async () => {
    await make()
    const [row] = (await list()).items as [Row]
    const reply = await browser.put('/api/redemption/', { ...row, name: 'new', quota: 5, key: 'x', used_count: 9 })
    expect(reply.data).toEqual({ ...row, name: 'new', quota: 5 })
    const set = (status: number) =>
      browser.put('/api/redemption/', { id: row.id, status }, { query: { status_only: 'true' } })
    expect((await set(2)).data).toMatchObject({ status: 2, name: 'new' })
    expect((await set(1)).data).toMatchObject({ status: 1 })
    for (const status of [0, 3, 9]) expect((await set(status)).body['success']).toBe(false)
    await app.sql('update redemptions set status = 3')
    expect(await set(1)).toMatchObject(refused('已使用的兑换码不能再修改'))
    expect(await browser.put('/api/redemption/', row)).toMatchObject(refused('已使用的兑换码不能再修改'))
  })

  it('leaves a code its time where a change names none', async () => {
    const now = Math.floor(Date.now() / 1000)
    await make({ valid_from: now - 10, valid_until: now + 3600 })
    const [row] = (await list()).items as [Row]
    const put = (more: object) => browser.put('/api/redemption/', { id: row.id, name: 'new', quota: 5, ...more })
    expect((await put({})).data).toMatchObject({ name: 'new', valid_from: now - 10, valid_until: now + 3600 })
    expect(await put({ valid_from: now + 7200 })).toMatchObject(refused('生效时间必须早于过期时间'))
    expect((await put({ valid_from: 0 })).data).toMatchObject({ valid_from: 0, valid_until: now + 3600 })
    expect((await put({ valid_until: 0 })).data).toMatchObject({ valid_until: 0 })
  })

  it('ends a code at the time that programs of related servers name', async () => {
    const end = Math.floor(Date.now() / 1000) + 3600
    await make({ expired_time: end })
    expect((await list()).items[0]).toMatchObject({ valid_until: end })
    await make({ expired_time: end, valid_until: end + 1 })
    expect((await list()).items[0]).toMatchObject({ valid_until: end + 1 })
  })

  it('counts and deletes by the exact name', async () => {
    await make({ name: 'summer', count: 3 })
    await make({ name: 'summer 2' })
    const query = { name: 'summer' }
    expect((await browser.get('/api/redemption/count-by-name', { query })).data).toBe(3)
    expect((await browser.delete('/api/redemption/delete-by-name', { query })).data).toBe(3)
    expect((await list()).items.map(({ name }) => name)).toEqual(['summer 2'])
    expect(await browser.delete('/api/redemption/delete-by-name')).toMatchObject(refused('请输入兑换码名称'))
  })

  it('disables many, and deletes all that are disabled', async () => {
    await make({ count: 4 })
    const [first, second, third] = (await list()).items as [Row, Row, Row]
    await app.sql('update redemptions set status = 3 where id = $1', [third.id])
    const disable = (ids: unknown) => browser.put('/api/redemption/batch-disable', { ids })
    expect((await disable([first.id, second.id, third.id])).data).toBe(2)
    expect(await disable([])).toMatchObject(refused('请先选择要操作的项目'))
    expect((await browser.delete('/api/redemption/delete-disabled')).data).toBe(2)
    expect((await list()).total).toBe(2)
    expect('data' in (await browser.delete(`/api/redemption/${third.id}`)).body).toBe(false)
    expect(await browser.get(`/api/redemption/${third.id}`)).toMatchObject(refused('兑换码不存在'))
  })

  it('locks those it changes in one order, so that two who do so at once both come to their end', async () => {
    await make({ count: 2 })
    const [second, first] = (await list()).items as [Row, Row]
    // Its row then lies behind the other's, in a table that is read from end to end.
    await app.sql('update redemptions set status = 2 where id = $1', [second.id])
    await app.sql('update redemptions set status = 2 where id = $1', [first.id])
    const other = await app.services.database.pool.connect()
    onTestFinished(() => other.release(true))
    await other.query('begin')
    await other.query('select from redemptions where id = $1 for update', [first.id])
    const deleted = browser.delete('/api/redemption/delete-disabled')
    const waits = "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
    await expect.poll(async () => (await app.sql(waits)).length).toBe(1)
    await other.query('select from redemptions where id = $1 for update nowait', [second.id])
    await other.query('commit')
    expect((await deleted).data).toBe(2)
  })
})
