import type { Pool } from 'pg'

/**
 * Another session keeps what the statement locks until the returned function is called, and no longer than the scope that has it by
 * `await using`: after a failure nobody waits for the lock, nor for its connection when the pool is ended.
 */
export async function holdLock(
  pool: Pick<Pool, 'connect'>,
  sql: string,
  values?: unknown[],
): Promise<AsyncDisposable & (() => Promise<void>)> {
  const holder = await pool.connect()
  let isHeld = true
  const letGo = async (): Promise<void> => {
    if (!isHeld) return
    isHeld = false
    await holder.query('rollback').finally(() => holder.release())
  }
  await holder.query('begin')
  await holder.query(sql, values)
  return Object.assign(letGo, { [Symbol.asyncDispose]: letGo })
}
