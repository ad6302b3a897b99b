import { rootProcedure, router } from '#features/procedures.ts'
import { byJobName } from './schema.ts'
import * as service from './service.ts'

export const jobsAdminRouter = router({
  list: rootProcedure.query(({ ctx }) => service.listJobs(ctx)),
  run: rootProcedure.input(byJobName).mutation(({ ctx, input }) => service.runJob(ctx, input)),
  cancel: rootProcedure.input(byJobName).mutation(({ ctx, input }) => service.cancelJob(ctx, input)),
})
