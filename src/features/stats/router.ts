import { adminProcedure, router, userProcedure } from '#features/procedures.ts'
import * as schema from './schema.ts'
import * as service from './service.ts'

export const statsUserRouter = router({
  overview: userProcedure.input(schema.ownOverview).query(({ ctx, input }) => service.ownOverview(ctx, input)),
  series: userProcedure.input(schema.ownSeries).query(({ ctx, input }) => service.ownSeries(ctx, input)),
  live: userProcedure.input(schema.ownLive).query(({ ctx, input }) => service.ownLive(ctx, input)),
  usage: userProcedure.input(schema.ownUsage).query(({ ctx, input }) => service.ownUsage(ctx, input)),
})

export const statsAdminRouter = router({
  overview: adminProcedure.input(schema.overview).query(({ ctx, input }) => service.overview(ctx, input)),
  series: adminProcedure.input(schema.modelSeries).query(({ ctx, input }) => service.modelSeries(ctx, input)),
  live: adminProcedure.input(schema.live).query(({ ctx, input }) => service.live(ctx, input)),
  usage: adminProcedure.input(schema.usage).query(({ ctx, input }) => service.usage(ctx, input)),
})
