import { adminProcedure, router, userProcedure } from '#features/procedures.ts'
import { pay, quote } from './pay.ts'
import { reverseOrder } from './reversal.ts'
import * as schema from './schema.ts'
import * as service from './service.ts'

export const ordersUserRouter = router({
  quote: userProcedure.input(schema.quote).query(({ ctx, input }) => quote(ctx, input)),
  pay: userProcedure
    .meta({ limit: 'critical', barrier: 'none' })
    .input(schema.pay)
    .mutation(({ ctx, input }) => pay(ctx, input)),
  list: userProcedure.input(schema.listOwnOrders).query(({ ctx, input }) => service.listOwnOrders(ctx, input)),
  get: userProcedure.input(schema.byTradeNo).query(({ ctx, input }) => service.getOwnOrder(ctx, input)),
})

export const ordersAdminRouter = router({
  list: adminProcedure.input(schema.listOrders).query(({ ctx, input }) => service.listOrders(ctx, input)),
  get: adminProcedure.input(schema.byOrderId).query(({ ctx, input }) => service.getOrder(ctx, input)),
  complete: adminProcedure
    .meta({ verification: 'recent' })
    .input(schema.actOnOrder)
    .mutation(({ ctx, input }) => service.completeOrder(ctx, input)),
  reverse: adminProcedure.input(schema.actOnOrder).mutation(({ ctx, input }) => reverseOrder(ctx, input)),
})
