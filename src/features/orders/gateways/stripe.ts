import { createHmac, timingSafeEqual } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { DomainError } from '#core/errors.ts'
import type { TopUpOrder } from '#db/entities/top-up-order.ts'
import { endsWithin } from '#relay/upstream-call/timeouts.ts'
import { type SendRequest, TransportError } from '#relay/transport/send.ts'
import { sendUnsigned } from '#relay/upstream-call/send.ts'
import type { Services } from '../../deps.ts'
import { publicAddress } from '../../site/public-address.ts'
import { isRealSecret } from './placeholder.ts'

/** The form of the API that is spoken here; newer ones are not sent to us. */
const apiVersion = '2024-06-20'
const timeoutMs = 20_000
const largestAnswer = 1_048_576
const askAgainMs = 250
/** The provider takes no less than half an hour. */
const planPageSeconds = 31 * 60
/** How far the time in a signature may be from ours. */
const toleranceSeconds = 300

type Reading = Pick<Services, 'options'>

const secretsOf = ({ options }: Reading): string[] =>
  options
    .get('stripe.webhook_secret')
    .split(/[\s,]+/)
    .filter((secret) => isRealSecret(secret))

export const isStripeReady = (services: Reading): boolean =>
  isRealSecret(services.options.get('stripe.secret_key')) && secretsOf(services).length > 0

export const stripeCurrency = ({ options }: Reading): string => options.get('stripe.currency').toUpperCase()

/** Payments of the trial mode never pay orders of the real one, and the other way round. */
export const stripeMode = ({ options }: Reading): 'live' | 'test' =>
  /^(?:sk|rk)_live_/.test(options.get('stripe.secret_key')) ? 'live' : 'test'

const addressed = ({ options }: Reading, path: string) => ({
  url: `${options.get('stripe.api_address')}/v1/${path}`,
  headers: { authorization: `Bearer ${options.get('stripe.secret_key')}`, 'stripe-version': apiVersion },
})

const session = z.object({ id: z.string().min(1), url: z.url() })

type Checkout = { id: string; url: string }

/** What the payer can do something about; all else is the operator's matter. */
const amountRefusals = new Map<string | undefined, 'payment.money_too_small' | 'payment.amount_too_large'>([
  ['amount_too_small', 'payment.money_too_small'],
  ['amount_too_large', 'payment.amount_too_large'],
])

const refusal = z.object({ error: z.object({ code: z.string().optional() }) })

function refusalCode(answer: string): string | undefined {
  try {
    return refusal.parse(JSON.parse(answer)).error.code
  } catch {
    return undefined
  }
}

/**
 * A page at Stripe where the order is paid.
 * @throws {DomainError} payment.failed, payment.money_too_small, payment.amount_too_large
 */
export async function createCheckout(
  services: Pick<Services, 'options' | 'environment' | 'transport' | 'log'>,
  order: TopUpOrder,
  name: string,
): Promise<Checkout> {
  const address = publicAddress(services)
  const form = new URLSearchParams({
    mode: 'payment',
    client_reference_id: order.tradeNo,
    'metadata[trade_no]': order.tradeNo,
    // Refunds and disputes come with the payment's own data.
    'payment_intent_data[metadata][trade_no]': order.tradeNo,
    'line_items[0][quantity]': '1',
    'line_items[0][price_data][currency]': order.currency.toLowerCase(),
    'line_items[0][price_data][unit_amount]': String(order.moneyMinor),
    'line_items[0][price_data][product_data][name]': name,
    success_url: `${address}/app/wallet/topup-success?order=${order.tradeNo}`,
    cancel_url: `${address}/app/wallet`,
  })
  // A plan is kept for whoever pays it soon; the page ends before that does.
  if (order.plan) form.set('expires_at', String(Math.floor(order.createdAt.getTime() / 1000) + planPageSeconds))
  const { url, headers } = addressed(services, 'checkout/sessions')
  const request: SendRequest = {
    method: 'POST',
    url,
    headers: {
      ...headers,
      'content-type': 'application/x-www-form-urlencoded',
      'idempotency-key': order.tradeNo,
    },
    body: form.toString(),
    ...endsWithin(timeoutMs),
  }
  const send = async () => {
    const reply = await sendUnsigned(services.transport, request)
    return { status: reply.status, text: await reply.text(largestAnswer) }
  }
  const startedAt = performance.now()
  let code: string | undefined
  try {
    // Under the same key a second request makes no second page.
    let reply = await send().catch((error: unknown) => {
      if (error instanceof TransportError) return send()
      throw error
    })
    // Another node is having this very page made, for a repetition of the payer's request: the answer to both is that page.
    while (reply.status === 409 && performance.now() - startedAt < timeoutMs) {
      await delay(askAgainMs)
      reply = await send()
    }
    const { status, text } = reply
    if (status === 200) return session.parse(JSON.parse(text))
    code = refusalCode(text)
    throw new Error(`the payment provider answered with status ${status}`)
  } catch (cause) {
    services.log.error({ err: cause, code, order: order.tradeNo }, 'a payment page could not be made')
    throw new DomainError(amountRefusals.get(code) ?? 'payment.failed', {}, { cause })
  }
}

