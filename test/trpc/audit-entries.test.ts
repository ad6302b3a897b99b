import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, test, vi } from 'vitest'
import { migrate } from '#db/orm.ts'
import { startConsole } from '#test/support/console-app.ts'

// Connections take it along, so it stands before the first.
const asked = vi.spyOn(pg.Client.prototype, 'query')
const app = await startConsole()
const { admin } = await app.trpc(await app.person({ role: 100 }))
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
