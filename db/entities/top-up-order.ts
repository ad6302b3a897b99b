import type { PlanTerms } from './plan.ts'
import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

/** One order over any gateway: what was asked for, what it buys, and how far it is. */
export const TopUpOrder = defineEntity({
  name: 'TopUpOrder',
  tableName: 'top_up_orders',
  indexes: [{ properties: ['status', 'createdAt'] }],
  properties: {
    id: p.integer().primary().autoincrement(),
    userId: p.integer().index(),
    /** What is credited once it is paid. */
    quota: p.bigint('number'),
    /** ISO 4217, upper case. */
    currency: p.text(),
    /** What the gateway asks for, in the smallest unit of the currency. */
    moneyMinor: p.bigint('number'),
    gateway: p.text(),
    /** How it is paid, as the gateway calls it. */
    method: p.text().default(''),
    /** Whom the money goes to: the merchant's number at the gateway. */
    merchant: p.text().default(''),
    tradeNo: p.text().unique(),
    /** The gateway's own number of what the payer was sent to. */
    checkoutId: p.text().nullable().unique(),
    /** The gateway's own number of the payment itself. */
    paymentId: p.text().nullable().index(),
    status: p.text().$type<OrderStatus>().default('pending'),
    refundedMinor: p.bigint('number').defaultRaw('0'),
    /** What its payer disputes of the money, or has got back by a dispute. */
    disputedMinor: p.bigint('number').defaultRaw('0'),
    createdAt: p.datetime().defaultRaw('now()'),
    paidAt: p.datetime().nullable(),
    /** The plan it buys instead of credit, and the terms under which it was ordered. */
    planId: p.integer().nullable(),
    plan: p.json().$type<PlanTerms>().nullable(),
    /** When an administrator took the credit back, and how much of it. */
    reversedAt: p.datetime().nullable(),
    reversedQuota: p.bigint('number').defaultRaw('0'),
  },
})

export type OrderStatus = 'pending' | 'processing' | 'paid' | 'refunded' | 'disputed' | 'expired' | 'failed'

export type TopUpOrder = InferEntity<typeof TopUpOrder>
