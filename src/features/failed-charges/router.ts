import { rootProcedure, router } from '#features/procedures.ts'
import * as schema from './schema.ts'
import * as service from './service.ts'

export const failedChargesAdminRouter = router({
  list: rootProcedure.query(({ ctx }) => service.listFailedCharges(ctx)),
  get: rootProcedure.input(schema.byChargeId).query(({ ctx, input }) => service.getFailedCharge(ctx, input)),
  book: rootProcedure.input(schema.bookCharge).mutation(({ ctx, input }) => service.bookCharge(ctx, input)),
})
