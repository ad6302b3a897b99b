import { useCallback } from 'react'
import type { Paging } from '../../lib/table-state.ts'
import { trpc } from '../../lib/trpc.ts'
import type { Token } from './use-open-token.ts'

export type TokenFilters = { name: string; key: string }

/** One page of the reader's tokens; a search answers with all that fit, and is paged here. */
export function useTokens({ name, key }: TokenFilters, { page, pageSize }: Paging) {
  const searching = name !== '' || key !== ''
  const utils = trpc.useUtils()
  const pageOf = (wanted: number, size: number) => utils.user.tokens.list.fetch({ page: wanted, pageSize: size })
  const list = trpc.user.tokens.list.useQuery({ page, pageSize }, { enabled: !searching })
  const search = trpc.user.tokens.search.useQuery({ keyword: name, key }, { enabled: searching })
  if (!searching) return { ...list, pageOf }
  const from = (page - 1) * pageSize
  return {
    ...search,
    pageOf,
    data: search.data && { items: search.data.slice(from, from + pageSize), total: search.data.length },
  }
}

/** The whole key, fetched when it is asked for. */
export function useReveal() {
  const utils = trpc.useUtils()
  return useCallback(
    async ({ id }: Pick<Token, 'id'>): Promise<string> => {
      const { key } = await utils.user.tokens.reveal.fetch({ id }, { staleTime: 0, gcTime: 0 })
      return `sk-${key}`
    },
    [utils],
  )
}
