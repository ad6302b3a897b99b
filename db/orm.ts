import { Migrator } from '@mikro-orm/migrations'
import { MikroORM } from '@mikro-orm/postgresql'
import type { Pool } from 'pg'
import type { ConnectionOptions } from './connection.ts'
import { entities } from './entities/all.ts'
import { migrationsList } from './migrations/all.ts'

export type Database = {
  orm: MikroORM
  /** The connections the ORM itself uses, for prepared statements. */
  pool: Pool
  close: () => Promise<void>
}

const initialise = (connection: ConnectionOptions, poolSize: number) =>
  MikroORM.init({
    entities,
    host: connection.host,
    ...(connection.port ? { port: connection.port } : {}),
    user: connection.user,
    ...(connection.password ? { password: connection.password } : {}),
    dbName: connection.database,
    // Whoever finds no free connection is told so, instead of waiting for ever.
    driverOptions: { connectionTimeoutMillis: 5000, ...(connection.ssl ? { ssl: connection.ssl } : {}) },
    extensions: [Migrator],
    migrations: { migrationsList, snapshot: false, transactional: true },
    pool: { min: 0, max: poolSize },
    logger: () => {},
  })

/** Connects a process to the database. */
export async function connect(connection: ConnectionOptions, poolSize = 20): Promise<Database> {
  const orm = await initialise(connection, poolSize)
  const pool = (await orm.em.getConnection('write').getNativeClient()) as unknown as Pool
  return { orm, pool, close: () => orm.close(true) }
}

/** Brings the schema up to date. Processes that start together wait for one another. */
export async function migrate(connection: ConnectionOptions): Promise<void> {
  const database = await connect(connection, 2)
  try {
    const lock = await database.pool.connect()
    try {
      await lock.query('select pg_advisory_lock(7300)')
      await database.orm.migrator.up()
      await lock.query('select ensure_log_partitions()')
      await lock.query('select pg_advisory_unlock(7300)')
    } finally {
      lock.release()
    }
  } finally {
    await database.close()
  }
}
