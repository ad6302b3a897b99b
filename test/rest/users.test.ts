import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { rollUpUsage } from '#features/logs/rollup.ts'
import { migrate } from '#db/orm.ts'
import { type Browser, type Person, startConsole, refused } from '#test/support/console-app.ts'

// What the product asks the database for, over connections that are opened from here on.
const asked = vi.spyOn(pg.Client.prototype, 'query')

const app = await startConsole()
const rootPerson = await app.person({ role: 100 })
const adminPerson = await app.person({ role: 10 })
const root = await app.signedIn(rootPerson)
const admin = await app.signedIn(adminPerson)
afterAll(() => app[Symbol.asyncDispose]().finally(() => asked.mockRestore()))
afterEach(() => app.sql('delete from options').then(() => app.services.options.reload()))

const row = async (id: number) => (await app.sql('select * from users where id = $1', [id]))[0]

describe('the list of users', () => {
  it('is newest first, one-based, with deleted users, and echoes the page', async () => {
    const deleted = await app.person({ deletedAt: new Date('2025-05-05T00:00:00Z') })
    const { data } = await admin.get('/api/user/', { query: { p: '0', page_size: '2' } })
    const page = data as {
      items: { id: number; DeletedAt: string | null }[]
      total: number
      page: number
      page_size: number
    }
    const [counted] = await app.sql('select count(*)::int as total from users')
    expect(page).toMatchObject({ total: counted?.['total'], page: 1, page_size: 2 })
    expect(page.items).toHaveLength(2)
    expect(page.items[0]).toMatchObject({
      id: deleted.id,
      DeletedAt: '2025-05-05T00:00:00.000Z',
      password: '',
      access_token: null,
    })
    expect(page.items[0]?.id).toBeGreaterThan(page.items[1]?.id ?? 0)
    expect((await admin.get('/api/user/', { query: { p: 'NaN', page_size: '1000000000' } })).data).toMatchObject({
      page: 1,
      page_size: 100,
    })
    expect((await admin.get('/api/user/')).data).toMatchObject({ page: 1, page_size: 10 })
    expect((await admin.get('/api/user/', { query: { p: '999999999999' } })).data).toMatchObject({ items: [] })
  })

  it('is searched by part of name, address or display name, by id, and by group', async () => {
    const person = await app.person({
      username: 'needle_1',
      displayName: '显示名',
      email: 'findme@x.example',
      group: 'vip',
    })
    await app.person({ username: 'needleX1', group: 'svip' })
    const search = async (query: Record<string, string>) =>
      ((await admin.get('/api/user/search', { query })).data as { items: { id: number }[] }).items.map(({ id }) => id)
    for (const keyword of ['eedle_1', '示', 'FINDME', String(person.id)]) {
      expect(await search({ keyword })).toContain(person.id)
    }
    // A wildcard of the database is a plain character here.
    expect(await search({ keyword: 'needle_1' })).toEqual([person.id])
    expect(await search({ keyword: 'needle', group: 'vip' })).toEqual([person.id])
    expect(await search({ keyword: '%' })).toEqual([])
    expect((await search({ keyword: '', group: '' })).length).toBeGreaterThan(2)
    expect(await admin.get('/api/user/search', { query: { keyword: 'a\0b' } })).toMatchObject({
      status: 200,
      body: { success: false },
    })
  })
})

describe('GET /api/user/:id', () => {
  it('reads lower ranks only, root everybody, and nobody deleted', async () => {
    const person = await app.person()
    const deleted = await app.person({ deletedAt: new Date() })
    expect((await admin.get(`/api/user/${person.id}`)).data).toMatchObject({ id: person.id, DeletedAt: null })
    for (const target of [adminPerson, rootPerson]) {
      expect(await admin.get(`/api/user/${target.id}`)).toMatchObject(refused('无权操作同权限等级或更高权限等级的用户'))
      expect((await root.get(`/api/user/${target.id}`)).data).toMatchObject({ id: target.id })
    }
    expect(await root.get(`/api/user/${deleted.id}`)).toMatchObject(refused('用户不存在'))
    for (const id of ['0', 'abc', '-1', '99999999', '1e30', '2147483648']) {
      expect(await root.get(`/api/user/${id}`)).toMatchObject({ status: 200, body: { success: false } })
    }
  })
})

