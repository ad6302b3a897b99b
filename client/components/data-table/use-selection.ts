import { useCallback, useMemo, useState } from 'react'
import type { RowId, Selection } from './types.ts'

type Selected<Row> = ReadonlyMap<RowId, Row | undefined>

/**
 * Selected rows stay selected on other pages; what they looked like when ticked is kept with them. With other filters nothing is
 * selected any more: what is not among the rows then would be acted on unseen.
 */
export function useSelection<Row>(rows: readonly Row[], rowId: (row: Row) => RowId, filters: unknown) {
  const question = JSON.stringify(filters)
  const [choice, setChoice] = useState<{ question: string; selected: Selected<Row> }>({ question, selected: new Map() })
  if (choice.question !== question) setChoice({ question, selected: new Map() })
  const { selected } = choice
  /** What answers to an earlier question comes too late. */
  const change = useCallback(
    (next: (before: Selected<Row>) => Selected<Row>) =>
      setChoice((before) => (before.question === question ? { question, selected: next(before.selected) } : before)),
    [question],
  )
  const select = useCallback(
    (chosen: readonly Row[], on: boolean) =>
      change((before) => {
        const next = new Map(before)
        for (const row of chosen) {
          if (on) next.set(rowId(row), row)
          else next.delete(rowId(row))
        }
        return next
      }),
    [change, rowId],
  )
  /** In place of what is selected; where that has been changed since this was handed out, too late as well. */
  const selectIds = useCallback(
    (ids: readonly RowId[]) =>
      change((before) => (before === selected ? new Map(ids.map((id) => [id, before.get(id)])) : before)),
    [change, selected],
  )
  const clear = useCallback(() => change(() => new Map()), [change])
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
