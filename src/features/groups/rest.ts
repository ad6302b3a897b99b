import type { UsableGroup } from '#core/groups.ts'
import { binder, type CallerOf, type RouteTable } from '#rest/route.ts'
import type { groupsAdminRouter, groupsPublicRouter, groupsUserRouter } from './router.ts'

type Api = {
  public: { groups: CallerOf<typeof groupsPublicRouter> }
  user: { groups: CallerOf<typeof groupsUserRouter> }
  admin: { groups: CallerOf<typeof groupsAdminRouter> }
}

const bind = binder<Api>()

const byName = (groups: UsableGroup[]) =>
  Object.fromEntries(groups.map(({ name, ratio, description }) => [name, { ratio, desc: description }]))

export const groupRoutes: RouteTable<Api> = {
  'GET /api/group/': bind((api) => api.admin.groups.names),
  'GET /api/user/groups': bind((api) => api.public.groups.list, { reply: byName, userId: 'none' }),
  'GET /api/user/self/groups': bind((api) => api.user.groups.list, { reply: byName }),
}
