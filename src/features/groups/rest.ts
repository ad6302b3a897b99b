import type { UsableGroup } from '#core/groups.ts'
import { bind, type RouteTable } from '#rest/route.ts'

const byName = (groups: UsableGroup[]) =>
  Object.fromEntries(groups.map(({ name, ratio, description }) => [name, { ratio, desc: description }]))

export const groupRoutes: RouteTable = {
  'GET /api/group/': bind((api) => api.admin.groups.names),
  'GET /api/user/groups': bind((api) => api.public.groups.list, { reply: byName, userId: 'none' }),
  'GET /api/user/self/groups': bind((api) => api.user.groups.list, { reply: byName }),
}
