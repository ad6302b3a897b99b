import { adminProcedure, publicProcedure, rootProcedure, router, userProcedure } from '#features/procedures.ts'
import { renameGroup } from './rename.ts'
import * as schema from './schema.ts'
import * as service from './service.ts'

export const groupsPublicRouter = router({
  list: publicProcedure.query(({ ctx }) => service.listUsableGroups(ctx)),
})

export const groupsUserRouter = router({
  list: userProcedure.query(({ ctx }) => service.listUsableGroups(ctx)),
})

export const groupsAdminRouter = router({
  names: adminProcedure.query(({ ctx }) => service.listGroupNames(ctx)),
  rename: rootProcedure.input(schema.renameGroup).mutation(({ ctx, input }) => renameGroup(ctx, input)),
})
