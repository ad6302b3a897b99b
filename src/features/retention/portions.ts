import type { Pool } from 'pg'

const portionSize = 5000

type Rows = { table: string; condition: string; values?: readonly unknown[] }

/**
 * Removes rows in portions, each for good, however many there are: one statement for millions would be rolled back whole by
 * whatever ends it, and hours would be added up no sooner than it ends. Returns how many went; an aborted one leaves the rest.
 */
export async function removeInPortions(
  pool: Pool,
  { table, condition, values = [] }: Rows,
  signal: AbortSignal,
): Promise<number> {
  let rows = 0
  for (let removed = portionSize; removed === portionSize && !signal.aborted;) {
    const { rowCount } = await pool.query(
      `delete from ${table} where ctid in (select ctid from ${table} where ${condition} limit ${portionSize})`,
      [...values],
    )
    removed = rowCount ?? 0
    rows += removed
  }
  return rows
}
