import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startFileConsole, refused } from '#test/support/console-app.ts'
import { recordStatements } from '#test/support/statements.ts'

const statements = recordStatements()
afterAll(() => statements.stop())
const app = await startFileConsole()
const sender = await app.person({ role: 10, username: 'sender' })
const admin = await app.signedIn(sender)
const person = await app.person({ username: 'reader', displayName: 'Reader' })
const reader = await app.signedIn(person)

type Sent = { id: number; stats: { total_recipients: number; read_count: number } }
type Inbox = { items: { id: number; is_read: boolean; read_at: string | null }[]; total: number }

const hello = { title: ' Hello ', content: '**all**', format: 'markdown' }
const send = async (fields: object = {}) =>
  (await admin.post('/api/admin/messages', { ...hello, user_ids: [person.id], ...fields })).data as Sent
const unread = async () =>
  ((await reader.get('/api/user/messages/unread_count')).data as { unread_count: number }).unread_count
const inbox = async (query: Record<string, string> = {}) =>
  (await reader.get('/api/user/messages', { query })).data as Inbox

describe('a message', () => {
  it('goes out once for a request that is sent ten times at once under one Idempotency-Key', async () => {
    const before = await unread()
    const sendOnce = (title: string) =>
      admin.post(
        '/api/admin/messages',
        { ...hello, title, user_ids: [person.id] },
        { headers: { 'idempotency-key': 'message-1' } },
      )
    const answers = await Promise.all(Array.from({ length: 10 }, () => sendOnce('Once')))
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1)
    expect(answers[0]?.data).toMatchObject({ title: 'Once', stats: { total_recipients: 1, read_count: 0 } })
    expect(await unread()).toBe(before + 1)
    expect(await sendOnce('Twice')).toMatchObject(refused('同一 Idempotency-Key 已用于内容不同的请求'))
  })

  it('reaches the inbox of whom it is addressed to, is read once, and its sender sees that', async () => {
    const before = await unread()
    const sent = (
      await admin.post('/api/admin/messages', { ...hello, user_ids: [person.id, person.id, 99_999_999, -1] })
    ).data as Sent
    expect(sent).toEqual({
      id: expect.any(Number),
      title: 'Hello',
      content: '**all**',
      format: 'markdown',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      updated_at: expect.stringMatching(/Z$/),
      stats: { total_recipients: 1, read_count: 0 },
    })
    expect(await unread()).toBe(before + 1)
    const [first] = (await inbox()).items
    expect(first).toEqual({
      id: sent.id,
      title: 'Hello',
      content: '**all**',
      format: 'markdown',
      created_at: expect.any(String),
      read_at: null,
      is_read: false,
    })
    expect(await reader.put(`/api/user/messages/${sent.id}/read`)).toMatchObject({ body: { success: true } })
    const readAt = (await inbox()).items[0]?.read_at
    await reader.put(`/api/user/messages/${sent.id}/read`)
    expect((await inbox()).items[0]).toMatchObject({ is_read: true, read_at: readAt })
    expect(await unread()).toBe(before)
    expect((await admin.get(`/api/admin/messages/${sent.id}`)).data).toMatchObject({
      stats: { total_recipients: 1, read_count: 1 },
    })
    expect((await admin.get(`/api/admin/messages/${sent.id}/recipients`)).data).toEqual([
      { user_id: person.id, username: 'reader', display_name: 'Reader', read_at: readAt },
    ])
    const { messages } = (await app.trpc(sender)).admin
    const found = { total: 1, items: [{ userId: person.id, username: 'reader', displayName: 'Reader' }] }
    const nobody = { total: 0, items: [] }
    expect(await messages.recipients({ id: sent.id, keyword: 'READ', read: 'read' })).toMatchObject(found)
    expect(await messages.recipients({ id: sent.id, read: 'unread' })).toMatchObject(nobody)
    expect(await messages.recipients({ id: sent.id, keyword: '%' })).toMatchObject(nobody)
  })

  it('are all read at once by their reader, once, and by nobody else', async () => {
    const other = await app.person()
    const sent = [await send({ user_ids: [person.id, other.id] }), await send({ title: 'Second' })]
    const api = await app.trpc(person)
    const before = await unread()
    expect(before).toBeGreaterThanOrEqual(2)
    expect(await api.user.messages.markAllRead()).toEqual({ count: before })
    expect(await unread()).toBe(0)
    const { items } = await inbox({ page_size: '100' })
    expect(items.every(({ is_read, read_at }) => is_read && read_at !== null)).toBe(true)
    expect(await api.user.messages.markAllRead()).toEqual({ count: 0 })
    expect((await inbox({ page_size: '100' })).items).toEqual(items)
    expect(await (await app.trpc(other)).user.messages.unreadCount()).toBe(1)
    expect((await admin.get(`/api/admin/messages/${sent[0]?.id}`)).data).toMatchObject({
      stats: { total_recipients: 2, read_count: 1 },
    })
  })

  it("is nobody else's to read or to mark, and administration is for administrators", async () => {
    const { id } = await send()
    const other = await app.signedIn(await app.person())
    expect(await other.put(`/api/user/messages/${id}/read`)).toMatchObject(refused('消息不存在'))
    expect(((await other.get('/api/user/messages')).data as Inbox).items).toEqual([])
    const api = await app.trpc(await app.person())
    await expect(api.user.messages.get({ id })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    for (const reply of [
      await reader.get('/api/admin/messages'),
      await reader.post('/api/admin/messages', { ...hello, user_ids: [person.id] }),
      await reader.delete(`/api/admin/messages/${id}`),
    ]) {
      expect(reply).toMatchObject(refused('权限不足，无权进行此操作'))
    }
  })

  it('keeps its read marks when it is edited and leaves every inbox when it is deleted', async () => {
    const { id } = await send()
    await reader.put(`/api/user/messages/${id}/read`)
    const edited = { title: 'Later', content: '<p>x</p>', format: 'html' }
    expect((await admin.put(`/api/admin/messages/${id}`, edited)).body).toEqual({ success: true, message: '' })
    expect((await admin.get(`/api/admin/messages/${id}`)).data).toMatchObject({ ...edited, stats: { read_count: 1 } })
    expect((await admin.delete(`/api/admin/messages/${id}`)).body).toEqual({ success: true, message: '' })
    expect((await inbox({ page_size: '100' })).items.map((item) => item.id)).not.toContain(id)
    expect(await app.sql('select 1 from message_recipients where message_id = $1', [id])).toEqual([])
    for (const reply of [
      await admin.delete(`/api/admin/messages/${id}`),
      await admin.get(`/api/admin/messages/${id}`),
      await admin.get(`/api/admin/messages/${id}/recipients`),
      await admin.put(`/api/admin/messages/${id}`, edited),
      await reader.put(`/api/user/messages/${id}/read`),
    ]) {
      expect(reply).toMatchObject(refused('消息不存在'))
    }
  })

  it.each([
    [{ title: '  ' }, '请输入消息标题'],
    [{ content: ' \n ' }, '请输入消息内容'],
    [{ format: 'pdf' }, '消息格式无效'],
    [{ user_ids: [] }, '请至少选择一位收件人'],
    [{ user_ids: [99_999_999] }, '请至少选择一位收件人'],
  ])('is refused with %j, and nothing of it stays', async (fields, message) => {
    const [before] = await app.sql('select count(*)::int as count from messages')
    const reply = await admin.post('/api/admin/messages', { ...hello, user_ids: [person.id], ...fields })
    expect(reply).toMatchObject(refused(message))
    expect((await app.sql('select count(*)::int as count from messages'))[0]).toEqual(before)
  })

  it('goes to no deleted account', async () => {
    const gone = await app.person({ deletedAt: new Date() })
    const { stats } = await send({ user_ids: [person.id, gone.id] })
    expect(stats.total_recipients).toBe(1)
  })
})

