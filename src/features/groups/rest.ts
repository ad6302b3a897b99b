import type { UsableGroup } from '#core/groups.ts'
import { asNumber, asObject, asRecord, asText, sameList } from '#rest/reply.ts'
import { binder, type CallerOf, type RouteTable } from '#rest/route.ts'
import type { groupsAdminRouter, groupsPublicRouter, groupsUserRouter } from './router.ts'

type Api = {
  public: { groups: CallerOf<typeof groupsPublicRouter> }
  user: { groups: CallerOf<typeof groupsUserRouter> }
  admin: { groups: CallerOf<typeof groupsAdminRouter> }
}

const bind = binder<Api>()

const byName = asRecord(
  (groups: readonly UsableGroup[]) => groups.map((group) => [group.name, group] as const),
  asObject<UsableGroup>({ ratio: asNumber('ratio'), desc: asText('description') }),
)

export const groupRoutes: RouteTable<Api> = {
  'GET /api/group/': bind((api) => api.admin.groups.names, { reply: sameList }),
  'GET /api/user/groups': bind((api) => api.public.groups.list, { reply: byName, userId: 'none' }),
  'GET /api/user/self/groups': bind((api) => api.user.groups.list, { reply: byName }),
}
