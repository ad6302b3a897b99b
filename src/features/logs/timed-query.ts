import pg, { type Pool } from 'pg'
import { DomainError } from '#core/errors.ts'

const timeoutMs = 5000
const cancelled = '57014'

export type Query = <Row extends object>(text: string, values: readonly unknown[]) => Promise<Row[]>

/**
 * Reads from tables that grow without end: one look at one moment, and no longer than a person would wait.
 * @throws {DomainError} query.too_slow
 */
export async function readInTime<Result>(
  pool: Pool,
  read: (query: Query) => Promise<Result>,
  longestMs = timeoutMs,
): Promise<Result> {
  const client = await pool.connect()
  let broken: Error | undefined
  try {
    await client.query(`begin read only; set local statement_timeout = ${longestMs}`)
    const result = await read(
      async <Row extends object>(text: string, values: readonly unknown[]) =>
        // The pool's own reading of values is the object mapper's, which wants times as text.
        (await client.query<Row>({ text, values: [...values], types: pg.types })).rows,
    )
    await client.query('commit')
    return result
  } catch (error) {
    await client.query('rollback').catch((reason: unknown) => {
      broken = reason instanceof Error ? reason : new Error('rollback failed')
    })
    if (error instanceof pg.DatabaseError && error.code === cancelled) {
      throw new DomainError('query.too_slow', {}, { cause: error })
    }
    throw error
  } finally {
    client.release(broken)
  }
}