describe('the lists of messages', () => {
  it('are newest first, one-based, and echo the page', async () => {
    const ids = [(await send()).id, (await send()).id]
    const page = (await admin.get('/api/admin/messages', { query: { p: '0', page_size: '2' } })).data as {
      items: Sent[]
    }
    expect(page).toMatchObject({ page: 1, page_size: 2 })
    expect(page.items.map(({ id }) => id)).toEqual(ids.toReversed())
    expect(await inbox({ p: '0', page_size: '1' })).toMatchObject({ items: [{ id: ids[1] }], page: 1, page_size: 1 })
  })

  it('are searched by words in title or content and by whole days', async () => {
    const inTitle = await send({ title: 'needle_1' })
    const inContent = await send({ content: 'a NEEDLE_1 here' })
    await send({ title: 'needleX1' })
    await app.sql("update messages set created_at = '2024-05-05T23:30:00Z' where id = $1", [inTitle.id])
    const found = async (query: Record<string, string>) =>
      ((await admin.get('/api/admin/messages/search', { query })).data as { items: Sent[] }).items.map(({ id }) => id)
    expect(await found({ keyword: 'needle_1' })).toEqual([inContent.id, inTitle.id])
    const day = { start_date: '2024-05-05', end_date: '2024-05-05' }
    expect(await found({ ...day })).toEqual([inTitle.id])
    expect(await found({ keyword: 'needle_1', start_date: '2024-05-06', end_date: '2024-05-07' })).toEqual([])
    const exact = { start_date: '2024-05-05T23:00:00.000Z', end_date: '2024-05-05T23:59:59.000Z' }
    expect(await found(exact)).toEqual([inTitle.id])
    const reply = await admin.get('/api/admin/messages/search', { query: { start_date: '2024-05-05' } })
    expect(reply).toMatchObject(refused('请同时选择开始日期和结束日期'))
    expect(await admin.get('/api/admin/messages/search', { query: { ...day, end_date: 'soon' } })).toMatchObject({
      status: 200,
      body: { success: false },
    })
  })
})

