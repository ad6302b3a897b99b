import type { Pool, PoolClient } from 'pg'

/**
 * Runs statements in one transaction, of a connection for them alone. What fails is rolled back; a connection that cannot even do that is
 * closed.
 * @param begin how it begins: read only, at an isolation level
 */
export async function inTransaction<Result>(
  pool: Pool,
  run: (client: PoolClient) => Promise<Result>,
  begin = 'begin',
): Promise<Result> {
  const client = await pool.connect()
  let broken: Error | undefined
  try {
    await client.query(begin)
    const result = await run(client)
    await client.query('commit')
    return result
  } catch (error) {
    await client.query('rollback').catch((reason: unknown) => {
      broken = reason instanceof Error ? reason : new Error(String(reason))
    })
    throw error
  } finally {
    client.release(broken)
  }
}
