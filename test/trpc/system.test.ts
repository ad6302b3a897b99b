import pg from 'pg'
import { expect, test, vi } from 'vitest'
import { takeNodeIdentity } from '#features/ledger/node.ts'
import { keepPresence } from '#features/system/presence.ts'
import { ownProcess } from '#features/system/process-identity.ts'
import { listenForChanges } from '#db/changes.ts'
import { until } from '#test/support/processes.ts'
import { startFileConsole } from '#test/support/console-app.ts'

const app = await startFileConsole()
const root = await app.person({ role: 100 })

const state = async () => (await app.trpc(root)).admin.system.state()

const idle = {
  callsUnderWay: 3,
  ledgerQueue: 0,
  bodyBytes: 0,
  cooldowns: 1,
  connections: { open: 2, idle: 1, waiting: 0 },
}

test('a process is listed as living while it holds its lock, as gone when it died, and not at all when it stopped', async () => {
  const changes = await listenForChanges(app.connection, () => {})
  const { id } = await takeNodeIdentity(changes)
  const node = { id: id(), role: 'relay', version: '1.2.3', startedAt: new Date() }
  // What stands under its number is of an earlier process: the database was restored from a backup.
  await app.sql(
    "insert into nodes (id, host, pid, role, version, started_at, process) values ($1, '', 1, '', '', now(), 'x')",
    [id()],
  )
  const presence = await keepPresence({ pool: app.services.database.pool, node, folder: '.', read: () => idle })
  const own = async () => (await state()).nodes.find((one) => one.id === node.id)
  await until(async () => (await own()) !== undefined, { what: 'the process is not listed' })
  expect(await own()).toMatchObject({
    alive: true,
    role: 'relay',
    version: '1.2.3',
    pid: process.pid,
    figures: { ...idle, memoryBytes: expect.any(Number), disk: { totalBytes: expect.any(Number) } },
  })
  const { rows } = await app.services.database.pool.query('select process from nodes where id = $1', [id()])
  expect(rows).toEqual([{ process: ownProcess() }])
  await changes.close()
  await until(async () => (await own())?.alive === false, { what: 'the process still counts as living' })
  await presence.stop()
  expect(await own()).toBeUndefined()
})

test('statements on the session that listens are sent one after another, also by those who ask at once', async () => {
  const question = 'select $1::int as number'
  // oxlint-disable-next-line typescript/unbound-method -- It is applied to each client.
  const send = pg.Client.prototype.query as (...asked: unknown[]) => Promise<pg.QueryResult>
  let underWay = 0
  let most = 0
  const query = vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (
    this: pg.Client,
    ...asked: unknown[]
  ) {
    const answer = send.apply(this, asked)
    if ((Object(asked[0]).text ?? asked[0]) !== question) return answer
    most = Math.max(most, ++underWay)
    return answer.finally(() => (underWay -= 1))
  } as typeof pg.Client.prototype.query)
  const changes = await listenForChanges(app.connection, () => {})
  try {
    const numbers = [1, 2, 3, 4, 5]
    const answers = await Promise.all(numbers.map((number) => changes.query(question, [number])))
    expect(answers.map(({ rows }) => rows)).toEqual(numbers.map((number) => [{ number }]))
    expect(most).toBe(1)
    // One that fails keeps none of the others from its answer.
    const [failed, after] = await Promise.allSettled([changes.query('select nothing'), changes.query(question, [6])])
    expect([failed.status, after.status]).toEqual(['rejected', 'fulfilled'])
  } finally {
    query.mockRestore()
    await changes.close()
  }
})

test('what is on hold is distinguished from what waits to be booked by hand', async () => {
  const { id } = await app.person({ quota: 5000 })
  const hold = (name: string, node: number) =>
    app.sql('insert into holds (id, user_id, token_id, amount, node_id) values ($1, $2, 0, 700, $3)', [name, id, node])
  await hold('one', 4)
  await hold('two', 0)
  await app.sql("insert into failed_charges (id, user_id, row, error) values ('two', $1, '{}', 'out of range')", [id])
  // That of a batch is no process's either, and ends by itself.
  await hold('three', 0)
  expect((await state()).holds).toMatchObject({ count: 3, amount: 2100, waiting: 1, oldest: expect.any(Date) })
})

test('what the processes lease of balances is summed', async () => {
  const { id } = await app.person({ quota: 5000 })
  for (const [lease, amount] of [
    [1, 300],
    [2, 400],
  ])
    await app.sql('insert into leases (id, node_id, user_id, token_id, amount) values ($1::bigint, 4, $2, 7, $3)', [
      lease,
      id,
      amount,
    ])
  expect((await state()).leases).toEqual({ count: 2, amount: 700 })
})

test('a statement that takes long is shown without the values in it', async () => {
  const client = new pg.Client(app.connection)
  client.on('error', () => {})
  await client.connect()
  const slow = client.query("select pg_sleep(600), 'a secret value'").catch(() => {})
  const shown = async () => (await state()).slowStatements.find(({ statement }) => statement.includes('pg_sleep'))
  await until(async () => (await shown()) !== undefined, { what: 'the statement is not shown' })
  const found = await shown()
  expect(found?.statement).toBe("select pg_sleep(600), '…'")
  await app.sql('select pg_terminate_backend($1)', [found?.pid])
  await slow
  await client.end().catch(() => {})
})

test('the growth of the log and the size of the database are shown', async () => {
  const { logs, database } = await state()
  expect(logs.days).toHaveLength(14)
  expect(logs.months.length).toBeGreaterThan(0)
  expect(database).toMatchObject({ bytes: expect.any(Number), mostConnections: expect.any(Number) })
})