describe('ten thousand recipients', () => {
  beforeAll(() =>
    app.sql(`insert into users (username, display_name, "group")
             select 'many' || n, 'Many', 'crowd' from generate_series(1, 10000) n`),
  )

  it('get one message by a handful of statements', async () => {
    const rows = await app.sql('select id from users where "group" = $1', ['crowd'])
    const ids = rows.map((row) => row['id'])
    const { result: sent, shapes } = await statements.during(() => send({ user_ids: ids }))
    expect(shapes.filter((shape) => /\bmessage_recipients\b/.test(shape))).not.toEqual([])
    expect(shapes.length).toBeLessThan(20)
    expect(sent.stats).toEqual({ total_recipients: 10_000, read_count: 0 })
    const allRows = (await admin.get(`/api/admin/messages/${sent.id}/recipients`)).data as unknown[]
    expect(allRows).toHaveLength(10_000)
  })

  it('may be named by a search or a group, as the picker shows them', async () => {
    const api = await app.trpc(await app.person({ role: 10 }))
    const text = { title: 'To the crowd', content: 'x', format: 'plain' as const }
    const all = await api.admin.messages.create({ ...text, recipients: { matching: { keyword: '', group: 'crowd' } } })
    expect(all.totalRecipients).toBe(10_000)
    const some = await api.admin.messages.create({
      ...text,
      recipients: { matching: { keyword: 'many999', group: '' } },
    })
    expect(some.totalRecipients).toBe(11)
    const none = api.admin.messages.create({ ...text, recipients: { matching: { keyword: 'm%y', group: '' } } })
    await expect(none).rejects.toMatchObject({ message: '请至少选择一位收件人' })
  })

  it('are whom the user list finds, however short the keyword is', async () => {
    const api = await app.trpc(await app.person({ role: 10 }))
    await app.sql(`insert into users (username, display_name, email) values
      ('vivian', '薇薇安', ''), ('david', '大卫', 'd@vivi.example'), ('olivia', '王薇', 'o@x.example'), ('gone7', '薇', '')`)
    await app.sql("update users set deleted_at = now() where username = 'gone7'")
    const text = { title: 'To some', content: 'x', format: 'plain' as const }
    const found: Record<string, number> = {}
    for (const keyword of ['vi', 'v', '7', '77', '薇', '薇薇', 'many999', 'd@vi']) {
      const search = { keyword, group: '' }
      const { total } = await api.admin.users.list({ ...search, status: 'living' })
      const sent = api.admin.messages.create({ ...text, recipients: { matching: search } })
      // A message to nobody is refused.
      expect([
        keyword,
        await sent.then(
          ({ totalRecipients }) => totalRecipients,
          () => 0,
        ),
      ]).toEqual([keyword, total])
      found[keyword] = total
    }
    expect(found).toMatchObject({ vi: 1, 薇: 2, many999: 11, 'd@vi': 1 })
  })

  it('does not make asking for the unread count more expensive: it is one look into an index', async () => {
    await app.sql('analyze message_recipients')
    const plan = await app.sql(
      `explain select count(*) from message_recipients where user_id = ${person.id} and read_at is null`,
    )
    expect(JSON.stringify(plan)).toContain('message_recipients_user_id')
  })
})
