import { Pool } from 'pg'
import { type ConnectionOptions, toUrl } from '#db/connection.ts'
import { startUpstream } from '#test/simulator/index.ts'
import { createDatabase } from '../support/database.ts'
import { createFactories } from '../support/factories.ts'
import { secretKey } from '../support/processes.ts'

export { long } from '../support/long.ts'

/**
 * A database, a simulated provider and a channel to it, for products that run as processes of their own. The tests look
 * at the database through their own connections.
 */
export async function createWorld(given: { connection?: ConnectionOptions; record?: boolean } = {}) {
  const database = given.connection ? null : await createDatabase()
  const connection = given.connection ?? (database as NonNullable<typeof database>).connection
  const upstream = await startUpstream({ record: given.record ?? false })
  const pool = new Pool({ ...connection, max: 5 })
  // A test may end every connection there is.
  pool.on('error', () => {})
  return {
    connection,
    upstream,
    pool,
    make: createFactories({ pool, secretKey, upstreamUrl: upstream.url }),
    /** The environment of a product on this database. */
    environment: { DATABASE_URL: toUrl(connection), SECRET_KEY: secretKey },
    [Symbol.asyncDispose]: async () => {
      await pool.end()
      await upstream.close()
      await database?.[Symbol.asyncDispose]()
    },
  }
}

export type World = Awaited<ReturnType<typeof createWorld>>
