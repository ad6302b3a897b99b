import { publicProcedure, router, userProcedure } from '#features/procedures.ts'
import * as schema from './schema.ts'
import { listBindings, unbindIdentity } from './service/bindings.ts'
import { beginState, finishOAuth, startOAuth } from './service/oauth.ts'
import { bindTelegram, signInByTelegram } from './service/telegram.ts'
import { bindWeChat, signInByWeChat } from './service/wechat.ts'

/** Signing in goes on in a demonstration; accounts and bindings are refused where they would be made. */
const sensitive = publicProcedure.meta({ limit: 'critical', inDemo: true })
/** States are nothing that processes cache. */
const uncached = sensitive.meta({ barrier: 'none' })
const own = userProcedure.meta({ limit: 'critical' })
/** A way to sign in. */
const adding = own.meta({ verification: 'owner' })

/** Signing in by an account elsewhere. */
export const identitiesRouter = router({
  oauth: router({
    state: uncached.input(schema.beginState).mutation(({ ctx, input }) => beginState(ctx, input)),
    start: uncached.input(schema.startOAuth).mutation(({ ctx, input }) => startOAuth(ctx, input)),
    finish: sensitive.input(schema.finishOAuth).mutation(({ ctx, input }) => finishOAuth(ctx, input)),
  }),
  wechat: sensitive.input(schema.wechatCode).mutation(({ ctx, input }) => signInByWeChat(ctx, input)),
  telegram: sensitive.input(schema.telegramLogin).mutation(({ ctx, input }) => signInByTelegram(ctx, input)),
})

/** The accounts elsewhere that belong to one's own. */
export const bindingsUserRouter = router({
  list: userProcedure.query(({ ctx }) => listBindings(ctx)),
  /** Leads to the provider; what comes back from there is `auth.oauth.finish`, as at a sign-in. */
  start: adding
    .meta({ barrier: 'none' })
    .input(schema.startBinding)
    .mutation(({ ctx, input }) => startOAuth(ctx, { ...input, inviteCode: '' })),
  bindWeChat: adding.input(schema.wechatCode).mutation(({ ctx, input }) => bindWeChat(ctx, input)),
  bindTelegram: adding.input(schema.telegramLogin).mutation(({ ctx, input }) => bindTelegram(ctx, input)),
  unbind: own
    .meta({ verification: 'recent' })
    .input(schema.unbind)
    .mutation(({ ctx, input }) => unbindIdentity(ctx, input)),
})
