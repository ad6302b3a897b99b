import pg, { type Pool } from 'pg'
import { DomainError } from '#core/errors.ts'

const longestMs = 5000
const cancelled = '57014'

export type Query = <Row extends object>(text: string, values: readonly unknown[]) => Promise<Row[]>

/**
 * Reads from tables that grow without end: one look at one moment, and no longer than a person would wait.
 * @throws {DomainError} query.too_slow
 */
export async function readInTime<Result>(pool: Pool, read: (query: Query) => Promise<Result>): Promise<Result> {
  const client = await pool.connect()
  let broken: Error | undefined
  try {
    await client.query(`begin read only; set local statement_timeout = ${longestMs}`)
    const result = await read(
      async <Row extends object>(text: string, values: readonly unknown[]) =>
        (await client.query<Row>(text, [...values])).rows,
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
