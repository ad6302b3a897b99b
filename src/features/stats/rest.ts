import { askedInstant } from '#rest/read.ts'
import { asInteger, asListOf, asObject, asSeconds, asText } from '#rest/reply.ts'
import { binder, type CallerOf, type RestRequest, type RouteTable } from '#rest/route.ts'
import type { HourlyUsage } from './view.ts'
import type { statsAdminRouter, statsUserRouter } from './router.ts'

type Api = { user: { stats: CallerOf<typeof statsUserRouter> }; admin: { stats: CallerOf<typeof statsAdminRouter> } }

const bind = binder<Api>()

const toQuotaData = asObject<HourlyUsage>({
  id: asInteger('id'),
  user_id: asInteger('userId'),
  username: asText('username'),
  model_name: asText('modelName'),
  created_at: asSeconds('hour'),
  token_used: asInteger('tokens'),
  count: asInteger('count'),
  quota: asInteger('quota'),
})

/** Both bounds always count; one that is not given is the beginning of time. */
const range = ({ query }: RestRequest) => ({
  start: askedInstant(query, 'start_timestamp') ?? new Date(0),
  end: askedInstant(query, 'end_timestamp') ?? new Date(0),
})

const list = asListOf(toQuotaData)

export const statsRoutes: RouteTable<Api> = {
  'GET /api/data/': bind((api) => api.admin.stats.usage, {
    input: (request) => ({ ...range(request), username: request.query['username'] ?? '' }),
    reply: list,
  }),
  'GET /api/data/self': bind((api) => api.user.stats.usage, { input: range, reply: list }),
}
