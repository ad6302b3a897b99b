import { builtInModelsByType } from '#core/channel-types/built-in-models.ts'
import { adminProcedure, publicProcedure, rootProcedure, router, userProcedure } from '#features/procedures.ts'
import * as schema from './schema.ts'
import * as service from './service.ts'

export const modelsPublicRouter = router({
  pricing: publicProcedure.query(({ ctx }) => service.listPricing(ctx)),
})

export const modelsUserRouter = router({
  list: userProcedure.query(({ ctx }) => service.listUsableModels(ctx)),
  parameters: userProcedure.input(schema.byModel).query(({ ctx, input }) => service.parametersOfModel(ctx, input)),
  builtIn: userProcedure.query(() => builtInModelsByType()),
})

export const modelsAdminRouter = router({
  unset: adminProcedure.query(({ ctx }) => service.listUnsetModels(ctx)),
  unpriced: adminProcedure
    .input(schema.unpricedModels)
    .query(({ ctx, input }) => service.listUnpricedModels(ctx, input)),
  catalogPrices: adminProcedure
    .input(schema.catalogPrices)
    .query(({ ctx, input }) => service.catalogPrices(ctx, input)),
  setPrices: rootProcedure
    .meta({ verification: 'recent' })
    .input(schema.setPrices)
    .mutation(({ ctx, input }) => service.setPrices(ctx, input)),
})
