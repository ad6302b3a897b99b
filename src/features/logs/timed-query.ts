import pg, { type Pool } from 'pg'
import { DomainError } from '#core/errors.ts'
import type { ConnectionOptions } from '#db/connection.ts'
import { inTransaction } from '#db/transaction.ts'

const usualMs = 5000
const limitOf = ({ options }: Pool): number => (options as Partial<ConnectionOptions>).readMs ?? usualMs
const cancelled = '57014'

export type Query = <Row extends object>(text: string, values: readonly unknown[]) => Promise<Row[]>

/**
 * Reads from tables that grow without end: one look at one moment, and no longer than a person would wait.
 * @throws {DomainError} query.too_slow
 */
export async function readInTime<Result>(
  pool: Pool,
  read: (query: Query) => Promise<Result>,
  longestMs = limitOf(pool),
): Promise<Result> {
  try {
    return await inTransaction(
      pool,
      (client) =>
        read(
          async <Row extends object>(text: string, values: readonly unknown[]) =>
            // The pool's own reading of values is the object mapper's, which wants times as text.
            (await client.query<Row>({ text, values: [...values], types: pg.types })).rows,
        ),
      `begin read only; set local statement_timeout = ${longestMs}`,
    )
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === cancelled)
      throw new DomainError('query.too_slow', {}, { cause: error })
    throw error
  }
}
