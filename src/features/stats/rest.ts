import { instant, seconds } from '#rest/read.ts'
import { binder, type CallerOf, type RestRequest, type RouteTable } from '#rest/route.ts'
import type { HourlyUsage } from './view.ts'
import type { statsAdminRouter, statsUserRouter } from './router.ts'

type Api = { user: { stats: CallerOf<typeof statsUserRouter> }; admin: { stats: CallerOf<typeof statsAdminRouter> } }

const bind = binder<Api>()

const toQuotaData = (usage: HourlyUsage) => ({
  id: usage.id,
  user_id: usage.userId,
  username: usage.username,
  model_name: usage.modelName,
  created_at: seconds(usage.hour),
  token_used: usage.tokens,
  count: usage.count,
  quota: usage.quota,
})

/** Both bounds always count; one that is not given is the beginning of time. */
const range = ({ query }: RestRequest) => ({
  start: instant(query['start_timestamp']) ?? new Date(0),
  end: instant(query['end_timestamp']) ?? new Date(0),
})

const list = (usages: HourlyUsage[]) => usages.map(toQuotaData)

export const statsRoutes: RouteTable<Api> = {
  'GET /api/data/': bind((api) => api.admin.stats.usage, {
    input: (request) => ({ ...range(request), username: request.query['username'] ?? '' }),
    reply: list,
  }),
  'GET /api/data/self': bind((api) => api.user.stats.usage, { input: range, reply: list }),
}
