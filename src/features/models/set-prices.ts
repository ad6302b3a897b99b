import { encodeValue } from '#core/options/codec.ts'
import { priceTablesOf } from '#core/pricing/price-of.ts'
import { entriesOf, priceTableKeys, withPriceChange } from '#core/pricing/price-changes.ts'
import { DomainError } from '#core/errors.ts'
import type { UserDeps } from '#features/deps.ts'
import { loadOptionRows, readWithin, setOptionsWithin } from '#features/options/service.ts'
import { createOptionsStore } from '#features/options/store.ts'
import { withPriceTables } from '#features/prices/changeover.ts'
import type { SetPrices } from './schema.ts'

/** Names in a refusal. */
const mostNamed = 3

/**
 * Sets or removes the prices of some models and leaves those of all others. The tables are whole options, so they are read again
 * under a lock: two people who set prices at once both keep theirs, and one that replaces what the other has set meanwhile is refused.
 * @throws {DomainError} prices.changed_meanwhile
 */
export async function setPrices(deps: UserDeps, input: SetPrices): Promise<void> {
  const { expected = {} } = input
  await withPriceTables(deps, async (em) => {
    const stored = createOptionsStore({ load: () => loadOptionRows({ read: readWithin(em), secrets: deps.secrets }) })
    await stored.reload()
    const before = { ...priceTablesOf(stored), GroupRatio: stored.get('GroupRatio') }
    const overtaken = input.prices
      .map(({ model }) => model)
      .filter((model) => Object.hasOwn(expected, model) && entriesOf(before, model) !== expected[model])
    if (overtaken.length > 0) {
      throw new DomainError('prices.changed_meanwhile', { models: overtaken.slice(0, mostNamed).join(', ') })
    }
    const after = withPriceChange(before, { prices: input.prices, groupRatios: {} })
    const texts = Object.fromEntries(priceTableKeys.map((key) => [key, encodeValue(key, { ...after[key] })]))
    await setOptionsWithin({ ...deps, em }, texts)
  })
  await deps.options.reload()
}