describe('POST /api/user/', () => {
  it('makes an ordinary user with the gift of a new one', async () => {
    await app.setOptions({ QuotaForNewUser: '77' })
    const reply = await admin.post('/api/user/', {
      username: ' made ',
      password: 'long enough',
      quota: 5e9,
      group: 'svip',
    })
    expect(reply.body).toEqual({ success: true, message: '' })
    const [user] = await app.sql("select * from users where username = 'made'")
    expect(user).toMatchObject({ display_name: 'made', role: 1, status: 1, group: 'default', quota: '77' })
  })

  it.each([
    [{ username: '' }, '用户名和密码不能为空！'],
    [{ password: '' }, '用户名和密码不能为空！'],
    [{ password: 'short' }, '密码长度应为 8 到 20 个字符'],
    [{ role: 10 }, '无法创建权限大于等于自己的用户'],
    [{ role: 100 }, '无法创建权限大于等于自己的用户'],
  ])('refuses %j', async (change, message) => {
    const reply = await admin.post('/api/user/', { username: 'nobody', password: 'long enough', ...change })
    expect(reply).toMatchObject(refused(message))
  })

  it('refuses a name in use', async () => {
    const reply = await admin.post('/api/user/', { username: adminPerson.username, password: 'long enough' })
    expect(reply).toMatchObject(refused('用户名已存在，或已注销'))
  })
})

