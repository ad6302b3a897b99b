import { givenNumber, text } from '#rest/read.ts'
import { asObject, asRecord, asText, sameText } from '#rest/reply.ts'
import { binder, type CallerOf, raw, type RestRequest, type RouteTable } from '#rest/route.ts'
import type { Started } from './gateways/gateway.ts'
import { answerEpay, answerStripe } from './callbacks.ts'
import type { ordersUserRouter } from './router.ts'

type Api = { user: { orders: CallerOf<typeof ordersUserRouter> } }

type Services = Parameters<typeof answerEpay>[0]

const bind = binder<Api>()

const amountOf = ({ body }: RestRequest) => ({ amount: givenNumber(body, 'amount') ?? 0 })

export const orderRoutes: RouteTable<Api, Services> = {
  'POST /api/user/amount': bind((api) => api.user.orders.quote, {
    input: amountOf,
    reply: asText('money'),
    envelope: 'message-only',
  }),
  'POST /api/user/pay': bind((api) => api.user.orders.pay, {
    // Whatever is not called `zfb` is paid the other way.
    input: (request) => ({
      ...amountOf(request),
      method: text(request.body['payment_method']) === 'zfb' ? ('zfb' as const) : ('wx' as const),
    }),
    reply: asRecord((started: Started) => Object.entries(started.kind === 'form' ? started.fields : {}), sameText),
    topLevel: asObject({ url: asText('url') }),
    envelope: 'message-only',
  }),
  'GET /api/user/epay/notify': raw<Services>(answerEpay),
  'POST /api/user/epay/notify': raw<Services>(answerEpay),
  'POST /api/user/stripe/webhook': raw<Services>(answerStripe),
}
