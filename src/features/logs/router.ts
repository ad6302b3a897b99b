import { adminProcedure, router, userProcedure } from '#features/procedures.ts'
import * as clearing from './clearing-run.ts'
import * as nameSums from './name-sums.ts'
import * as schema from './schema.ts'
import * as service from './service.ts'
import * as stat from './stat.ts'
import * as suggestions from './suggest.ts'

export const logsUserRouter = router({
  list: userProcedure.input(schema.listOwnLogs).query(({ ctx, input }) => service.listOwnLogs(ctx, input)),
  get: userProcedure.input(schema.ownLogByRequest).query(({ ctx, input }) => service.getOwnLog(ctx, input)),
  search: userProcedure.input(schema.searchLogs).query(({ ctx, input }) => service.searchOwnLogs(ctx, input)),
  byKey: userProcedure.input(schema.logsByKey).query(({ ctx, input }) => service.listLogsOfKey(ctx, input)),
  suggest: userProcedure.input(schema.suggestOwn).query(({ ctx, input }) => suggestions.suggestOwn(ctx, input)),
  stat: userProcedure.input(schema.ownLogStat).query(({ ctx, input }) => stat.ownLogStat(ctx, input)),
  sums: userProcedure.input(schema.sumOwnLogs).query(({ ctx, input }) => nameSums.ownNameSums(ctx, input)),
})

export const logsAdminRouter = router({
  list: adminProcedure.input(schema.listLogs).query(({ ctx, input }) => service.listLogs(ctx, input)),
  get: adminProcedure.input(schema.oneLog).query(({ ctx, input }) => service.getLog(ctx, input)),
  search: adminProcedure.input(schema.searchLogs).query(({ ctx, input }) => service.searchLogs(ctx, input)),
  suggest: adminProcedure.input(schema.suggest).query(({ ctx, input }) => suggestions.suggest(ctx, input)),
  stat: adminProcedure.input(schema.logFilters).query(({ ctx, input }) => stat.logStat(ctx, input)),
  sums: adminProcedure.input(schema.sumLogs).query(({ ctx, input }) => nameSums.nameSums(ctx, input)),
  clear: adminProcedure.input(schema.clearLogs).mutation(({ ctx, input }) => service.clearLogsByHand(ctx, input)),
  startClearing: adminProcedure
    .input(schema.clearLogs)
    .mutation(({ ctx, input }) => clearing.startClearing(ctx, input)),
  clearing: adminProcedure.query(({ ctx }) => clearing.clearingRun(ctx)),
  cancelClearing: adminProcedure.mutation(({ ctx }) => clearing.cancelClearing(ctx)),
})
