import type { Request, Response } from 'express'
import { readMoney } from '#core/payment/money.ts'
import { clientNetwork } from '../client-address/service.ts'
import type { Services } from '../deps.ts'
import { readBody } from '../request-bodies/read-body.ts'
import { epayCurrency, isEpayReady, isEpaySignature, type Parameters } from './gateways/epay.ts'
import {
  fetchStripeObject,
  isStripeReady,
  isStripeSignature,
  readStripeEvent,
  type StripeEvent,
  stripeMode,
} from './gateways/stripe.ts'
import { noteDispute, noteFailedRefund, noteRefund } from './gateway-events.ts'
import { moveUnpaid, receivePayment } from './notification.ts'

type Exchange = { req: Request; res: Response }

const largest = 256 * 1024

const bytesOf = async (services: Services, exchange: Exchange): Promise<Buffer> =>
  (await readBody(services.bodies, exchange, { address: clientNetwork(services, exchange.req), largest })).bytes

/** A name that comes twice could be signed as one and read as the other. */
function soleParameters(search: URLSearchParams): Parameters | null {
  const names = [...search.keys()]
  return new Set(names).size === names.length ? Object.fromEntries(search) : null
}

async function epayParameters(services: Services, exchange: Exchange): Promise<Parameters | null> {
  const { method, originalUrl } = exchange.req
  const query = originalUrl.includes('?') ? originalUrl.slice(originalUrl.indexOf('?') + 1) : ''
  const form = method === 'POST' ? (await bytesOf(services, exchange)).toString('utf8') : ''
  return soleParameters(new URLSearchParams(form === '' ? query : form))
}

/** `success` once the credit is committed or there is nothing to credit; `fail` makes the gateway ask again. */
export async function answerEpay(services: Services, exchange: Exchange): Promise<void> {
  const answer = await processEpay(services, exchange).catch((error: unknown) => {
    services.log.error({ err: error }, 'a payment notification could not be worked on')
    return 'fail' as const
  })
  exchange.res.type('text/plain').send(answer)
}

async function processEpay(services: Services, exchange: Exchange): Promise<'success' | 'fail'> {
  if (!isEpayReady(services)) return 'fail'
  const parameters = await epayParameters(services, exchange)
  if (!parameters || !isEpaySignature(parameters, services.options.get('EpayKey'))) return 'fail'
  const { trade_status: status, out_trade_no: tradeNo = '', money = '', pid = '', trade_no: paymentId } = parameters
  if (status !== 'TRADE_SUCCESS') return 'success'
  const verdict = await receivePayment(services, {
    gateway: 'epay',
    tradeNo,
    moneyMinor: readMoney(money, epayCurrency),
    currency: epayCurrency,
    merchant: pid,
    paymentId: paymentId || undefined,
  })
  return verdict === 'refused' ? 'fail' : 'success'
}

/** The signature is of the bytes as they came. Whatever is not answered with 200 is sent again. */
export async function answerStripe(services: Services, exchange: Exchange): Promise<void> {
  const { req, res } = exchange
  try {
    const body = await bytesOf(services, exchange)
    const signature = req.get('stripe-signature') ?? ''
    if (!isStripeReady(services) || !isStripeSignature(services, signature, body)) {
      res.status(400).json({ received: false })
      return
    }
    const taken = await processStripe(services, body)
    res.status(taken ? 200 : 400).json({ received: taken })
  } catch (error) {
    services.log.error({ err: error }, 'a payment notification could not be worked on')
    if (!res.headersSent) res.status(503).json({ received: false })
  }
}

/** False where the event cannot be read, is of the other mode, or does not fit its order. */
async function processStripe(services: Services, body: Buffer): Promise<boolean> {
  const event = readEvent(services, body)
  if (event === null) return true
  if (event === 'unreadable') return false
  const mode = event.livemode ? 'live' : 'test'
  if (mode !== stripeMode(services)) return false
  return takeStripeEvent(services, { mode, event: 'data' in event ? event : await fetchStripeObject(services, event) })
}

function readEvent({ log }: Services, body: Buffer): ReturnType<typeof readStripeEvent> | 'unreadable' {
  try {
    return readStripeEvent(body)
  } catch (error) {
    log.error({ err: error }, 'a signed payment notification cannot be read')
    return 'unreadable'
  }
}

const moneyOf = ({ amount, currency }: { amount: number; currency: string }) => ({
  minor: amount,
  currency: currency.toUpperCase(),
})

/** False where the payment does not fit its order. */
async function takeStripeEvent(
  services: Services,
  { mode, event }: { mode: 'live' | 'test'; event: StripeEvent },
): Promise<boolean> {
  switch (event.type) {
    case 'checkout.session.completed':
    case 'checkout.session.async_payment_succeeded': {
      const { object } = event.data
      const of = { gateway: 'stripe', tradeNo: object.client_reference_id ?? '' } as const
      // Paid by something slow: the word that it has arrived comes later.
      if (object.payment_status !== 'paid') {
        await moveUnpaid(services, of, 'processing')
        return true
      }
      const verdict = await receivePayment(services, {
        ...of,
        moneyMinor: object.amount_total ?? null,
        currency: (object.currency ?? '').toUpperCase(),
        merchant: mode,
        checkoutId: object.id,
        paymentId: object.payment_intent ?? undefined,
      })
      return verdict !== 'refused'
    }
    case 'checkout.session.async_payment_failed':
    case 'checkout.session.expired': {
      const { client_reference_id: tradeNo } = event.data.object
      const status = event.type === 'checkout.session.expired' ? 'expired' : 'failed'
      if (tradeNo) await moveUnpaid(services, { tradeNo, gateway: 'stripe' }, status)
      return true
    }
    case 'charge.refunded': {
      const { metadata, payment_intent: paymentId, amount_refunded: refunded, refunded: isFull } = event.data.object
      const named = { tradeNo: metadata?.['trade_no'], paymentId: paymentId ?? undefined, mode }
      await noteRefund(services, named, { refundedMinor: refunded ?? 0, isFull: isFull ?? false })
      return true
    }
    case 'refund.failed': {
      const { id, payment_intent: paymentId } = event.data.object
      const money = moneyOf(event.data.object)
      await noteFailedRefund(services, { paymentId: paymentId ?? undefined, mode }, { id, money })
      return true
    }
    case 'charge.dispute.created':
    case 'charge.dispute.closed': {
      const { id, payment_intent: paymentId, reason, status } = event.data.object
      // An inquiry of the payer's bank that became no dispute ends as a warning.
      const isWon = status === 'won' || status === 'warning_closed'
      const state = event.type === 'charge.dispute.created' ? 'open' : isWon ? 'won' : 'lost'
      const money = moneyOf(event.data.object)
      await noteDispute(
        services,
        { paymentId: paymentId ?? undefined, mode },
        { id, state, reason: reason ?? '', money },
      )
      return true
    }
  }
}
