import { useMemo } from 'react'
import { ratioToDollars } from '#core/pricing/prices.ts'
import type { RouterOutputs } from '#server/app-router.ts'
import type { ReplyUsage } from './reply.ts'
import { reportedWhenFailed } from '../../lib/query.ts'
import { useStatus } from '../../lib/status.ts'
import { trpc } from '../../lib/trpc.ts'

type Priced = RouterOutputs['public']['models']['pricing']['items'][number]

/** Dollars for a million tokens, or for a call. */
export type ListPrice = { kind: 'tokens'; input: number; output: number } | { kind: 'call'; call: number }

type Terms = { groupRatio: number; quotaPerUnit: number }

export function listPrice({ price }: Priced, { groupRatio, quotaPerUnit }: Terms): ListPrice {
  if (price.kind === 'call') return { kind: 'call', call: (price.modelPrice ?? 0) * groupRatio }
  const input = ratioToDollars(price.modelRatio ?? 0, quotaPerUnit) * groupRatio
  return { kind: 'tokens', input, output: input * (price.completionRatio ?? 1) }
}

/** What a reply would cost by the list: for sites that keep no log to read it from. */
export function estimateQuota(price: ListPrice, usage: ReplyUsage, quotaPerUnit: number): number {
  if (price.kind === 'call') return price.call * quotaPerUnit
  const dollars = (price.input * usage.promptTokens + price.output * usage.completionTokens) / 1_000_000
  return dollars * quotaPerUnit
}

/** The group that calls are made in: the wanted one, but the first where that is not to be chosen, or no more. */
export const groupInUse = (groups: readonly { name: string }[] | undefined, wanted: string): string =>
  groups === undefined || groups.some(({ name }) => name === wanted) ? wanted : (groups[0]?.name ?? wanted)

/** The reader's groups, the models each of them serves, and their prices. */
export function useOffer(wanted: string) {
  const groups = trpc.user.groups.list.useQuery()
  const models = trpc.user.models.list.useQuery()
  const pricing = trpc.public.models.pricing.useQuery(undefined, reportedWhenFailed)
  const { quotaPerUnit } = useStatus()
  const used = groupInUse(groups.data, wanted)
  const chosen = groups.data?.find(({ name }) => name === used)
  const ratio = chosen?.ratio ?? 1
  const priced = useMemo(() => new Map(pricing.data?.items.map((item) => [item.model, item])), [pricing.data])
  const names = useMemo(() => {
    const reached = chosen?.groups ?? [used]
    const served = (models.data ?? []).filter((name) => {
      const item = priced.get(name)
      return !item || item.groups.some((group) => reached.includes(group))
    })
    // Without a price a call may be refused: such models come last.
    return [...served.filter((name) => priced.has(name)), ...served.filter((name) => !priced.has(name))]
  }, [models.data, priced, used, chosen])
  return {
    groups: groups.data ?? [],
    group: used,
    /** The one that was wanted and cannot be used. */
    lostGroup: wanted !== '' && wanted !== used ? wanted : undefined,
    models: names,
    isEmpty: models.data?.length === 0,
    /** There are models, but none in this group. */
    isGroupEmpty: models.data !== undefined && models.data.length > 0 && names.length === 0,
    /** Why there is nothing to choose from. Without prices one can still call. */
    error: (groups.data ? null : groups.error) ?? (models.data ? null : models.error),
    retry: () => void Promise.all([groups.refetch(), models.refetch()]),
    isPricePending: pricing.isPending,
    priceOf: (model: string): ListPrice | undefined => {
      const item = priced.get(model)
      return item && listPrice(item, { groupRatio: ratio, quotaPerUnit })
    },
  }
}

export type Offer = ReturnType<typeof useOffer>
