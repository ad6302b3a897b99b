import { adminProcedure, router, userProcedure } from '#features/procedures.ts'
import * as schema from './schema.ts'
import * as service from './service.ts'

export const spendCapsUserRouter = router({
  list: userProcedure.query(({ ctx }) => service.listOwnCaps(ctx)),
  raise: userProcedure.input(schema.raiseCap).mutation(({ ctx, input }) => service.raiseOwnCap(ctx, input)),
})

export const spendCapsAdminRouter = router({
  list: adminProcedure.input(schema.ofUser).query(({ ctx, input }) => service.listCapsOfUser(ctx, input)),
  set: adminProcedure.input(schema.setOfUser).mutation(({ ctx, input }) => service.setCapsOfUser(ctx, input)),
  raise: adminProcedure.input(schema.raiseCap).mutation(({ ctx, input }) => service.raiseCapOfUser(ctx, input)),
})
