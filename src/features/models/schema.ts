import { z } from 'zod'

const name = z.string().trim().min(1).max(255)
const figure = z.number().min(0).max(1e9)

/** A price per call, or ratios per token: one of the two, never both; or neither any more. */
const modelPrice = z.union([
  z.strictObject({ model: name, modelPrice: figure }),
  z.strictObject({
    model: name,
    modelRatio: figure,
    completionRatio: figure.optional(),
    cacheRatio: figure.optional(),
  }),
  z.strictObject({ model: name, removed: z.literal(true) }),
])
export type ModelPriceInput = z.infer<typeof modelPrice>

export const setPrices = z.object({ prices: z.array(modelPrice).min(1).max(2000) })
export type SetPrices = z.infer<typeof setPrices>

export const catalogPrices = z.object({ models: z.array(name).max(500) })
export type CatalogPrices = z.infer<typeof catalogPrices>

/** What a channel would serve, before it is saved. */
export const unpricedModels = z.object({
  type: z.int().min(0).max(2_147_483_647),
  models: z.array(name).max(500),
  modelMapping: z.string().max(20_000).default(''),
})
export type UnpricedModels = z.infer<typeof unpricedModels>
