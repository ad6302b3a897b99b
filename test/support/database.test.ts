import { Client, Pool } from 'pg'
import { expect, test } from 'vitest'
import { fromUrl } from '#db/connection.ts'
import { createDatabase, endPool } from './database.ts'
import { withStartLimit } from './start-limit.ts'

const ask = async (connection: ConstructorParameters<typeof Client>[0], query: string) => {
  const client = new Client(connection)
  client.on('error', () => {})
  await client.connect()
  const { rows } = await client.query<Record<string, unknown>>(query).finally(() => client.end())
  return rows.map((row) => Object.values(row)[0])
}

test('every test database has the whole schema, is alone with its rows, and is gone afterwards', async () => {
  const outer = await createDatabase()
  {
    await using inner = await createDatabase()
    await ask(inner.connection, 'create table only_here ()')
    expect(await ask(inner.connection, `select to_regclass('users') is not null`)).toEqual([true])
    expect(await ask(fromUrl(inner.url), `select to_regclass('only_here') is not null`)).toEqual([true])
    expect(await ask(outer.connection, `select to_regclass('only_here') is null`)).toEqual([true])
    const listed = `select count(*)::int from pg_database where datname = '${inner.connection.database}'`
    expect(await ask(outer.connection, listed)).toEqual([1])
    await inner[Symbol.asyncDispose]()
    expect(await ask(outer.connection, listed)).toEqual([0])
  }
  await outer[Symbol.asyncDispose]()
})

test('a pool has ended when its last connection is closed, so that dropping its database breaks none off', async () => {
  await using database = await createDatabase()
  const pool = new Pool({ ...database.connection, max: 3 })
  const open = new Set<Client>()
  pool.on('connect', (client) => {
    open.add(client as Client)
    client.on('end', () => open.delete(client as Client))
  })
  await Promise.all([1, 2, 3].map(() => pool.query('select pg_sleep(0.05)')))
  expect(open.size).toBe(3)
  await endPool(pool)
  expect(open.size).toBe(0)
  const unused = new Pool(database.connection)
  await endPool(unused)
})

test('a start that hangs is ended with its name and the file that called it; one that fails or succeeds is as it was', async () => {
  const hanging = withStartLimit(async function startNothing() {
    await new Promise(() => {})
  }, 0.01)
  await expect(hanging()).rejects.toThrow('startNothing has not come to its end within 0.01 s')
  await expect(hanging()).rejects.toHaveProperty('stack', expect.stringContaining('database.test.ts'))
  await expect(withStartLimit(() => Promise.reject(new Error('refused')))()).rejects.toThrow('refused')
  expect(await withStartLimit(async (given: number) => given + 1)(1)).toBe(2)
})
