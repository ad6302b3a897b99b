import type { CatalogPrice } from '#core/pricing/catalogue.ts'

/** Prices of a list that have no field of their own: they are set as the list has them. */
export type FurtherPrices = Pick<CatalogPrice, 'cacheWriteRatio' | 'longContext'>

/** What the list says of them; what it does not say stays as it is. */
export const furtherOf = ({ cacheWriteRatio, longContext }: FurtherPrices): FurtherPrices => ({
  ...(cacheWriteRatio !== undefined && { cacheWriteRatio }),
  ...(longContext !== undefined && { longContext }),
})
