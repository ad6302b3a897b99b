import { z } from 'zod'
import { modelPriceInput } from '#core/pricing/price-changes.ts'

const name = z.string().trim().min(1).max(255)
export const setPrices = z.object({
  prices: z.array(modelPriceInput).min(1).max(2000),
  /** By model what the tables said of it where the change began: nothing is set where somebody else has changed it since. */
  expected: z.record(z.string().max(255), z.string().max(20_000)).optional(),
})
export type SetPrices = z.infer<typeof setPrices>

export const byModel = z.object({ model: name })
export type ByModel = z.infer<typeof byModel>

export const catalogPrices = z.object({ models: z.array(name).max(500) })
export type CatalogPrices = z.infer<typeof catalogPrices>

/** What a channel would serve, before it is saved. */
export const unpricedModels = z.object({
  type: z.int().min(0).max(2_147_483_647),
  models: z.array(name).max(500),
  modelMapping: z.string().max(20_000).default(''),
})
export type UnpricedModels = z.infer<typeof unpricedModels>
