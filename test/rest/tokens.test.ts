import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Browser, type Person, startFileConsole, refused } from '#test/support/console-app.ts'

let owner: Person
let browser: Browser

const app = await startFileConsole()
beforeEach(async () => {
  owner = await app.person()
  browser = await app.signedIn(owner)
})
afterEach(() => app.sql('delete from options').then(() => app.services.options.reload()))

type RestToken = Record<string, unknown> & { id: number; key: string }
const list = async (query: Record<string, string> = {}) =>
  (await browser.get('/api/token/', { query })).data as RestToken[]
const make = async (fields: Record<string, unknown> = {}): Promise<RestToken> => {
  const reply = await browser.post('/api/token/', { name: 'mine', ...fields })
  expect(reply.body).toEqual({ success: true, message: '' })
  const [token] = await list()
  if (!token) throw new Error('no token')
  return token
}
const listed = () => list()

describe('POST /api/token/', () => {
  it.each(['nonsense', '203.0.113.1\n999.1.1.1', '10.0.0.0/33', '203.0.113', '::g', '*'])(
    'refuses the address list %j instead of letting everybody in, here and in a change',
    async (list) => {
      const before = (await listed()).length
      const message = expect.stringMatching(/^IP 白名单中的「.+」不是有效的地址或网段$/)
      expect(await browser.post('/api/token/', { name: 'open', allow_ips: list })).toMatchObject({
        body: { success: false, message },
      })
      expect(await listed()).toHaveLength(before)
      const token = await make({ allow_ips: '203.0.113.9' })
      expect((await browser.put('/api/token/', { ...token, allow_ips: list })).body).toMatchObject({
        success: false,
        message,
      })
      expect((await listed())[0]).toMatchObject({ allow_ips: '203.0.113.9' })
    },
  )

  it('makes a token of every documented key, in the documented form', async () => {
    const now = Math.floor(Date.now() / 1000)
    const token = await make({
      expired_time: now + 3600,
      remain_quota: 500_000,
      unlimited_quota: false,
      model_limits_enabled: true,
      model_limits: 'gpt-4o, o1,gpt-4o,',
      allow_ips: ' 203.0.113.1 , 2001:DB8::1\n10.0.0.0/8',
      group: 'vip',
      rate_limit_enabled: true,
      rate_limit_period: 30,
      rate_limit_count: 5,
      rate_limit_success: 3,
    })
    expect(token).toEqual({
      id: expect.any(Number),
      user_id: owner.id,
      key: expect.stringMatching(/^[0-9A-Za-z]{48}$/),
      status: 1,
      name: 'mine',
      created_time: expect.any(Number),
      accessed_time: expect.any(Number),
      expired_time: now + 3600,
      remain_quota: 500_000,
      used_quota: 0,
      unlimited_quota: false,
      model_limits_enabled: true,
      model_limits: 'gpt-4o,o1',
      allow_ips: '203.0.113.1\n2001:db8::1\n10.0.0.0/8',
      group: 'vip',
      rate_limit_enabled: true,
      rate_limit_period: 30,
      rate_limit_count: 5,
      rate_limit_success: 3,
      DeletedAt: null,
    })
    expect(Math.abs(Number(token['created_time']) - now)).toBeLessThan(600)
  })

  it('fills in what is not said', async () => {
    expect(await make()).toMatchObject({
      expired_time: -1,
      remain_quota: 0,
      unlimited_quota: false,
      model_limits: '',
      allow_ips: '',
      group: '',
      rate_limit_enabled: false,
      rate_limit_period: 60,
      rate_limit_count: 1000,
      rate_limit_success: 10,
    })
  })

  it('makes one token of a request that is sent ten times at once under one Idempotency-Key', async () => {
    const send = (name: string) => browser.post('/api/token/', { name }, { headers: { 'idempotency-key': 'token-1' } })
    const replies = await Promise.all(Array.from({ length: 10 }, () => send('once')))
    for (const reply of replies) expect(reply.body).toEqual({ success: true, message: '' })
    expect((await list()).map(({ name }) => name)).toEqual(['once'])
    expect(await send('twice')).toMatchObject(refused('同一 Idempotency-Key 已用于内容不同的请求'))
  })

  it('keeps no readable key', async () => {
    const { key } = await make()
    const [stored] = await app.sql('select * from tokens where user_id = $1', [owner.id])
    expect(JSON.stringify(stored)).not.toContain(key)
    expect(stored?.['key_mask']).toBe(`${key.slice(0, 3)}***${key.slice(-3)}`)
  })

  it('gives a token nothing that is not its to have', async () => {
    const token = await make({ id: 1, user_id: 1, status: 4, used_quota: -5, key: 'x'.repeat(48), accessed_time: 1 })
    expect(token).toMatchObject({ user_id: owner.id, status: 1, used_quota: 0 })
    expect(token.key).not.toBe('x'.repeat(48))
  })

  it.each([
    [{ name: '名'.repeat(31) }, '令牌名称不能超过 30 个字符'],
    [{ remain_quota: -1 }, '令牌额度无效'],
    [{ remain_quota: 1.5 }, '令牌额度无效'],
    [{ remain_quota: 1e30 }, '令牌额度无效'],
    [{ expired_time: 'tomorrow' }, '过期时间格式错误！'],
    [{ expired_time: -5 }, '过期时间格式错误！'],
    [{ group: 'staff' }, '无权使用分组 staff'],
    [{ group: 'svip' }, '无权使用分组 svip'],
  ])('refuses %j and makes nothing', async (change, message) => {
    expect(await browser.post('/api/token/', { name: 'bad', ...change })).toMatchObject(refused(message))
    expect(await list()).toEqual([])
  })

  it('takes an expiry that has passed, as documented clients may send any', async () => {
    const past = Math.floor(Date.now() / 1000) - 60
    expect(await browser.post('/api/token/', { name: 'late', expired_time: past })).toMatchObject({ status: 200 })
    const [token] = await list()
    expect(token).toMatchObject({ name: 'late', expired_time: past })
    const again = await browser.put('/api/token/', { ...token, expired_time: past - 1 })
    expect(again.data).toMatchObject({ expired_time: past - 1 })
  })

  it('takes thirty Chinese characters for a name, and the owner group although it is not open', async () => {
    await app.sql(`update users set "group" = 'staff' where id = $1`, [owner.id])
    expect(await make({ name: '名'.repeat(30), group: 'staff' })).toMatchObject({ group: 'staff' })
  })
})

