import { rootProcedure, router } from '#features/procedures.ts'
import * as connection from './connection-tests.ts'
import * as mapping from './mapping-service.ts'
import { isGuardedOption, resetsGuardedOption, savesGuardedOption } from './guarded.ts'
import { discoverOidc, resetOptions, saveOptions, testMail, updateModelMapping, updateOption } from './schema.ts'
import * as service from './service.ts'

export const optionsAdminRouter = router({
  list: rootProcedure.query(({ ctx }) => service.listOptions(ctx)),
  texts: rootProcedure.query(({ ctx }) => service.listOptionTexts(ctx)),
  update: rootProcedure
    .meta({ verification: (input) => isGuardedOption((input as { key?: unknown } | null)?.key) })
    .input(updateOption)
    .mutation(({ ctx, input }) => service.updateOption(ctx, input)),
  save: rootProcedure
    .meta({ verification: savesGuardedOption })
    .input(saveOptions)
    .mutation(({ ctx, input }) => service.saveOptions(ctx, input)),
  reset: rootProcedure
    .meta({ verification: resetsGuardedOption })
    .input(resetOptions)
    .mutation(({ ctx, input }) => service.resetOptions(ctx, input)),
  testMail: rootProcedure.input(testMail).mutation(({ ctx, input }) => connection.testMail(ctx, input)),
  testOidc: rootProcedure.mutation(({ ctx }) => connection.testOidc(ctx)),
  discoverOidc: rootProcedure.input(discoverOidc).mutation(({ ctx, input }) => connection.discoverOidc(ctx, input)),
  resetModelRatio: rootProcedure.meta({ verification: 'recent' }).mutation(({ ctx }) => service.resetModelRatio(ctx)),
  mapping: router({
    get: rootProcedure.query(({ ctx }) => mapping.getModelMapping(ctx)),
    update: rootProcedure
      .input(updateModelMapping)
      .mutation(({ ctx, input }) => mapping.updateModelMapping(ctx, input)),
    reload: rootProcedure.mutation(({ ctx }) => mapping.reloadModelMapping(ctx)),
  }),
})
