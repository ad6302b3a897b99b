import { type AddressInfo, connect as connectTo, createServer, type Socket } from 'node:net'
import { once } from 'node:events'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connect, type Database } from '#db/orm.ts'
import { readStates } from '../../src/jobs/run-rows.ts'
import { createDatabase, type TestDatabase } from '#test/support/database.ts'
import { until } from '#test/support/processes.ts'

const places = 2
let own: TestDatabase
let database: Database

beforeAll(async () => {
  own = await createDatabase()
  database = await connect({ ...own.connection, waitMs: 60_000 }, places)
})
afterAll(async () => {
  await database.close()
  await own[Symbol.asyncDispose]()
})

const endsOwnSession = 'select pg_terminate_backend(pg_backend_pid())'

test('a transaction whose connection is lost gives its place back, however often that happens', async () => {
  for (let round = 0; round < places * 3; round += 1) {
    const lost = database.orm.em.fork().transactional(async (em) => {
      await em.getConnection().execute(endsOwnSession, [], 'all', em.getTransactionContext())
    })
    await expect(lost).rejects.toThrow(/terminat/)
  }
  await Promise.all(
    Array.from({ length: places }, async () => {
      const answered = database.orm.em.fork().transactional(async (em) => {
        return em.getConnection().execute('select 1 as answer', [], 'all', em.getTransactionContext())
      })
      expect(await answered).toEqual([{ answer: 1 }])
    }),
  )
  expect(database.pool.totalCount).toBe(database.pool.idleCount)
})

test('so does a statement of its own, and a connection that was taken by hand', async () => {
  for (let round = 0; round < places * 2; round += 1) {
    await expect(database.pool.query(endsOwnSession)).rejects.toThrow(/terminat/)
    const taken = await database.pool.connect()
    await expect(taken.query(endsOwnSession)).rejects.toThrow(/terminat/)
    taken.release(true)
  }
  await expect.poll(() => database.pool.totalCount - database.pool.idleCount).toBe(0)
  expect((await database.pool.query('select 1 as answer')).rows).toEqual([{ answer: 1 }])
})

test('every session is set to notice in half a minute that this machine is gone', async () => {
  const { rows } = await database.pool.query<{ name: string; setting: string }>(
    "select name, setting from pg_settings where name in ('TimeZone', 'tcp_keepalives_idle') order by name",
  )
  // A unix socket has nothing to keep alive.
  const idle = own.connection.host.startsWith('/') ? '0' : '10'
  expect(rows).toEqual([
    { name: 'TimeZone', setting: 'UTC' },
    { name: 'tcp_keepalives_idle', setting: idle },
  ])
})

test('a look for due jobs ends when the database takes the question and never answers', async () => {
  const { host, port = 5432 } = own.connection
  const sockets: Socket[] = []
  let isMute = false
  await using server = createServer((ours) => {
    const theirs = connectTo(host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port })
    sockets.push(ours, theirs)
    for (const socket of [ours, theirs]) socket.on('error', () => {})
    ours.pipe(theirs)
    theirs.on('data', (bytes) => !isMute && ours.write(bytes))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port: ownPort } = server.address() as AddressInfo
  const through = await connect({ ...own.connection, host: '127.0.0.1', port: ownPort }, 1)
  const untilAnswered = () =>
    until(
      () =>
        readStates(through.pool).then(
          (states) => states instanceof Map,
          () => false,
        ),
      { what: 'a look for due jobs is not answered' },
    )
  await untilAnswered()
  isMute = true
  await expect(readStates(through.pool)).rejects.toThrow('Query read timeout')
  isMute = false
  await untilAnswered()
  await through.close()
  for (const socket of sockets) socket.destroy()
})
