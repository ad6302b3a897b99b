import { adminProcedure, router, userProcedure } from '#features/procedures.ts'
import * as schema from './schema.ts'
import * as list from './service/list.ts'

export const tasksUserRouter = router({
  drawings: userProcedure.input(schema.listOwnDrawings).query(({ ctx, input }) => list.listOwnDrawings(ctx, input)),
  drawing: userProcedure.input(schema.oneTask).query(({ ctx, input }) => list.getDrawing(ctx, input)),
  jobs: userProcedure.input(schema.listOwnJobs).query(({ ctx, input }) => list.listOwnJobs(ctx, input)),
  job: userProcedure.input(schema.oneTask).query(({ ctx, input }) => list.getJob(ctx, input)),
})

export const tasksAdminRouter = router({
  drawings: adminProcedure.input(schema.listDrawings).query(({ ctx, input }) => list.listDrawings(ctx, input)),
  jobs: adminProcedure.input(schema.listJobs).query(({ ctx, input }) => list.listJobs(ctx, input)),
})
