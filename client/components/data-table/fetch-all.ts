import type { Column, RowId, TableData } from './types.ts'
import { toCsv } from './csv.ts'

export type Progress = { done: number; total: number | undefined }
type Fetching<Row> = {
  fetchPage: (page: number, pageSize: number) => Promise<TableData<Row>>
  pageSize: number
  columns: readonly Column<Row>[]
  rowId: (row: Row) => RowId
  signal: AbortSignal
  onProgress: (progress: Progress) => void
}

/** Seconds after which the server wants to be asked again; undefined for any other failure. */
function pauseOf(error: unknown): number | undefined {
  const response = (error as { meta?: { response?: Response } }).meta?.response
  if (response?.status !== 429) return undefined
  return Math.max(1, Number(response.headers.get('retry-after')) || 5)
}

async function fetchPatiently<Row>(
  { fetchPage, pageSize, signal }: Fetching<Row>,
  page: number,
): Promise<TableData<Row>> {
  for (;;) {
    try {
      return await fetchPage(page, pageSize)
    } catch (error) {
      const seconds = pauseOf(error)
      if (seconds === undefined || signal.aborted) throw error
      await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
      signal.throwIfAborted()
    }
  }
}

/**
 * Every row to the last, page by page as text, since a browser holds many more lines than objects. Each stands once: rows that are new
 * in the list move others, which were fetched already, on to the next page.
 */
export async function fetchAll<Row>(fetching: Fetching<Row>): Promise<{ parts: string[]; count: number }> {
  const { pageSize, columns, rowId, signal, onProgress } = fetching
  const parts: string[] = []
  const written = new Set<RowId>()
  for (let page = 1; !signal.aborted; page += 1) {
    const { items, total } = await fetchPatiently(fetching, page)
    const others = items.filter((row) => !written.has(rowId(row)))
    if (others.length > 0 || page === 1) parts.push(toCsv(columns, others, page === 1), '\r\n')
    for (const row of others) written.add(rowId(row))
    onProgress({ done: written.size, total })
    if (items.length < pageSize) break
  }
  return { parts, count: written.size }
}
