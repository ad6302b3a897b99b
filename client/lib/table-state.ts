import { useCallback, useEffect, useMemo, useState } from 'react'
import { defaultPageSize, largestPageSize, pageSizes } from '#core/page-sizes.ts'
import { useStore } from './store.ts'
import { createStored } from './stored.ts'
import { useUrlState } from './url-state.ts'

/** The page size that stands for as many rows as the window holds. */
export const fitting = 0

const storedPageSize = createStored<number>('page-size', {
  parse: (text) =>
    Number(text) === fitting || pageSizes.some((size) => size === Number(text)) ? Number(text) : defaultPageSize,
  format: String,
  fallback: defaultPageSize,
})

export type Sort = { by: string; order: 'asc' | 'desc' }

export type Paging = {
  page: number
  pageSize: number
  /** The size follows the window. */
  fits: boolean
  setPage: (page: number) => void
  setPageSize: (pageSize: number) => void
}

export type Sorting = { sort: Sort | undefined; setSort: (sort: Sort | undefined) => void }

/** Of the window's height, what stands above and below a list. */
const aroundRows = 290
const rowHeight = 40

const countRows = (): number =>
  Math.min(largestPageSize, Math.max(defaultPageSize / 2, Math.floor((window.innerHeight - aroundRows) / rowHeight)))

/** Rows for the window as it is, and again when it was resized. */
function useRowsThatFit(wanted: boolean): number {
  const [rows, setRows] = useState(countRows)
  useEffect(() => {
    if (!wanted) return undefined
    const measure = () => setRows(countRows())
    measure()
    window.addEventListener('resize', measure)
    return () => window.removeEventListener('resize', measure)
  }, [wanted])
  return rows
}

/**
 * Page, page size and order of a list, stored in the address; the page size is remembered for every list. A change of any
 * of them drops the parameters named in `resets`.
 */
export function useTableState(initial?: Sort, resets?: readonly string[]): Paging & Sorting {
  const remembered = useStore(storedPageSize)
  const [state, set] = useUrlState({ page: 1, size: 0, sort: '', order: '' }, resets)
  const setPage = useCallback((page: number) => set({ page }), [set])
  const setPageSize = useCallback(
    (pageSize: number) => {
      storedPageSize.set(pageSize)
      set({ size: 0, page: 1 })
    },
    [set],
  )
  const setSort = useCallback(
    (sort: Sort | undefined) => set({ sort: sort?.by ?? '', order: sort?.order ?? '', page: 1 }),
    [set],
  )
  const { by: initialBy, order: initialOrder } = initial ?? {}
  const sort = useMemo((): Sort | undefined => {
    if (state.sort) return { by: state.sort, order: state.order === 'asc' ? 'asc' : 'desc' }
    return initialBy === undefined ? undefined : { by: initialBy, order: initialOrder ?? 'desc' }
  }, [state.sort, state.order, initialBy, initialOrder])
  const rowsThatFit = useRowsThatFit(remembered === fitting)
  const fromAddress = pageSizes.some((size) => size === state.size) ? state.size : undefined
  return {
    page: Math.max(1, Math.trunc(state.page)),
    pageSize: fromAddress ?? (remembered === fitting ? rowsThatFit : remembered),
    fits: fromAddress === undefined && remembered === fitting,
    setPage,
    setPageSize,
    sort,
    setSort,
  }
}