/**
 * Whether one of the secrets has signed these very bytes a moment ago. While secrets are exchanged several are known and
 * several signatures come.
 */
export function isStripeSignature(
  services: Reading & Pick<Services, 'ambient'>,
  header: string,
  body: Buffer,
): boolean {
  const parts = header.split(',').map((part) => part.trim().split('=', 2) as [string, string?])
  const stamp = parts.find(([name]) => name === 't')?.[1] ?? ''
  if (!/^\d{1,12}$/.test(stamp)) return false
  if (Math.abs(services.ambient.now().getTime() / 1000 - Number(stamp)) > toleranceSeconds) return false
  const given = parts.flatMap(([name, value]) => (name === 'v1' && value ? [Buffer.from(value)] : []))
  return secretsOf(services).some((secret) => {
    const expected = Buffer.from(createHmac('sha256', secret).update(`${stamp}.`).update(body).digest('hex'))
    return given.some((one) => one.length === expected.length && timingSafeEqual(one, expected))
  })
}

const text = z.string().nullish()
const count = z.int().min(0)

const checkout = z.object({
  id: z.string(),
  client_reference_id: text,
  payment_status: z.string(),
  // Neither is there where nothing is paid, as on pages of other products that keep a card for later.
  amount_total: count.nullish(),
  currency: text,
  payment_intent: text,
})

const charge = z.object({
  id: z.string(),
  payment_intent: text,
  amount_refunded: count.nullish(),
  refunded: z.boolean().nullish(),
  currency: z.string(),
  metadata: z.record(z.string(), z.string()).nullish(),
})

const refund = z.object({ id: z.string(), payment_intent: text, amount: count, currency: z.string() })

const dispute = z.object({
  id: z.string(),
  payment_intent: text,
  amount: count,
  currency: z.string(),
  reason: z.string().nullish(),
  status: z.string(),
})

const eventOf = <Type extends string, Schema extends z.ZodType>(type: Type, object: Schema) =>
  z.object({ id: z.string(), livemode: z.boolean(), type: z.literal(type), data: z.object({ object }) })

/** The events that mean something here, each with the fields that are read. */
const known = z.discriminatedUnion('type', [
  eventOf('checkout.session.completed', checkout),
  eventOf('checkout.session.async_payment_succeeded', checkout),
  eventOf('checkout.session.async_payment_failed', checkout),
  eventOf('checkout.session.expired', checkout),
  eventOf('charge.refunded', charge),
  eventOf('refund.failed', refund),
  eventOf('charge.dispute.created', dispute),
  eventOf('charge.dispute.closed', dispute),
])
export type StripeEvent = z.infer<typeof known>

/** What the endpoint at the provider has to be sent. */
export const stripeEventTypes: readonly string[] = known.options.map((option) => option.shape.type.value)

/** By the beginning of an event's type, where its object is asked for. */
const paths = {
  'checkout.session': 'checkout/sessions',
  charge: 'charges',
  refund: 'refunds',
  'charge.dispute': 'disputes',
} as const

const pathOf = (type: string): string => paths[type.slice(0, type.lastIndexOf('.')) as keyof typeof paths]

/** Stands before the types of events that come without their object. */
const thinPrefix = 'v1.'

const thin = z.object({
  id: z.string(),
  livemode: z.boolean(),
  type: z.string().transform((type) => type.slice(thinPrefix.length)),
  related_object: z.object({ id: z.string().regex(/^\w+$/) }),
})
/** An event as an endpoint of the payload style "thin" is sent it: it names its object, and does not hold it. */
type ThinEvent = z.infer<typeof thin>

const anyEvent = z.object({ id: z.string(), object: text, type: z.string() })

/** Null for an event that means nothing here. @throws for what is none, or lacks what it should have. */
export function readStripeEvent(body: Buffer): StripeEvent | ThinEvent | null {
  const json: unknown = JSON.parse(body.toString('utf8'))
  const { object, type } = anyEvent.parse(json)
  if (object !== 'v2.core.event') return stripeEventTypes.includes(type) ? known.parse(json) : null
  return type.startsWith(thinPrefix) && stripeEventTypes.includes(type.slice(thinPrefix.length))
    ? thin.parse(json)
    : null
}

/**
 * A thin event with its object, as it is now. Of the event nothing but the object's number is taken, so that what is read is
 * what the provider shows to our own key. @throws where it cannot be had
 */
export async function fetchStripeObject(
  services: Reading & Pick<Services, 'transport'>,
  { id, livemode, type, related_object: named }: ThinEvent,
): Promise<StripeEvent> {
  const request = { method: 'GET', ...addressed(services, `${pathOf(type)}/${named.id}`) } as const
  const reply = await sendUnsigned(services.transport, { ...request, ...endsWithin(timeoutMs) })
  const answer = await reply.text(largestAnswer)
  if (reply.status !== 200) throw new Error(`the payment provider answered ${named.id} with status ${reply.status}`)
  const event = known.parse({ id, livemode, type, data: { object: JSON.parse(answer) } })
  if (event.data.object.id !== named.id) throw new Error(`${named.id} was answered with another object`)
  return event
}
