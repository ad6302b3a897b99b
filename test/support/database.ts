import { randomBytes } from 'node:crypto'
import { Client, DatabaseError, type Pool } from 'pg'
import { inject } from 'vitest'
import { type ConnectionOptions, toUrl } from '#db/connection.ts'
import { patientWaits } from './patient-waits.ts'
import { until } from './processes.ts'
import { withStartLimit } from './start-limit.ts'

export type TestDatabase = AsyncDisposable & { connection: ConnectionOptions; url: string }

async function run(statement: string): Promise<void> {
  const client = new Client(inject('databaseServer'))
  await client.connect()
  await client.query(statement).finally(() => client.end())
}

const objectInUse = '55006'

/**
 * Nobody may be in a database that is copied. PostgreSQL ends its own workers that clean up in it, and waits five seconds for them,
 * which a busy machine may not have for them.
 */
const copyTemplate = (database: string): Promise<void> =>
  until(
    () =>
      // Copying the files costs a tenth of writing each page again, which is the default.
      run(`create database ${database} template ${inject('databaseTemplate')} strategy file_copy`).then(
        () => true,
        (error: unknown) => {
          if (error instanceof DatabaseError && error.code === objectInUse) return false
          throw error
        },
      ),
    { what: 'somebody stays in the database that is copied' },
  )

/** An own database with the whole schema and no rows of ours; dropped at the end, whoever is still connected. */
export const createDatabase = withStartLimit(async function createDatabase(): Promise<TestDatabase> {
  const database = `test_${randomBytes(8).toString('hex')}`
  await copyTemplate(database)
  // Crowds of tests are served to the last on a machine that others have busy, too.
  const connection = { ...inject('databaseServer'), database, ...patientWaits }
  return {
    connection,
    url: toUrl(connection),
    [Symbol.asyncDispose]: () => run(`drop database if exists ${database} with (force)`),
  }
})

/**
 * Ends a pool and waits for its connections to be closed. `pool.end` itself resolves while they still say goodbye, and whoever drops
 * their database then breaks them off, which the pool reports as an error that nobody listens for.
 */
export async function endPool(pool: Pool): Promise<void> {
  let open = pool.totalCount
  const closed = Promise.withResolvers<void>()
  if (open === 0) closed.resolve()
  pool.on('remove', () => {
    open -= 1
    if (open === 0) closed.resolve()
  })
  await pool.end()
  await closed.promise
}
