import { adminProcedure, router } from '#features/procedures.ts'
import * as list from './list.ts'
import * as schema from './schema.ts'

export const auditAdminRouter = router({
  list: adminProcedure.input(schema.listEntries).query(({ ctx, input }) => list.listEntries(ctx, input)),
  get: adminProcedure.input(schema.byEntryId).query(({ ctx, input }) => list.getEntry(ctx, input)),
  actions: adminProcedure.query(({ ctx }) => list.listActions(ctx)),
})
