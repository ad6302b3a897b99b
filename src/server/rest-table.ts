import { channelRoutes } from '#features/channels/rest.ts'
import { groupRoutes } from '#features/groups/rest.ts'
import { authRoutes } from '#features/auth/rest.ts'
import { identityRoutes } from '#features/identities/rest.ts'
import { logRoutes } from '#features/logs/rest.ts'
import { messageRoutes } from '#features/messages/rest.ts'
import { modelRoutes } from '#features/models/rest.ts'
import { optionRoutes } from '#features/options/rest.ts'
import { orderRoutes } from '#features/orders/rest.ts'
import { redemptionRoutes } from '#features/redemptions/rest.ts'
import { secondFactorRoutes } from '#features/second-factor/rest.ts'
import { siteRoutes } from '#features/site/rest.ts'
import { statsRoutes } from '#features/stats/rest.ts'
import { taskRoutes } from '#features/tasks/rest.ts'
import { tokenRoutes } from '#features/tokens/rest.ts'
import { userRoutes } from '#features/users/rest.ts'
import type { Services } from '#features/deps.ts'
import type { RouteTable } from '#rest/route.ts'
import type { Api } from './app-router.ts'
import { documentRoutes } from './openapi/routes.ts'

/** Every documented path that is served. */
export const restTable: RouteTable<Api, Services> = {
  ...siteRoutes,
  ...authRoutes,
  ...identityRoutes,
  ...userRoutes,
  ...secondFactorRoutes,
  ...tokenRoutes,
  ...channelRoutes,
  ...groupRoutes,
  ...modelRoutes,
  ...optionRoutes,
  ...redemptionRoutes,
  ...orderRoutes,
  ...logRoutes,
  ...taskRoutes,
  ...statsRoutes,
  ...messageRoutes,
  ...documentRoutes(() => restTable),
}
