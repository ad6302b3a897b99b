import { adminProcedure, router, userProcedure } from '#features/procedures.ts'
import * as schema from './schema.ts'
import * as list from './service/list.ts'

export const tasksUserRouter = router({
  drawings: userProcedure.input(schema.listOwnDrawings).query(({ ctx, input }) => list.listOwnDrawings(ctx, input)),
  drawing: userProcedure.input(schema.oneTask).query(({ ctx, input }) => list.getDrawing(ctx, input)),
  musicTasks: userProcedure
    .input(schema.listOwnMusicTasks)
    .query(({ ctx, input }) => list.listOwnMusicTasks(ctx, input)),
  musicTask: userProcedure.input(schema.oneTask).query(({ ctx, input }) => list.getMusicTask(ctx, input)),
})

export const tasksAdminRouter = router({
  drawings: adminProcedure.input(schema.listDrawings).query(({ ctx, input }) => list.listDrawings(ctx, input)),
  musicTasks: adminProcedure.input(schema.listMusicTasks).query(({ ctx, input }) => list.listMusicTasks(ctx, input)),
})
