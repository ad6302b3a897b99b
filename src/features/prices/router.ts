import { adminProcedure, rootProcedure, router } from '#features/procedures.ts'
import * as buying from './buying.ts'
import { listPrices } from './list.ts'
import { rehearse } from './rehearsal.ts'
import * as scheduled from './scheduled.ts'
import * as schema from './schema.ts'

/** A price gives calls away as surely as a grant does. */
const pricing = rootProcedure.meta({ verification: 'recent' })

export const pricesAdminRouter = router({
  list: adminProcedure.query(({ ctx }) => listPrices(ctx)),
  rehearse: rootProcedure.input(schema.rehearse).query(({ ctx, input }) => rehearse(ctx, input)),
  changes: adminProcedure.query(({ ctx }) => scheduled.listPriceChanges(ctx)),
  schedule: pricing.input(schema.schedule).mutation(({ ctx, input }) => scheduled.schedulePriceChange(ctx, input)),
  cancel: pricing.input(schema.oneChange).mutation(({ ctx, input }) => scheduled.cancelPriceChange(ctx, input)),
  buying: adminProcedure.input(schema.channelOf).query(({ ctx, input }) => buying.getBuyingPrices(ctx, input)),
  setBuying: adminProcedure
    .input(schema.setBuyingPrices)
    .mutation(({ ctx, input }) => buying.setBuyingPrices(ctx, input)),
  channelMoney: adminProcedure.input(schema.channelOf).query(({ ctx, input }) => buying.channelMoney(ctx, input)),
  channelMargins: adminProcedure.input(schema.channelsOf).query(({ ctx, input }) => buying.channelMargins(ctx, input)),
})