describe('PUT /api/user/', () => {
  it('takes the whole loaded user back, books quota as a difference and logs both amounts', async () => {
    const person = await app.person({ quota: 1_000_000, usedQuota: 3, email: 'stay@x.example' })
    const loaded = (await admin.get(`/api/user/${person.id}`)).data as Record<string, unknown>
    const reply = await admin.put('/api/user/', {
      ...loaded,
      display_name: 'Changed',
      group: 'vip',
      quota: 1_500_000,
      email: 'other@x.example',
      status: 2,
      used_quota: 0,
      github_id: '1',
      password: '',
    })
    expect(reply.body).toEqual({ success: true, message: '' })
    expect(await row(person.id)).toMatchObject({
      display_name: 'Changed',
      group: 'vip',
      quota: '1500000',
      email: 'stay@x.example',
      status: 1,
      used_quota: '3',
      github_id: null,
    })
    expect(await app.sql('select kind, amount from grants where user_id = $1', [person.id])).toEqual([
      { kind: 'admin_edit', amount: '500000' },
    ])
    expect(await app.sql('select type, username, content from logs where user_id = $1', [person.id])).toEqual([
      { type: 3, username: person.username, content: '管理员将用户额度从 $2.000000 修改为 $3.000000' },
    ])
  })

  it('leaves balance and group alone when they are absent', async () => {
    const person = await app.person({ quota: 5, group: 'vip' })
    await admin.put('/api/user/', { id: person.id, username: person.username, display_name: 'only' })
    expect(await row(person.id)).toMatchObject({ quota: '5', group: 'vip', display_name: 'only' })
    expect(await app.sql('select * from grants where user_id = $1', [person.id])).toEqual([])
  })

  it('loses nothing when two administrators and ten deductions meet', async () => {
    const person = await app.person({ quota: 1000 })
    const before = 1000
    await Promise.all([
      ...Array.from({ length: 10 }, () => app.sql('update users set quota = quota - 1 where id = $1', [person.id])),
      ...[2000, 3000].map((quota) => root.put('/api/user/', { id: person.id, quota })),
    ])
    const [{ booked } = {}] = await app.sql('select sum(amount)::int as booked from grants where user_id = $1', [
      person.id,
    ])
    expect(Number((await row(person.id))?.['quota'])).toBe(before - 10 + Number(booked))
  })

  it('sends a name back that a provider’s number made longer than people may choose', async () => {
    const person = await app.person({ username: 'linuxdo_1000000' })
    const loaded = { ...((await root.get(`/api/user/${person.id}`)).data as object), display_name: 'Neo' }
    expect((await root.put('/api/user/', loaded)).body['success']).toBe(true)
    expect(await row(person.id)).toMatchObject({ username: 'linuxdo_1000000', display_name: 'Neo' })
    const browser = await app.signedIn(person)
    const own = { username: 'linuxdo_1000000', display_name: 'Neo 2' }
    expect((await browser.put('/api/user/self', own)).body['success']).toBe(true)
    expect(await browser.put('/api/user/self', { username: 'linuxdo_1000001' })).toMatchObject(
      refused('用户名不能超过 12 个字符'),
    )
    expect(await row(person.id)).toMatchObject({ username: 'linuxdo_1000000', display_name: 'Neo 2' })
  })

  it('sends a display name back that a provider’s letters made longer than its characters', async () => {
    const person = await app.person({ displayName: '𝓙𝓸𝓱𝓷 𝓢𝓶𝓲𝓽𝓱𝓼𝓸𝓷 𝓙𝓻' })
    const loaded = { ...((await root.get(`/api/user/${person.id}`)).data as object), group: 'vip' }
    expect((await root.put('/api/user/', loaded)).body['success']).toBe(true)
    expect(await row(person.id)).toMatchObject({ display_name: '𝓙𝓸𝓱𝓷 𝓢𝓶𝓲𝓽𝓱𝓼𝓸𝓷 𝓙𝓻', group: 'vip' })
    const longer = await root.put('/api/user/', { id: person.id, display_name: '𝓙'.repeat(21) })
    expect(longer.body['success']).toBe(false)
  })

  it('signs the user out everywhere when it sets a password', async () => {
    const person = await app.person()
    const browser = await app.signedIn(person)
    await admin.put('/api/user/', { id: person.id, password: 'a fresh one' })
    expect((await browser.get('/api/user/self')).status).toBe(401)
    expect((await app.browser().login({ ...person, password: 'a fresh one' })).body['success']).toBe(true)
  })

  it('keeps the ranks', async () => {
    const person = await app.person()
    const peer = await app.person({ role: 10 })
    expect(await admin.put('/api/user/', { id: peer.id, display_name: 'x' })).toMatchObject({
      body: { success: false },
    })
    expect(await admin.put('/api/user/', { id: rootPerson.id, quota: 1 })).toMatchObject({ body: { success: false } })
    expect(await admin.put('/api/user/', { id: person.id, role: 10 })).toMatchObject({ body: { success: false } })
    expect((await root.put('/api/user/', { id: peer.id, display_name: 'by root', role: 100 })).body['success']).toBe(
      true,
    )
    expect(await row(peer.id)).toMatchObject({ role: 10, display_name: 'by root' })
  })

  it.each([
    [{ id: 0 }, '编号无效'],
    [{ username: 'thirteen chars' }, '用户名不能超过 12 个字符'],
    [{ username: ' ' }, '用户名和密码不能为空！'],
    [{ display_name: 'x'.repeat(21) }, '显示名称不能超过 20 个字符'],
    [{ password: 'short' }, '密码长度应为 8 到 20 个字符'],
    [{ group: 'nowhere' }, '分组 nowhere 不存在'],
  ])('refuses %j and changes nothing', async (change, message) => {
    const person = await app.person()
    const before = await row(person.id)
    expect(await admin.put('/api/user/', { id: person.id, quota: 9, ...change })).toMatchObject(refused(message))
    expect(await row(person.id)).toEqual(before)
  })

  it('refuses fractions and absurd amounts', async () => {
    const person = await app.person()
    for (const quota of [1.5, 1e300, 9e18]) {
      expect((await admin.put('/api/user/', { id: person.id, quota })).body['success']).toBe(false)
    }
    expect(await row(person.id)).toMatchObject({ quota: '0' })
  })
})

