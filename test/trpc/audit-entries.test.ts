import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, test, vi } from 'vitest'
import { migrate } from '#db/orm.ts'
import type { Api } from '#server/app-router.ts'
import { startConsole } from '#test/support/console-app.ts'

// Connections take it along, so it stands before the first.
const asked = vi.spyOn(pg.Client.prototype, 'query')
const app = await startConsole()
const root = await app.person({ role: 100 })
const { admin, user } = await app.trpc(root)
afterAll(() => app[Symbol.asyncDispose]().finally(() => asked.mockRestore()))

test('the database refuses to change, delete or clear audit entries', async () => {
  await app.sql(
    `insert into audit_entries (actor_name, action, target_type, target_id) values ('former', 'users.disable', 'user', '7')`,
  )
  for (const change of [
    `update audit_entries set actor_name = 'somebody else'`,
    'delete from audit_entries',
    'truncate audit_entries',
  ]) {
    await expect(app.sql(change), change).rejects.toThrow('audit entries are never altered')
  }
  expect(await app.sql("select 1 from audit_entries where actor_name = 'former'")).toHaveLength(1)
})

test('what was cut in the middle of a character is saved, and recorded without the half', async () => {
  await admin.options.update({ key: 'About', value: 'cut \ud83d' })
  const [entry] = (await admin.audit.list({ targetType: 'option' })).items
  expect((await admin.audit.get({ id: entry?.id ?? 0 })).after).toEqual({ About: 'cut \ufffd' })
})

test('an administrator reads nothing of what belongs to root, its sessions and tokens, but that of others', async () => {
  const other = await app.person({ role: 10 })
  const reader = await app.trpc(other)
  const rotate = async ({ tokens }: Api['user']) => tokens.rotate({ id: (await tokens.create({ name: 'mine' })).id })
  await rotate(user)
  await rotate(reader.user)
  await app.trpc(root)
  const [elsewhere] = (await user.sessions.list()).filter(({ isCurrent }) => !isCurrent)
  await user.sessions.revoke({ id: elsewhere?.id ?? '' })
  const actors = async ({ audit }: Api['admin'], targetType: string) =>
    (await audit.list({ targetType })).items.map(({ actorId }) => actorId)
  expect(await actors(admin, 'token')).toEqual([other.id, root.id])
  expect(await actors(reader.admin, 'token')).toEqual([other.id])
  expect(await actors(admin, 'session')).toEqual([root.id])
  expect(await actors(reader.admin, 'session')).toEqual([])
  const [ended] = (await admin.audit.list({ targetType: 'session' })).items
  await expect(reader.admin.audit.get({ id: ended?.id ?? 0 })).rejects.toMatchObject({ code: 'NOT_FOUND' })
})

describe('the search among many entries', () => {
  const named = async (keyword: string) =>
    (await admin.audit.list({ keyword })).items.map(({ targetName }) => targetName)

  beforeAll(async () => {
    await app.sql(`insert into audit_entries (actor_name, action, target_type, target_id, target_name)
      select 'root', 'users.update', 'user', n, 'crowd' || n from generate_series(100001, 130000) n`)
    await app.sql('vacuum analyze audit_entries')
  })

  it('finds a part of a name by an index', async () => {
    asked.mockClear()
    expect(await named('rowd129999')).toEqual(['crowd129999'])
    const queries = asked.mock.calls.map(([query]) => query as unknown as { text?: string; values?: unknown[] })
    const searches = queries.filter(({ text }) => text?.includes('ilike'))
    expect(searches.length).toBeGreaterThan(0)
    for (const { text, values } of searches) {
      expect(JSON.stringify(await app.sql(`explain ${text}`, values))).toContain('audit_entries_search_index')
    }
  })

  it('goes on without it where the database knows no trigrams, which keeps nothing from starting', async () => {
    await app.sql('drop extension pg_trgm cascade')
    await migrate(app.connection)
    expect(await app.sql(`select to_regclass('audit_entries_search_index') as index`)).toEqual([{ index: null }])
    expect(await named('rowd129999')).toEqual(['crowd129999'])
  })
})
