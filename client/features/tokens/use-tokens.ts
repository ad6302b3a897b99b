import { useCallback, useMemo } from 'react'
import { tokenSorts } from '#features/tokens/schema.ts'
import type { Paging, Sorting } from '../../lib/table-state.ts'
import { keepsRows, reportedWhenFailed } from '../../lib/query.ts'
import { trpc } from '../../lib/trpc.ts'
import type { Cap, Token } from './use-open-token.ts'

export type TokenFilters = { name: string; key: string }

/** One page of the reader's tokens; a search answers with all that fit, and is paged here. */
export function useTokens({ name, key }: TokenFilters, { page, pageSize, sort }: Paging & Pick<Sorting, 'sort'>) {
  const by = tokenSorts.find((known) => known === sort?.by)
  const order = by === undefined ? {} : { sort: by, order: sort?.order ?? 'desc' }
  const searching = name !== '' || key !== ''
  const utils = trpc.useUtils()
  // Of a file, whose rows are not to move while it is fetched.
  const fixed = by === 'spend' || by === 'used' ? {} : order
  const pageOf = (wanted: number, size: number) =>
    utils.user.tokens.list.fetch({ page: wanted, pageSize: size, ...fixed })
  const list = trpc.user.tokens.list.useQuery({ page, pageSize, ...order }, { ...keepsRows, enabled: !searching })
  // A key goes in the body of its request: servers and proxies write addresses down.
  const secret = { trpc: { context: { long: key !== '' } } }
  const search = trpc.user.tokens.search.useQuery(
    { keyword: name, key, ...order },
    { ...keepsRows, ...secret, enabled: searching },
  )
  if (!searching) return { ...list, pageOf }
  const partOf = (found: readonly Token[], wanted: number, size: number) => ({
    items: found.slice((wanted - 1) * size, wanted * size),
    total: found.length,
  })
  return {
    ...search,
    pageOf: async (wanted: number, size: number) =>
      partOf(await utils.user.tokens.search.fetch({ keyword: name, key, ...fixed }, secret), wanted, size),
    data: search.data && partOf(search.data, page, pageSize),
  }
}

/** The caps of all tokens by the token's id, the tightest first. */
export function useCaps(): ReadonlyMap<number, readonly Cap[]> {
  const { data } = trpc.user.spendCaps.list.useQuery(undefined, reportedWhenFailed)
  return useMemo(() => {
    const ofTokens = (data ?? []).filter(({ scope }) => scope === 'token')
    const share = (cap: Cap) => (cap.limit === 0 ? 1 : cap.spent / cap.limit)
    return Map.groupBy(
      ofTokens.toSorted((one, other) => share(other) - share(one)),
      ({ subjectId }) => subjectId,
    )
  }, [data])
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