describe('POST /api/user/manage', () => {
  const manage = (browser: Browser, id: number, action: string) => browser.post('/api/user/manage', { id, action })
  let target: Person
  beforeEach(async () => {
    target = await app.person()
  })

  it('switches off and on, ending sessions at once, and records it in the log', async () => {
    const browser = await app.signedIn(target)
    expect((await manage(admin, target.id, 'disable')).data).toMatchObject({ id: target.id, status: 2, role: 1 })
    expect((await browser.get('/api/user/self')).status).toBe(401)
    expect((await manage(admin, target.id, 'enable')).data).toMatchObject({ status: 1, role: 1 })
    expect(await app.sql('select type from logs where user_id = $1', [target.id])).toEqual([{ type: 3 }, { type: 3 }])
  })

  it('promotes and demotes for root alone', async () => {
    expect(await manage(admin, target.id, 'promote')).toMatchObject(refused('普通管理员无法提升其他用户为管理员'))
    expect((await manage(root, target.id, 'promote')).data).toMatchObject({ status: 1, role: 10 })
    expect(await manage(root, target.id, 'promote')).toMatchObject(refused('该用户已经是管理员'))
    expect((await manage(root, target.id, 'demote')).data).toMatchObject({ role: 1 })
    expect(await manage(root, target.id, 'demote')).toMatchObject(refused('该用户已经是普通用户'))
  })

  it('protects root from root', async () => {
    for (const action of ['disable', 'delete', 'demote']) {
      expect(await manage(root, rootPerson.id, action)).toMatchObject(refused('不能对超级管理员进行此操作'))
    }
  })

  it('keeps the ranks, whatever the act', async () => {
    for (const action of ['disable', 'enable', 'delete', 'promote', 'demote']) {
      expect(await manage(admin, adminPerson.id, action)).toMatchObject(
        refused('无权操作同权限等级或更高权限等级的用户'),
      )
    }
  })

  it('of an administrator who is demoted in the same moment changes nothing after that', async () => {
    const helper = await app.person({ role: 10 })
    const browser = await app.signedIn(helper)
    const people = await Promise.all(Array.from({ length: 40 }, () => app.person()))
    const replies = await Promise.all([
      ...people.slice(0, 20).map(({ id }) => browser.post('/api/user/manage', { id, action: 'disable' })),
      root.post('/api/user/manage', { id: helper.id, action: 'demote' }),
      ...people.slice(20).map(({ id }) => browser.post('/api/user/manage', { id, action: 'disable' })),
    ])
    expect(replies[20]?.body['success']).toBe(true)
    const [{ id: demoted } = {}] = await app.sql(
      `select id from audit_entries where action = 'users.demote' and target_id = $1`,
      [String(helper.id)],
    )
    const acts = await app.sql('select id from audit_entries where actor_id = $1', [helper.id])
    expect(acts.filter(({ id }) => Number(id) > Number(demoted))).toEqual([])
    const switchedOff = await app.sql('select 1 from users where status = 2 and id = any($1)', [
      people.map(({ id }) => id),
    ])
    expect(switchedOff).toHaveLength(acts.length)
    expect(replies.filter(({ body }) => body['success'])).toHaveLength(acts.length + 1)
  })

  it('of two who act on each other fifty times at once waits in no circle', async () => {
    const [first, second] = await Promise.all([app.person({ role: 100 }), app.person({ role: 100 })])
    const [one, other] = [await app.signedIn(first), await app.signedIn(second)]
    const replies = await Promise.all(
      Array.from({ length: 25 }, (_, at) => [
        one.put('/api/user/', { id: second.id, display_name: `n${at}` }),
        other.put('/api/user/', { id: first.id, display_name: `n${at}` }),
      ]).flat(),
    )
    expect(replies.filter((reply) => reply.body['success'])).toHaveLength(50)
  })

  it('deletes softly, still reaches the deleted, and refuses the unknown', async () => {
    await manage(admin, target.id, 'delete')
    expect((await row(target.id))?.['deleted_at']).not.toBeNull()
    expect((await manage(admin, target.id, 'disable')).data).toMatchObject({ status: 2 })
    expect(await manage(admin, 99_999_999, 'disable')).toMatchObject(refused('用户不存在'))
    expect(await manage(admin, target.id, 'crown')).toMatchObject(refused('未知的操作'))
  })
})

