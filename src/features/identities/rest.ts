import { noData, sameText } from '#rest/reply.ts'
import { binder, type CallerOf, type RestRequest, type RouteTable } from '#rest/route.ts'
import type { bindingsUserRouter, identitiesRouter } from './router.ts'

type Api = {
  auth: CallerOf<typeof identitiesRouter>
  user: { account: { bindings: CallerOf<typeof bindingsUserRouter> } }
}

const bind = binder<Api>()

/** Without the header: the browser's session alone says who binds. */
const bySession = { userId: 'none' } as const

const code = ({ query }: RestRequest) => ({ code: query['code'] ?? '' })

const widgetFields = ({ query }: RestRequest) => ({
  fields: Object.fromEntries(
    Object.entries(query).filter((field): field is [string, string] => field[1] !== undefined),
  ),
})

/** What signs in stands with the users, whose documented form it answers in. */
export const identityRoutes: RouteTable<Api> = {
  'GET /api/oauth/state': bind((api) => api.auth.oauth.state, {
    input: ({ query }) => ({ inviteCode: query['aff'] ?? '' }),
    reply: sameText,
    ...bySession,
  }),
  'GET /api/oauth/wechat/bind': bind((api) => api.user.account.bindings.bindWeChat, {
    input: code,
    reply: noData,
    ...bySession,
  }),
  'GET /api/oauth/telegram/bind': bind((api) => api.user.account.bindings.bindTelegram, {
    input: widgetFields,
    reply: noData,
    redirectTo: '/app/me',
    ...bySession,
  }),
}
