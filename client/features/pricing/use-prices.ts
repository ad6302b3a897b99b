import { useMemo } from 'react'
import { useStatus } from '../../lib/status.ts'
import { trpc } from '../../lib/trpc.ts'
import { dollarsOf, type LongPrice, longPricesOf, vendorOf, type Dollars, type PricedModel } from './prices.ts'

export const filters = { q: '', group: '', kind: '', vendor: '' }
type Filters = typeof filters

/** A model with what it costs in the chosen group. */
export type PriceLine = PricedModel & { dollars: Dollars; longPrices: LongPrice[]; vendor: string | undefined }

/** The price list for the chosen group, the reader's own unless another is chosen. */
export function usePrices({ q, group: wanted, kind, vendor }: Filters) {
  const query = trpc.public.models.pricing.useQuery()
  const { quotaPerUnit } = useStatus()
  const { data } = query
  const groups = data?.groups ?? []
  const group = groups.find(({ name }) => name === wanted) ?? groups[0]
  const { name, ratio } = group ?? { name: undefined, ratio: 1 }
  const served = useMemo(
    () =>
      data?.items
        .filter(({ groups: own }) => name === undefined || own.includes(name))
        .map((item): PriceLine => ({
          ...item,
          vendor: vendorOf(item.model),
          dollars: dollarsOf(item.price, { groupRatio: ratio, quotaPerUnit }),
          longPrices: longPricesOf(item.price, { groupRatio: ratio, quotaPerUnit }),
        })),
    [data, name, ratio, quotaPerUnit],
  )
  const words = q.trim().toLowerCase()
  const lines = served?.filter(
    (line) =>
      line.model.toLowerCase().includes(words) &&
      (kind === '' || line.price.kind === kind) &&
      (vendor === '' || line.vendor === vendor),
  )
  const vendors = [...new Set(served?.flatMap((line) => line.vendor ?? []))].toSorted()
  return { query, lines, group, groups, vendors }
}
