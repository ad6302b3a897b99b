import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

export const TopUpOrder = defineEntity({
  name: 'TopUpOrder',
  tableName: 'top_up_orders',
  properties: {
    id: p.integer().primary().autoincrement(),
    userId: p.integer().index(),
    /** Whole US dollars bought. */
    amount: p.integer(),
    /** What the gateway asks for, in its currency, two decimals as text. */
    money: p.text(),
    gateway: p.text().default('epay'),
    tradeNo: p.text().unique(),
    status: p.text().default('pending'),
    createdAt: p.datetime().defaultRaw('now()'),
    paidAt: p.datetime().nullable(),
  },
})

export type TopUpOrder = InferEntity<typeof TopUpOrder>
