import { z } from 'zod'
import { instant } from '#core/instant.ts'
import { payMethods } from '#core/payment/methods.ts'
import { pageInput } from '#core/paging.ts'
import { refusal } from '#core/refusal.ts'

export const orderStatuses = ['pending', 'processing', 'paid', 'refunded', 'disputed', 'expired', 'failed'] as const
export const gatewayIds = ['epay', 'stripe'] as const
export type GatewayId = (typeof gatewayIds)[number]

/** What may still be paid. `processing`: the payer has done their part, and the money takes days. */
export const openStatuses = ['pending', 'processing'] as const

/** So long one of a plan is kept for whoever has opened an order of it. */
export const planOrderOpenFor = '35 minutes'

/** An order takes one of its plan's stock while it may soon be paid. */
export const keepsPlace = `status in ('pending', 'processing') and created_at > now() - interval '${planOrderOpenFor}'`

/** A subscription takes one of its plan's stock while it runs, or is to run. */
export const takesPlace = "status = 'active' and ends_at > ledger_clock()"

const orderId = z.int(refusal('input.id_invalid')).min(1, refusal('input.id_invalid')).max(2_147_483_647)

const tradeNo = z
  .string()
  .min(1)
  .max(64)
  .regex(/^[\w-]+$/, refusal('payment.order_unknown'))

const searchText = z
  .string()
  .trim()
  .max(200)
  .regex(/^[^\0]*$/)

/** Dollars where prices are shown in dollars, else units. What is too little or too much is said by the service. */
const amount = z.number().min(-1e16).max(1e16).transform(Math.trunc)

const method = z.enum(payMethods, refusal('payment.method_unknown'))

export const quote = z.object({ amount, method: method.default('zfb') })
export type Quote = z.infer<typeof quote>

export const pay = z.object({ amount, method })
export type Pay = z.infer<typeof pay>

export const byTradeNo = z.object({ tradeNo })

const status = z.enum(['', ...orderStatuses]).default('')

export const listOwnOrders = pageInput.extend({ status })
export type ListOwnOrders = z.infer<typeof listOwnOrders>

export const listOrders = pageInput.extend({
  /** Beginning of an order number, a number of the gateway's, or part of a username. */
  keyword: searchText.default(''),
  status,
  gateway: z.enum(['', ...gatewayIds]).default(''),
  start: instant().optional(),
  end: instant().optional(),
  /** Of those whom the user of this name has invited. */
  invitedBy: searchText.default(''),
})
export type ListOrders = z.infer<typeof listOrders>

export const byOrderId = z.object({ id: orderId })

const reason = z
  .string()
  .trim()
  .min(1, refusal('payment.reason_required'))
  .max(500)
  .regex(/^[^\0]*$/)

export const actOnOrder = z.object({ id: orderId, reason })
export type ActOnOrder = z.infer<typeof actOnOrder>
