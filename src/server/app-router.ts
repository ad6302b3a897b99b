import type { inferRouterInputs, inferRouterOutputs } from '@trpc/server'
import { auditAdminRouter } from '#features/audit/router.ts'
import { authRouter } from '#features/auth/router.ts'
import { attentionAdminRouter } from '#features/attention/router.ts'
import { channelsAdminRouter } from '#features/channels/router.ts'
import { failedChargesAdminRouter } from '#features/failed-charges/router.ts'
import { groupsAdminRouter, groupsPublicRouter, groupsUserRouter } from '#features/groups/router.ts'
import { bindingsUserRouter, identitiesRouter } from '#features/identities/router.ts'
import { jobsAdminRouter } from '#features/jobs/router.ts'
import { logsAdminRouter, logsUserRouter } from '#features/logs/router.ts'
import { messagesAdminRouter, messagesUserRouter } from '#features/messages/router.ts'
import { modelsAdminRouter, modelsPublicRouter, modelsUserRouter } from '#features/models/router.ts'
import { optionsAdminRouter } from '#features/options/router.ts'
import { ordersAdminRouter, ordersUserRouter } from '#features/orders/router.ts'
import { redemptionsAdminRouter, redemptionsUserRouter } from '#features/redemptions/router.ts'
import {
  secondFactorAdminRouter,
  secondFactorPublicRouter,
  secondFactorUserRouter,
} from '#features/second-factor/router.ts'
import { sessionsUserRouter } from '#features/sessions/router.ts'
import {
  plansAdminRouter,
  plansUserRouter,
  subscriptionsAdminRouter,
  subscriptionsUserRouter,
} from '#features/plans/router.ts'
import { pricesAdminRouter } from '#features/prices/router.ts'
import { siteAdminRouter, siteRouter } from '#features/site/router.ts'
import { spendCapsAdminRouter, spendCapsUserRouter } from '#features/spend-caps/router.ts'
import { statsAdminRouter, statsUserRouter } from '#features/stats/router.ts'
import { systemAdminRouter } from '#features/system/router.ts'
import { tasksAdminRouter, tasksUserRouter } from '#features/tasks/router.ts'
import { tokensUserRouter } from '#features/tokens/router.ts'
import { accountUserRouter, usersAdminRouter } from '#features/users/router.ts'
import { walletUserRouter } from '#features/wallet/router.ts'
import { createCallerFactory, mergeRouters, router } from '#features/procedures.ts'

export const appRouter = router({
  site: siteRouter,
  auth: mergeRouters(authRouter, identitiesRouter),
  public: router({
    groups: groupsPublicRouter,
    models: modelsPublicRouter,
    secondFactor: secondFactorPublicRouter,
  }),
  user: router({
    account: mergeRouters(accountUserRouter, router({ bindings: bindingsUserRouter })),
    secondFactor: secondFactorUserRouter,
    sessions: sessionsUserRouter,
    tokens: tokensUserRouter,
    spendCaps: spendCapsUserRouter,
    wallet: walletUserRouter,
    orders: ordersUserRouter,
    plans: plansUserRouter,
    subscriptions: subscriptionsUserRouter,
    redemptions: redemptionsUserRouter,
    groups: groupsUserRouter,
    models: modelsUserRouter,
    logs: logsUserRouter,
    tasks: tasksUserRouter,
    stats: statsUserRouter,
    messages: messagesUserRouter,
  }),
  admin: router({
    site: siteAdminRouter,
    users: usersAdminRouter,
    spendCaps: spendCapsAdminRouter,
    secondFactor: secondFactorAdminRouter,
    channels: channelsAdminRouter,
    groups: groupsAdminRouter,
    models: modelsAdminRouter,
    prices: pricesAdminRouter,
    attention: attentionAdminRouter,
    options: optionsAdminRouter,
    orders: ordersAdminRouter,
    plans: plansAdminRouter,
    subscriptions: subscriptionsAdminRouter,
    redemptions: redemptionsAdminRouter,
    jobs: jobsAdminRouter,
    system: systemAdminRouter,
    failedCharges: failedChargesAdminRouter,
    logs: logsAdminRouter,
    tasks: tasksAdminRouter,
    stats: statsAdminRouter,
    audit: auditAdminRouter,
    messages: messagesAdminRouter,
  }),
})

export type AppRouter = typeof appRouter
export type RouterInputs = inferRouterInputs<AppRouter>
export type RouterOutputs = inferRouterOutputs<AppRouter>

export const createCaller = createCallerFactory(appRouter)
/** The typed in-process caller that REST rows bind to. */
export type Api = ReturnType<typeof createCaller>
