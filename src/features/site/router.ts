import { adminProcedure, publicProcedure, rootProcedure, router } from '#features/procedures.ts'
import { dismissFirstSteps, getFirstSteps } from './checklist.ts'
import { setup } from './schema.ts'
import * as service from './service.ts'
import { getSetup, setUp } from './setup-service.ts'

export const siteRouter = router({
  status: publicProcedure.query(({ ctx }) => service.getStatus(ctx)),
  notice: publicProcedure.query(({ ctx }) => service.getPage(ctx, 'Notice')),
  about: publicProcedure.query(({ ctx }) => service.getPage(ctx, 'About')),
  homePageContent: publicProcedure.query(({ ctx }) => service.getPage(ctx, 'HomePageContent')),
  setupStatus: publicProcedure.query(({ ctx }) => getSetup(ctx)),
  setup: publicProcedure
    .meta({ inDemo: true })
    .input(setup)
    .mutation(({ ctx, input }) => setUp(ctx, input)),
})

export const siteAdminRouter = router({
  firstSteps: rootProcedure.query(({ ctx }) => getFirstSteps(ctx)),
  dismissFirstSteps: rootProcedure.meta({ barrier: 'none' }).mutation(({ ctx }) => dismissFirstSteps(ctx)),
  probe: adminProcedure.query(({ ctx }) => service.probeDatabase(ctx)),
})
