import { useMutation } from '@tanstack/react-query'
import { useMemo } from 'react'
import { entriesOf, type ModelPriceInput, priceTableKeys } from '#core/pricing/price-changes.ts'
import type { PriceTables } from '#core/pricing/tables.ts'
import type { RouterOutputs } from '#server/app-router.ts'
import { refusalCode } from './errors.ts'
import { reportedWhenFailed } from './query.ts'
import { useSession } from './session.ts'
import { trpc } from './trpc.ts'

type OptionView = RouterOutputs['admin']['options']['list'][number]

/** An option that is not known yet is an empty table. */
export function tablesOf(options: readonly Pick<OptionView, 'key' | 'value'>[] = []): PriceTables {
  const values = new Map<string, unknown>(options.map(({ key, value }) => [key, value]))
  return Object.fromEntries(priceTableKeys.map((key) => [key, values.get(key) ?? {}])) as PriceTables
}

/** Undefined until they have come. */
export function usePriceTables(): PriceTables | undefined {
  const { isRoot } = useSession()
  const { data } = trpc.admin.options.list.useQuery(undefined, { ...reportedWhenFailed, enabled: isRoot })
  return useMemo(() => data && tablesOf(data), [data])
}

/** What a list of models without a price says of them, however old it is. */
export function useUnpricedTables(): PriceTables {
  const tables = usePriceTables()
  return useMemo(() => ({ ...(tables ?? tablesOf()), ModelPrice: {}, ModelRatio: {} }), [tables])
}

/** The tables as they were shown where a change began. */
export type Began = { current: PriceTables }

type Change = { prices: ModelPriceInput[]; began: Began }

/**
 * Sets prices of some models. Nothing is set where somebody else has changed one of them since the change began; whoever saves
 * again has read that, and begins with what stands there then.
 */
export function useSetPrices() {
  const utils = trpc.useUtils()
  return useMutation({
    mutationFn: async ({ prices, began }: Change) => {
      const expected = prices.map(({ model }) => [model, entriesOf(began.current, model)])
      await utils.client.admin.models.setPrices.mutate({ prices, expected: Object.fromEntries(expected) })
    },
    onError: async (error, { began }) => {
      if (refusalCode(error) !== 'prices.changed_meanwhile') return
      void utils.admin.models.unset.invalidate()
      await utils.admin.options.list.refetch()
      began.current = tablesOf(utils.admin.options.list.getData())
    },
    onSuccess: async () => {
      await utils.admin.options.list.refetch()
      // The price page, the price list and what needs attention show the prices too.
      void utils.invalidate()
    },
  })
}
