import { useCallback, useMemo } from 'react'
import { defaultPageSize, pageSizes } from '#core/paging.ts'
import { createStored, useStored } from './stored.ts'
import { useUrlState } from './url-state.ts'

const storedPageSize = createStored<number>('page-size', {
  parse: (text) => (pageSizes.some((size) => size === Number(text)) ? Number(text) : defaultPageSize),
  format: String,
  fallback: defaultPageSize,
})

export type Sort = { by: string; order: 'asc' | 'desc' }

export type Paging = {
  page: number
  pageSize: number
  setPage: (page: number) => void
  setPageSize: (pageSize: number) => void
}

export type Sorting = { sort: Sort | undefined; setSort: (sort: Sort | undefined) => void }

/** Page, page size and order of a list, kept in the address; the page size is remembered for every list. */
export function useTableState(initial?: Sort): Paging & Sorting {
  const remembered = useStored(storedPageSize)
  const [state, set] = useUrlState({ page: 1, size: 0, sort: '', order: '' })
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
  const fromAddress = pageSizes.some((size) => size === state.size) ? state.size : undefined
  return {
    page: Math.max(1, Math.trunc(state.page)),
    pageSize: fromAddress ?? remembered,
    setPage,
    setPageSize,
    sort,
    setSort,
  }
}
