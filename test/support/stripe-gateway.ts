import { createHmac, randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import { listenLocally } from './local-server.ts'

type Session = {
  id: string
  tradeNo: string
  amount: number
  currency: string
  paymentIntent: string
  form: Record<string, string>
}

type Dispute = { status: string; id?: string }

type Shown = Record<string, unknown> & { id: string }

type Failure = number | 'hang up' | { status: number; code: string }

type EventChanges = { livemode?: boolean; object?: Record<string, unknown> }

/** A payment provider in the form of Stripe: it makes checkout pages, and signs what it says about them. */
export async function startStripeGateway(given: { secretKey: string; webhookSecret: string }) {
  const byKey = new Map<string, Session>()
  const requests: { url: string; headers: Record<string, string>; form: Record<string, string> }[] = []
  const objects = new Map<string, Record<string, unknown>>()
  let failures: Failure[] = []
  const held: { arrived: () => void; released: Promise<void> }[] = []

  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = []
    for await (const chunk of req) chunks.push(chunk as Buffer)
    const form = Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString()))
    requests.push({ url: req.url ?? '', headers: req.headers as Record<string, string>, form })
    const hold = held.shift()
    hold?.arrived()
    await hold?.released
    const failure = failures.shift()
    if (failure === 'hang up') return void req.socket.destroy()
    if (failure !== undefined) {
      const { status, code } = typeof failure === 'number' ? { status: failure, code: undefined } : failure
      return void res.writeHead(status).end(JSON.stringify({ error: { code, message: 'no' } }))
    }
    if (req.headers.authorization !== `Bearer ${given.secretKey}`) return void res.writeHead(401).end('{}')
    const object = objects.get(`${req.method} ${req.url}`)
    if (object) return void res.end(JSON.stringify(object))
    if (req.method !== 'POST' || req.url !== '/v1/checkout/sessions') return void res.writeHead(404).end('{}')
    const key = String(req.headers['idempotency-key'])
    const id = `cs_test_${randomBytes(12).toString('hex')}`
    const session = byKey.get(key) ?? {
      id,
      tradeNo: form['client_reference_id'] ?? '',
      amount: Number(form['line_items[0][price_data][unit_amount]']),
      currency: form['line_items[0][price_data][currency]'] ?? '',
      paymentIntent: `pi_${randomBytes(8).toString('hex')}`,
      form,
    }
    byKey.set(key, session)
    res.writeHead(200, { 'content-type': 'application/json' })
    res.end(JSON.stringify({ id: session.id, url: `${url}/pay/${session.id}`, object: 'checkout.session' }))
  })
  const listening = await listenLocally(server)
  const { url } = listening

  const event = (
    type: string,
    object: Record<string, unknown>,
    { livemode = false, object: more }: EventChanges = {},
  ) =>
    JSON.stringify({
      id: `evt_${randomBytes(8).toString('hex')}`,
      object: 'event',
      type,
      livemode,
      data: { object: { ...object, ...more } },
    })

  const signature = (
    body: string,
    { secret = given.webhookSecret, at = Math.floor(Date.now() / 1000) }: { secret?: string; at?: number } = {},
  ): string => `t=${at},v1=${createHmac('sha256', secret).update(`${at}.${body}`).digest('hex')}`

  return {
    ...listening,
    requests,
    sessions: () => [...byKey.values()],
    /** How the next requests are answered instead. */
    failNext: (...next: Failure[]) => {
      failures = next
    },
    /** Keeps the next request waiting until it is let go. */
    holdNext: () => {
      const [arrival, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      held.push({ arrived: arrival.resolve, released: release.promise })
      return { arrived: arrival.promise, letGo: release.resolve }
    },
    signature,
    checkoutEvent: (type: string, session: Session, changes?: EventChanges): string =>
      event(
        `checkout.session.${type}`,
        {
          id: session.id,
          object: 'checkout.session',
          client_reference_id: session.tradeNo,
          payment_status: 'paid',
          amount_total: session.amount,
          currency: session.currency,
          payment_intent: session.paymentIntent,
        },
        changes,
      ),
    refundEvent: (session: Session, refunded: number, changes?: EventChanges): string =>
      event(
        'charge.refunded',
        {
          id: `ch_${session.paymentIntent}`,
          payment_intent: session.paymentIntent,
          amount_refunded: refunded,
          refunded: refunded >= session.amount,
          currency: session.currency,
          metadata: { trade_no: session.tradeNo },
        },
        changes,
      ),
    /** A payment may be disputed several times, each under a number of its own. */
    disputeEvent: (
      type: 'created' | 'closed',
      { paymentIntent, amount, currency }: Session,
      dispute: Dispute,
    ): string =>
      event(`charge.dispute.${type}`, {
        id: dispute.id ?? `dp_${paymentIntent}`,
        payment_intent: paymentIntent,
        amount,
        currency,
        reason: 'fraudulent',
        status: dispute.status,
      }),
    refundFailedEvent: ({ paymentIntent, currency }: Session, refund: { id: string; amount: number }): string =>
      event('refund.failed', { ...refund, payment_intent: paymentIntent, currency, status: 'failed' }),
    /** An event as endpoints of the payload style "thin" are sent it. Its object is shown at its address from now on. */
    thinEvent: (body: string, related?: { id?: string; url?: string }): string => {
      const { type, livemode, data } = JSON.parse(body) as { type: string; livemode: boolean; data: { object: Shown } }
      const kind = type.slice(0, type.lastIndexOf('.'))
      const id = related?.id ?? data.object.id
      const path = `/v1/${kind === 'charge.dispute' ? 'dispute' : kind.replace('.', '/')}s/${id}`
      objects.set(`GET ${path}`, data.object)
      return JSON.stringify({
        id: `evt_${randomBytes(8).toString('hex')}`,
        object: 'v2.core.event',
        type: `v1.${type}`,
        livemode,
        created: new Date().toISOString(),
        related_object: { id, type: kind, url: path, ...related },
      })
    },
    otherEvent: (type: string): string => event(type, { anything: 1 }),
    /** Brings an event to a merchant. Resolves with the status of its answer. */
    send: async (merchant: string, body: string, header = signature(body)): Promise<number> => {
      const reply = await fetch(`${merchant}/api/user/stripe/webhook`, {
        method: 'POST',
        headers: { 'content-type': 'application/json; charset=utf-8', 'stripe-signature': header },
        body,
      })
      await reply.text()
      return reply.status
    },
  }
}

export type StripeSession = Session