describe('reading tokens', () => {
  it('lists newest first from page 0, at most a hundred', async () => {
    for (const name of ['a', 'b', 'c']) await make({ name })
    expect((await list({ p: '0', size: '2' })).map(({ name }) => name)).toEqual(['c', 'b'])
    expect((await list({ p: '1', size: '2' })).map(({ name }) => name)).toEqual(['a'])
    expect(await list({ p: '2', size: '2' })).toEqual([])
    // As other lists call it.
    expect((await list({ p: '0', page_size: '2' })).length).toBe(2)
    expect((await list({ p: '-1', size: '1000000' })).length).toBe(3)
  })

  it('finds by part of the name and by part of the key', async () => {
    const first = await make({ name: 'alpha_1' })
    const second = await make({ name: 'alphaX1' })
    const search = async (query: Record<string, string>) =>
      ((await browser.get('/api/token/search', { query })).data as RestToken[]).map(({ id }) => id)
    expect(await search({ keyword: 'ALPHA' })).toEqual([second.id, first.id])
    expect(await search({ keyword: 'alpha_1' })).toEqual([first.id])
    expect(await search({ keyword: '', token: first.key.slice(10, 30) })).toEqual([first.id])
    expect(await search({ token: `sk-${second.key}` })).toEqual([second.id])
    expect(await search({ keyword: 'alphaX', token: first.key })).toEqual([])
    expect(await search({})).toEqual([second.id, first.id])
  })

  it('finds an old token among very many, by a part of its key and by all of it', async () => {
    const old = await make({ name: 'old' })
    const found = async (token: string) =>
      ((await browser.get('/api/token/search', { query: { token } })).data as RestToken[]).map(({ id }) => id)
    const plant = (from: number, to: number) =>
      app.sql(
        `insert into tokens (user_id, name, key_hash, key_encrypted, key_mask)
           select $1, 'many', 'hash ' || n, $2, '' from generate_series($3::int, $4::int) n`,
        [owner.id, app.services.secrets.encrypt('another'), from, to],
      )
    await plant(1, 1500)
    expect(await found(old.key.slice(10, 30))).toEqual([old.id])
    await plant(1501, 10_500)
    expect(await found(`sk-${old.key}`)).toEqual([old.id])
  })

  it('sorts the list and a search by every column of the page, both ways, over all pages', async () => {
    for (const name of ['banana', 'apple', 'cherry']) await make({ name })
    await app.sql(`update tokens set used_quota = case name when 'banana' then 3 when 'apple' then 2 else 1 end,
      accessed_at = now() - case name when 'banana' then interval '1 day' when 'apple' then interval '3 days' else interval '2 days' end,
      created_at = now() - case name when 'banana' then interval '9 days' when 'apple' then interval '7 days' else interval '8 days' end,
      expires_at = case name when 'banana' then now() + interval '1 day' when 'apple' then now() + interval '2 days' end`)
    const trpc = await app.trpc(owner)
    const ascending = {
      name: ['apple', 'banana', 'cherry'],
      spend: ['cherry', 'apple', 'banana'],
      used: ['apple', 'cherry', 'banana'],
      created: ['banana', 'cherry', 'apple'],
      // Never is later than any time.
      expires: ['banana', 'apple', 'cherry'],
    } as const
    for (const sort of ['name', 'spend', 'used', 'created', 'expires'] as const) {
      for (const order of ['asc', 'desc'] as const) {
        const sorted = order === 'asc' ? [...ascending[sort]] : ascending[sort].toReversed()
        const pages = await Promise.all([1, 2].map((page) => trpc.user.tokens.list({ page, pageSize: 2, sort, order })))
        expect([sort, order, pages.flatMap(({ items }) => items.map(({ name }) => name))]).toEqual([
          sort,
          order,
          sorted,
        ])
        const found = await trpc.user.tokens.search({ keyword: 'an', sort, order })
        expect(found.map(({ name }) => name)).toEqual(sorted.filter((name) => name.includes('an')))
      }
    }
    expect(await trpc.user.tokens.list({ page: 1, sort: 'key' as never }).catch(() => 'refused')).toBe('refused')
  })

  it('hides everybody else’s', async () => {
    const token = await make()
    const otherRoot = await app.signedIn(await app.person({ role: 100 }))
    const id = token.id
    for (const reply of [
      await otherRoot.get(`/api/token/${id}`),
      await otherRoot.put('/api/token/', { id, name: 'taken' }),
      await otherRoot.put('/api/token/', { id, status: 2 }, { query: { status_only: 'true' } }),
      await otherRoot.delete(`/api/token/${id}`),
    ]) {
      expect(reply).toMatchObject(refused('令牌不存在'))
    }
    expect((await otherRoot.get('/api/token/search', { query: { token: token.key } })).data).toEqual([])
    expect((await otherRoot.get('/api/token/')).data).toEqual([])
    expect((await browser.get(`/api/token/${id}/`)).data).toEqual(token)
  })

  it('wants a login', async () => {
    for (const path of ['/api/token/', '/api/token/search', '/api/token/1']) {
      expect((await app.browser().get(path)).status).toBe(401)
    }
  })
})

