import { afterAll, beforeAll, expect, test } from 'vitest'
import { connect, type Database } from '#db/orm.ts'
import { createDatabase, type TestDatabase } from '#test/support/database.ts'
import { createLog } from '#server/process.ts'

let own: TestDatabase
let database: Database
const lines: string[] = []
const log = createLog('error', { write: (line) => void lines.push(line) })

beforeAll(async () => {
  own = await createDatabase()
  database = await connect({ ...own.connection, waitMs: 60_000 }, 2)
  await database.pool.query(`
    create table vaults (key text unique, price int check (price > 0), facts jsonb);
    insert into vaults values ('sk-in-the-table', 1)`)
})
afterAll(async () => {
  await database.close()
  await own[Symbol.asyncDispose]()
})

const errorOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => Promise.reject(new Error('it was taken')),
    (error: unknown) => error,
  )

test.each([
  ['a key that is taken', `insert into vaults values ($1, 1)`, 'sk-in-the-table', '23505'],
  ['a row that breaks a rule', `insert into vaults values ($1, 0)`, 'sk-in-the-row', '23514'],
  [
    'JSON that cannot be read',
    `insert into vaults (facts) values ($1::jsonb)`,
    '{"prompt": "sk-in-the-json" "x"}',
    '22P02',
  ],
])(
  'of %s the log says what the database refused, and nothing of what is in the row',
  async (_name, statement, value, code) => {
    const refusals = [
      await errorOf(database.pool.query(statement, [value])),
      await errorOf(database.orm.em.fork().getConnection().execute(statement.replace('$1', '?'), [value])),
    ]
    for (const err of refusals) {
      expect(JSON.stringify({ ...Object(err) })).toContain('sk-in-the')
      lines.length = 0
      log.error({ err: new Error('a batch failed', { cause: err }) }, 'outer')
      log.error({ err }, 'inner')
      expect(lines.join()).toContain(code)
      expect(lines.join()).not.toContain('sk-in-the')
    }
  },
)
