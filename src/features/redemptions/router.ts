import { adminProcedure, idempotent, router, userProcedure } from '#features/procedures.ts'
import { listOwnUses, redeem } from './redeem.ts'
import * as schema from './schema.ts'
import * as service from './service.ts'

export const redemptionsUserRouter = router({
  /** Once for an `Idempotency-Key`. */
  redeem: userProcedure
    .meta({ barrier: 'none' })
    .input(schema.redeem)
    .mutation(({ ctx, input }) => redeem(ctx, input)),
  uses: userProcedure.input(schema.listUses).query(({ ctx, input }) => listOwnUses(ctx, input)),
})

export const redemptionsAdminRouter = router({
  list: adminProcedure.input(schema.listRedemptions).query(({ ctx, input }) => service.listRedemptions(ctx, input)),
  get: adminProcedure.input(schema.byRedemptionId).query(({ ctx, input }) => service.getRedemption(ctx, input)),
  /** Codes are money for whoever has them. */
  create: adminProcedure
    .meta({ verification: 'recent' })
    .use(idempotent)
    .input(schema.createRedemptions)
    .mutation(({ ctx, input }) => service.createRedemptions(ctx, input)),
  update: adminProcedure
    .meta({ verification: 'recent' })
    .input(schema.updateRedemption)
    .mutation(({ ctx, input }) => service.updateRedemption(ctx, input)),
  setStatus: adminProcedure
    .input(schema.setRedemptionStatus)
    .mutation(({ ctx, input }) => service.setRedemptionStatus(ctx, input)),
  remove: adminProcedure
    .input(schema.byRedemptionId)
    .mutation(({ ctx, input }) => service.removeRedemption(ctx, input)),
  countByName: adminProcedure.input(schema.byRedemptionName).query(({ ctx, input }) => service.countByName(ctx, input)),
  removeByName: adminProcedure
    .input(schema.byRedemptionName)
    .mutation(({ ctx, input }) => service.removeByName(ctx, input)),
  disable: adminProcedure
    .input(schema.disableRedemptions)
    .mutation(({ ctx, input }) => service.disableRedemptions(ctx, input)),
  removeDisabled: adminProcedure.mutation(({ ctx }) => service.removeDisabled(ctx)),
  /** Writes into the audit log, so it is no query. */
  export: adminProcedure
    .meta({ verification: 'recent' })
    .input(schema.exportRedemptions)
    .mutation(({ ctx, input }) => service.exportRedemptions(ctx, input)),
})
