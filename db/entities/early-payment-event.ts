import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

/** What a gateway says of a payment beside that it was made. */
export type GatewayEvent =
  | { kind: 'refund'; refundedMinor: number; isFull: boolean }
  | { kind: 'refund_failed'; id: string; money: { minor: number; currency: string } }
  | {
      kind: 'dispute'
      id: string
      state: 'open' | 'won' | 'lost'
      reason: string
      /** What is disputed of the payment; all of it where this does not say. */
      money?: { minor: number; currency: string }
    }

/** Said of a payment before the payment itself; applied when its order learns the payment. */
export const EarlyPaymentEvent = defineEntity({
  name: 'EarlyPaymentEvent',
  tableName: 'early_payment_events',
  properties: {
    merchant: p.text().primary(),
    paymentId: p.text().primary(),
    /** Distinguishes it from the others of its payment. */
    key: p.text().primary(),
    event: p.json().$type<GatewayEvent>(),
    createdAt: p.datetime().defaultRaw('clock_timestamp()').index(),
  },
})

export type EarlyPaymentEvent = InferEntity<typeof EarlyPaymentEvent>
