import { useCallback, useMemo, useState } from 'react'
import type { RowId, Selection } from './types.ts'

/** Selected rows stay selected on other pages; what they looked like when ticked is kept with them. */
export function useSelection<Row>(rows: readonly Row[], rowId: (row: Row) => RowId) {
  const [selected, setSelected] = useState<ReadonlyMap<RowId, Row | undefined>>(new Map())
  const select = useCallback(
    (chosen: readonly Row[], on: boolean) =>
      setSelected((before) => {
        const next = new Map(before)
        for (const row of chosen) {
          if (on) next.set(rowId(row), row)
          else next.delete(rowId(row))
        }
        return next
      }),
    [rowId],
  )
  const selectIds = useCallback(
    (ids: readonly RowId[]) => setSelected((before) => new Map(ids.map((id) => [id, before.get(id)]))),
    [],
  )
  const clear = useCallback(() => setSelected(new Map()), [])
  const here = rows.filter((row) => selected.has(rowId(row))).length
  const state: boolean | 'some' = here === 0 ? false : here === rows.length ? true : 'some'
  const selection = useMemo(
    (): Selection<Row> => ({
      ids: [...selected.keys()],
      rows: [...selected.values()].filter((row) => row !== undefined),
      clear,
    }),
    [selected, clear],
  )
  return { selected, select, selectIds, selection, state }
}
