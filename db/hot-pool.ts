import pg from 'pg'
import { type ConnectionOptions, beginSession, poolSettings } from './connection.ts'

/**
 * Few connections for what every call waits for (money, and the rows that calls are checked against), so that no page of
 * the console can take them away. Nothing here may wait long: a call is rather refused. The server gives up before we do,
 * so that what we count as failed does not happen later.
 */
export function createHotPool(connection: ConnectionOptions, onError: (error: unknown) => void, size = 6): pg.Pool {
  const { callMs = 4000 } = connection
  const pool = new pg.Pool({
    ...connection,
    max: size,
    ...poolSettings,
    connectionTimeoutMillis: callMs,
    query_timeout: callMs + 1000,
    onConnect: async (client) => {
      // One that is being closed has nobody left to tell.
      client.on('error', () => {})
      await beginSession(client, ['set lock_timeout = 1000', `set statement_timeout = ${callMs}`], connection.callMs)
    },
  })
  pool.on('error', onError)
  return pool
}
