import { encodeValue } from '#core/options/codec.ts'
import type { RatioMap } from '#core/pricing/tables.ts'
import type { UserDeps } from '#features/deps.ts'
import { loadOptionRows, setOptionsWithin } from '#features/options/service.ts'
import { createOptionsStore } from '#features/options/store.ts'
import type { ModelPriceInput, SetPrices } from './schema.ts'

const tableKeys = ['ModelPrice', 'ModelRatio', 'CompletionRatio', 'CacheRatio'] as const
type Tables = Record<(typeof tableKeys)[number], Record<string, number>>

/** Number of the lock that lets one writer of price tables go after another. */
const priceTablesLock = 7301

/**
 * Sets or removes the prices of some models and leaves those of all others. The tables are whole options, so they are read again
 * under a lock: two people who set prices at once both keep theirs.
 */
export async function setPrices(deps: UserDeps, input: SetPrices): Promise<void> {
  await deps.em.transactional(async (em) => {
    await em
      .getConnection()
      .execute('select pg_advisory_xact_lock(?)', [priceTablesLock], 'all', em.getTransactionContext())
    const stored = createOptionsStore({ load: () => loadOptionRows({ em, secrets: deps.secrets }) })
    await stored.reload()
    const tables = Object.fromEntries(tableKeys.map((key) => [key, copyOf(stored.get(key))])) as Tables
    for (const price of input.prices) enter(tables, price)
    const texts = Object.fromEntries(tableKeys.map((key) => [key, encodeValue(key, tables[key])]))
    await setOptionsWithin({ ...deps, em }, texts)
  })
  await deps.options.reload()
}

/** Names come from people; as own keys of an object without ancestors none of them means anything else. */
const copyOf = (table: RatioMap): Record<string, number> =>
  Object.assign(Object.create(null) as Record<string, number>, table)

/** A price per call and ratios exclude each other. An absent cache or completion ratio leaves what there is. */
function enter(tables: Tables, price: ModelPriceInput): void {
  const { model } = price
  if (!('modelRatio' in price)) {
    for (const key of tableKeys) delete tables[key][model]
    if ('modelPrice' in price) tables.ModelPrice[model] = price.modelPrice
    return
  }
  delete tables.ModelPrice[model]
  tables.ModelRatio[model] = price.modelRatio
  if (price.completionRatio !== undefined) tables.CompletionRatio[model] = price.completionRatio
  if (price.cacheRatio !== undefined) tables.CacheRatio[model] = price.cacheRatio
}
