import { adminProcedure, idempotent, router, userProcedure } from '#features/procedures.ts'
import * as schema from './schema.ts'
import * as service from './service.ts'
import { buyPlan, listOffers, orderPlan } from './shop.ts'
import * as subscriptions from './subscriptions.ts'

export const plansUserRouter = router({
  list: userProcedure.query(({ ctx }) => listOffers(ctx)),
  buy: userProcedure
    .meta({ limit: 'critical', barrier: 'none' })
    .use(idempotent)
    .input(schema.buyPlan)
    .mutation(({ ctx, input }) => buyPlan(ctx, input)),
  pay: userProcedure
    .meta({ limit: 'critical', barrier: 'none' })
    .input(schema.orderPlan)
    .mutation(({ ctx, input }) => orderPlan(ctx, input)),
})

export const subscriptionsUserRouter = router({
  list: userProcedure.query(({ ctx }) => subscriptions.listOwnSubscriptions(ctx)),
  cancel: userProcedure
    .input(schema.byId)
    .mutation(({ ctx, input }) => subscriptions.cancelOwnSubscription(ctx, input)),
})

const givingAway = adminProcedure.meta({ verification: 'recent' })

export const plansAdminRouter = router({
  list: adminProcedure.query(({ ctx }) => service.listPlans(ctx)),
  currencies: adminProcedure.query(({ ctx }) => service.currenciesOf(ctx)),
  /** A plan says how much quota a price buys. */
  create: givingAway.input(schema.planForm).mutation(({ ctx, input }) => service.createPlan(ctx, input)),
  update: givingAway.input(schema.updatePlan).mutation(({ ctx, input }) => service.updatePlan(ctx, input)),
  remove: adminProcedure.input(schema.byId).mutation(({ ctx, input }) => service.removePlan(ctx, input)),
})

export const subscriptionsAdminRouter = router({
  list: adminProcedure
    .input(schema.listSubscriptions)
    .query(({ ctx, input }) => subscriptions.listSubscriptions(ctx, input)),
  end: adminProcedure
    .meta({ verification: (input) => Number((input as { refund?: unknown } | null)?.refund ?? 0) !== 0 })
    .input(schema.endSubscription)
    .mutation(({ ctx, input }) => subscriptions.endSubscription(ctx, input)),
})