describe('DELETE /api/user/:id', () => {
  it('removes the row with its tokens, and needs a strictly higher rank even for root', async () => {
    const target = await app.person()
    const browser = await app.signedIn(target)
    await browser.post('/api/token/', { name: 'mine' })
    expect((await admin.delete(`/api/user/${target.id}`)).body).toEqual({ success: true, message: '' })
    expect(await row(target.id)).toBeUndefined()
    expect(await app.sql('select * from tokens where user_id = $1', [target.id])).toEqual([])
    expect((await browser.get('/api/user/self')).status).toBe(401)
    const second = await app.person({ role: 100 })
    for (const [browser, id] of [
      [root, second.id],
      [admin, adminPerson.id],
    ] as const) {
      expect((await browser.delete(`/api/user/${id}`)).body['success']).toBe(false)
    }
  })
})

describe('the search among many users', () => {
  beforeAll(async () => {
    await app.sql(`insert into users (username, display_name, email)
      select 'crowd' || n, 'Person ' || md5(n::text), md5((n + 1)::text) || '@x.example' from generate_series(1, 30000) n`)
    await app.sql(`insert into users (username, display_name) values ('zq', 'Somebody else'), ('named', '欧阳 É晓')`)
    await app.sql(`update users set display_name = '王' || (id % 7) where username like 'crowd1%'`)
    await app.sql('analyze users')
  })

  it.each([
    ['a part', 'rowd29999', 'crowd29999'],
    ['one or two letters at the beginning', 'zq', 'zq'],
    ['one or two letters outside ASCII, anywhere and in either case,', 'é晓', 'named'],
  ])('finds %s of a name, an address or a display name by an index', async (_what, keyword, username) => {
    asked.mockClear()
    const found = await admin.get('/api/user/search', { query: { keyword } })
    const statements = asked.mock.calls.map(([given]) => (given as { text?: string }).text ?? String(given))
    expect((found.data as { items: { username: string }[] }).items).toMatchObject([{ username }])
    const searches = statements.filter((text) => /ilike|name_letters/.test(text))
    expect(searches.length).toBeGreaterThan(0)
    for (const search of searches) {
      const plan = JSON.stringify(await app.sql(`explain ${search}`))
      expect(plan).toMatch(/users_search_index|users_letters_index/)
      expect(plan).not.toContain('Seq Scan')
    }
  })

  it('gets its index of letters while users are written, and again where one was left half built', async () => {
    const [state] = await app.sql(`select indisvalid from pg_index where indexrelid = 'users_letters_index'::regclass`)
    expect(state).toEqual({ indisvalid: true })
    await app.sql(`update pg_index set indisvalid = false where indexrelid = 'users_letters_index'::regclass`)
    const writing = new pg.Client(app.connection)
    await writing.connect()
    await writing.query('begin')
    await writing.query(`update users set "group" = 'default' where username = 'named'`)
    const migrated = migrate(app.connection)
    const waiting = () =>
      app.sql(`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
        and query like '%index concurrently%'`)
    await expect.poll(async () => (await waiting()).length).toBe(1)
    // Whoever waits for the older write keeps nobody from the next one, nor from what is locked elsewhere.
    await app.sql(`update users set "group" = 'default' where username = 'crowd29999'`)
    const saved = await root.put('/api/option/', { key: 'SystemName', value: 'Saved meanwhile' })
    expect(saved.body).toMatchObject({ success: true })
    await rollUpUsage(app.services)
    await expect.poll(async () => (await waiting()).length).toBe(1)
    await writing.query('commit')
    await writing.end()
    await migrated
    expect(await app.sql(`select indisvalid from pg_index where indexrelid = 'users_letters_index'::regclass`)).toEqual(
      [{ indisvalid: true }],
    )
  })
})
