import { Migrator } from '@mikro-orm/migrations'
import { MikroORM } from '@mikro-orm/postgresql'
import type { ClientBase, Pool, PoolClient } from 'pg'
import { unstorableTextCode } from '#core/database-errors.ts'
import { type ConnectionOptions, beginSession, poolSettings } from './connection.ts'
import { entities } from './entities/all.ts'
import { migrationsList } from './migrations/all.ts'
import { advisoryLock } from './advisory-locks.ts'
import { betweenOthers } from './brief-locks.ts'
import { makeLogPartitionsOfNow } from './log-partitions.ts'
import { buildSearchIndexes, type Report } from './search-indexes.ts'
import { type Zones, zonesOf } from './zones.ts'

export type Database = {
  orm: MikroORM
  /** The connections the ORM itself uses, for prepared statements. */
  pool: Pool
  /** The names of zones that it knows. Not within a transaction: the first to ask takes a connection of its own. */
  zones: () => Promise<Zones>
  close: () => Promise<void>
}

const initialise = (
  connection: ConnectionOptions,
  { poolSize, onConnect }: { poolSize: number; onConnect: (client: PoolClient) => Promise<void> },
) =>
  MikroORM.init({
    entities,
    host: connection.host,
    ...(connection.port ? { port: connection.port } : {}),
    user: connection.user,
    ...(connection.password ? { password: connection.password } : {}),
    dbName: connection.database,
    // Whoever finds no free connection waits for one in turn: a crowd that signs up is served, slowly. It is refused in the end,
    // instead of waiting for ever.
    driverOptions: {
      connectionTimeoutMillis: connection.waitMs ?? 15_000,
      readMs: connection.readMs,
      onConnect,
      ...poolSettings,
      ...(connection.ssl ? { ssl: connection.ssl } : {}),
    },
    extensions: [Migrator],
    // Each in a transaction of its own: what one has locked is not kept until the last of them is through.
    migrations: { migrationsList, snapshot: false, transactional: true, allOrNothing: false },
    pool: { min: 0, max: poolSize },
    logger: () => {},
  })

/** Connects a process to the database. */
export async function connect(connection: ConnectionOptions, poolSize = 20): Promise<Database> {
  const taken = new WeakSet<ClientBase>()
  const orm = await initialise(connection, {
    poolSize,
    onConnect: (client) => prepare(client, taken, connection.waitMs),
  })
  const pool = (await orm.em.getConnection('write').getNativeClient()) as unknown as Pool
  pool.on('acquire', (client) => taken.add(client))
  pool.on('release', (_, client) => taken.delete(client))
  return { orm, pool, zones: zonesOf(pool), close: () => orm.close(true) }
}

/** @param taken those that somebody has just now */
async function prepare(client: PoolClient, taken: WeakSet<ClientBase>, waitMs?: number): Promise<void> {
  refuseNul(client)
  // Whoever waits for this connection is notified by other ways; one that is being closed has nobody left to notify.
  client.on('error', () => {})
  // The query builder below the ORM gives the connection of a transaction back once `commit` or `rollback` is answered: one that is
  // lost before would keep its place in the pool for ever.
  client.on('end', () => {
    if (!taken.has(client)) return
    const release = client.release.bind(client)
    // Whoever has it may still give it back.
    client.release = () => {}
    release(new Error('the connection was lost'))
  })
  await beginSession(client, [], waitMs)
}

/**
 * The ORM writes values into the statement, and a statement with a NUL in it costs the connection. It is refused here, in
 * the words the database has for a value of that kind.
 */
function refuseNul(client: ClientBase): void {
  const query = client.query.bind(client) as (...input: unknown[]) => unknown
  const refusing = (...input: unknown[]): unknown => {
    const [statement] = input
    if (typeof statement !== 'string' || !statement.includes('\0')) return query(...input)
    const error = Object.assign(new Error('invalid byte sequence for encoding "UTF8": 0x00'), {
      code: unstorableTextCode,
    })
    const callback = input.at(-1)
    if (typeof callback !== 'function') return Promise.reject(error)
    process.nextTick(callback, error)
  }
  client.query = refusing as ClientBase['query']
}

/** Brings the schema up to date. Processes that start together wait for one another; those that serve already go on. */
export async function migrate(connection: ConnectionOptions): Promise<void> {
  const database = await connect(connection, 2)
  await upgradeSchema(database).finally(database.close)
}

const remindEveryMs = 60_000

/** The same over a database that is connected already; it takes two connections. */
export async function upgradeSchema({ orm, pool }: Database, report: Report = () => {}): Promise<void> {
  const lock = await pool.connect()
  try {
    await takeSchemaLock(lock, report)
    // Hundreds of names in an empty database would say nothing to anybody.
    const isEmpty = (await orm.migrator.getPending()).length === migrationsList.length
    const news: Report = isEmpty ? () => {} : report
    await runMigrations(orm.migrator, news)
    await makeLogPartitionsOfNow(lock)
    await lock.query('select pg_advisory_unlock($1)', [advisoryLock.schema])
    await buildSearchIndexes(lock, news)
  } finally {
    lock.release()
  }
}

async function takeSchemaLock(client: PoolClient, report: Report): Promise<void> {
  const { rows } = await client.query<{ mine: boolean }>('select pg_try_advisory_lock($1) as mine', [
    advisoryLock.schema,
  ])
  if (rows[0]?.mine === true) return
  report('another process is bringing the database up to date: waiting for it', {})
  await client.query('select pg_advisory_lock($1)', [advisoryLock.schema])
}

async function runMigrations(migrator: MikroORM['migrator'], report: Report): Promise<void> {
  let migration = ''
  let reportedAt = -Infinity
  const begin = ({ name }: { name: string }): void => {
    // One that was held up begins again.
    if (name !== migration) report('bringing the database up to date', { migration: name })
    migration = name
  }
  const onHeldUp = (): void => {
    if (performance.now() - reportedAt < remindEveryMs) return
    reportedAt = performance.now()
    report('a table that the migration needs is in use, by a backup or a forgotten transaction: waiting', { migration })
  }
  migrator.on('migrating', begin)
  try {
    await betweenOthers(() => migrator.up(), { onHeldUp })
  } finally {
    migrator.off('migrating', begin)
  }
}
