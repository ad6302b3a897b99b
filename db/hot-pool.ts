import pg from 'pg'
import { type ConnectionOptions, sessionOptions } from './connection.ts'

/**
 * Few connections for what every call waits for (money, and the rows that calls are checked against), so that no page of
 * the console can take them away. Nothing here may wait long: a call is rather refused. The server gives up before we do,
 * so that what we count as failed does not happen later.
 */
export function createHotPool(connection: ConnectionOptions, onError: (error: unknown) => void, size = 6): pg.Pool {
  const pool = new pg.Pool({
    ...connection,
    max: size,
    options: sessionOptions,
    keepAlive: true,
    connectionTimeoutMillis: 4000,
    lock_timeout: 1000,
    statement_timeout: 4000,
    query_timeout: 5000,
  })
  pool.on('error', onError)
  // One that is being closed has nobody left to tell.
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}
