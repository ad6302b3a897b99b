import { encodeValue } from '#core/options/codec.ts'
import { priceTablesOf } from '#core/pricing/price-of.ts'
import { priceTableKeys, withPriceChange } from '#core/pricing/price-changes.ts'
import type { UserDeps } from '#features/deps.ts'
import { loadOptionRows, setOptionsWithin } from '#features/options/service.ts'
import { createOptionsStore } from '#features/options/store.ts'
import { withPriceTables } from '#features/prices/changeover.ts'
import type { SetPrices } from './schema.ts'

/**
 * Sets or removes the prices of some models and leaves those of all others. The tables are whole options, so they are read again
 * under a lock: two people who set prices at once both keep theirs.
 */
export async function setPrices(deps: UserDeps, input: SetPrices): Promise<void> {
  await withPriceTables(deps, async (em) => {
    const stored = createOptionsStore({ load: () => loadOptionRows({ em, secrets: deps.secrets }) })
    await stored.reload()
    const before = { ...priceTablesOf(stored), GroupRatio: stored.get('GroupRatio') }
    const after = withPriceChange(before, { prices: input.prices, groupRatios: {} })
    const texts = Object.fromEntries(priceTableKeys.map((key) => [key, encodeValue(key, { ...after[key] })]))
    await setOptionsWithin({ ...deps, em }, texts)
  })
  await deps.options.reload()
}