describe('PUT /api/token/', () => {
  it('overwrites what is editable and nothing else', async () => {
    const token = await make({ remain_quota: 100, group: 'vip', allow_ips: '10.0.0.1' })
    await app.sql('update tokens set used_quota = 7 where id = $1', [token.id])
    const reply = await browser.put('/api/token/', { id: token.id, name: 'new', key: 'y', used_quota: 0, user_id: 1 })
    expect(reply.data).toEqual({ ...token, name: 'new', used_quota: 7, remain_quota: 0, group: '', allow_ips: '' })
  })

  it('lets no token go on for ever that is to end: an expiry that is left out stays, and 0 is none', async () => {
    const end = Math.floor(Date.now() / 1000) + 3600
    const token = await make({ expired_time: end })
    const put = (more: object) => browser.put('/api/token/', { id: token.id, name: 'renamed', ...more })
    for (const left of [{}, { expired_time: null }, { expired_time: '' }]) {
      expect((await put(left)).data).toMatchObject({ name: 'renamed', expired_time: end })
    }
    expect(await put({ expired_time: 0 })).toMatchObject(refused('过期时间格式错误！'))
    expect((await put({ expired_time: -1 })).data).toMatchObject({ expired_time: -1 })
    expect(await make({ name: 'new', expired_time: 0 })).toMatchObject({ expired_time: -1 })
  })

  it('changes the status alone when asked to', async () => {
    const token = await make({ remain_quota: 100 })
    const set = (status: number) =>
      browser.put('/api/token/', { id: token.id, status }, { query: { status_only: 'true' } })
    expect((await set(2)).data).toEqual({ ...token, status: 2 })
    expect((await set(1)).data).toEqual(token)
    for (const status of [0, 3, 4, 99]) expect((await set(status)).body['success']).toBe(false)
  })

  it('enables nothing that has run out', async () => {
    const token = await make()
    const enable = () => browser.put('/api/token/', { id: token.id, status: 1 }, { query: { status_only: '1' } })
    const store = (columns: string) => app.sql(`update tokens set ${columns} where id = $1`, [token.id])
    const full = () => browser.put('/api/token/', { ...token, status: 1, expired_time: -1, remain_quota: 9 })

    await store("status = 3, expires_at = now() - interval '1 minute'")
    const expired = refused('令牌已过期，无法启用，请先修改令牌过期时间，或者设置为永不过期')
    expect(await enable()).toMatchObject(expired)
    expect(await full()).toMatchObject(expired)
    await store('expires_at = null')
    expect((await enable()).data).toMatchObject({ status: 1 })

    await store('status = 4, remain_quota = 0')
    const exhausted = refused('令牌可用额度已用尽，无法启用，请先修改令牌剩余额度，或者设置为无限额度')
    expect(await enable()).toMatchObject(exhausted)
    expect(await full()).toMatchObject(exhausted)
    const { status: _, ...rest } = token
    expect((await browser.put('/api/token/', { ...rest, remain_quota: 9 })).data).toMatchObject({
      status: 4,
      remain_quota: 9,
    })
    expect((await enable()).data).toMatchObject({ status: 1 })
  })

  it('renames a token that calls have overdrawn, sent back as it was read, and leaves what is owed', async () => {
    const token = await make({ remain_quota: 100 })
    await app.sql('update tokens set remain_quota = -40 where id = $1', [token.id])
    const [read] = await list()
    expect(read).toMatchObject({ remain_quota: -40 })
    expect((await browser.put('/api/token/', { ...read, name: 'new' })).data).toEqual({ ...read, name: 'new' })
    expect((await browser.put('/api/token/', { ...read, remain_quota: 5 })).data).toMatchObject({ remain_quota: 5 })
  })

  it('changes a token whose group was lost since, as long as the group stays; another such group is refused', async () => {
    const token = await make({ group: 'vip' })
    await app.sql(`update tokens set "group" = 'lost' where id = $1`, [token.id])
    expect((await browser.put('/api/token/', { ...token, group: 'lost', name: 'new' })).data).toMatchObject({
      group: 'lost',
      name: 'new',
    })
    expect(await browser.put('/api/token/', { ...token, group: 'other' })).toMatchObject(refused('无权使用分组 other'))
  })

  it('takes a token without a name, as documented clients may send one', async () => {
    const token = await make({ name: '' })
    expect(token).toMatchObject({ name: '' })
    expect((await browser.put('/api/token/', { ...token, allow_ips: '10.0.0.1' })).data).toMatchObject({ name: '' })
  })

  it('refuses at an update what it refuses at the making', async () => {
    const token = await make()
    for (const change of [{ group: 'staff' }, { remain_quota: -1 }, { rate_limit_period: -1 }]) {
      expect((await browser.put('/api/token/', { ...token, ...change })).body['success']).toBe(false)
    }
    expect(await list()).toEqual([token])
  })
})

describe('DELETE /api/token/:id', () => {
  it('hides the token for good', async () => {
    const token = await make()
    expect((await browser.delete(`/api/token/${token.id}/`)).body).toEqual({ success: true, message: '' })
    expect(await list()).toEqual([])
    expect((await browser.get(`/api/token/${token.id}`)).body['success']).toBe(false)
    expect((await browser.delete(`/api/token/${token.id}`)).body['success']).toBe(false)
    expect(await app.sql('select deleted_at is null as live from tokens where id = $1', [token.id])).toEqual([
      { live: false },
    ])
  })
})
