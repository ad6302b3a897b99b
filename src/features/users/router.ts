import { adminProcedure, idempotent, router, userProcedure } from '#features/procedures.ts'
import { names } from '#core/input-names.ts'
import * as schema from './schema.ts'
import * as account from './service/account.ts'
import * as administer from './service/administer.ts'
import { checkIn, getCheckInStatus } from './service/check-in.ts'
import { getInviteCode, transferRewards } from './service/invite.ts'
import { testWebhook } from './service/test-webhook.ts'
import { manageUser } from './service/manage.ts'
import { endUserSession, endUserSessions, getUserOverview } from './service/overview.ts'

const guarded = userProcedure.meta({ verification: 'recent' })
/** What outlasts the session that it comes from. Scripts go on renewing theirs by a system access token. */
const ofOwner = ({ via }: { via: string }) => (via === 'session' ? ('owner' as const) : true)

export const accountUserRouter = router({
  get: userProcedure.query(({ ctx }) => account.getAccount(ctx)),
  /** A name may be changed without being asked again. */
  update: userProcedure
    .meta({ verification: (input) => names(input, ['password']) })
    .input(schema.updateAccount)
    .mutation(({ ctx, input }) => account.updateAccount(ctx, input)),
  remove: guarded.input(schema.removeAccount).mutation(({ ctx, input }) => account.removeAccount(ctx, input)),
  createAccessToken: userProcedure
    .meta({ verification: (_input, actor) => ofOwner(actor) })
    .mutation(({ ctx }) => account.createAccessToken(ctx)),
  setLanguage: userProcedure
    .meta({ barrier: 'none' })
    .input(schema.chooseLanguage)
    .mutation(({ ctx, input }) => account.setLanguage(ctx, input)),
  testWebhook: userProcedure
    .meta({ barrier: 'none', limit: 'critical' })
    .input(schema.testWebhook)
    .mutation(({ ctx, input }) => testWebhook(ctx, input)),
  updateSettings: userProcedure.input(schema.settings).mutation(({ ctx, input }) => account.updateSettings(ctx, input)),
  checkInStatus: userProcedure.query(({ ctx }) => getCheckInStatus(ctx)),
  checkIn: userProcedure.input(schema.checkIn).mutation(({ ctx, input }) => checkIn(ctx, input)),
  inviteCode: userProcedure.mutation(({ ctx }) => getInviteCode(ctx)),
  transferRewards: userProcedure
    .input(schema.transferRewards)
    .mutation(({ ctx, input }) => transferRewards(ctx, input)),
  /** As the documented paths do it: the current password is not asked for, but from a session that is no longer new. */
  overwrite: userProcedure
    .meta({
      verification: (input, actor) =>
        names(input, ['password']) && (names(input, ['currentPassword']) || ofOwner(actor)),
    })
    .input(schema.updateAccount)
    .mutation(({ ctx, input }) => account.overwriteAccount(ctx, input)),
  removeUnasked: guarded.mutation(({ ctx }) => account.removeAccountUnasked(ctx)),
})

export const usersAdminRouter = router({
  list: adminProcedure.input(schema.listUsers).query(({ ctx, input }) => administer.listUsers(ctx, input)),
  get: adminProcedure.input(schema.byUserId).query(({ ctx, input }) => administer.getUser(ctx, input)),
  overview: adminProcedure.input(schema.byUserId).query(({ ctx, input }) => getUserOverview(ctx, input)),
  create: adminProcedure.input(schema.createUser).mutation(({ ctx, input }) => administer.createUser(ctx, input)),
  update: adminProcedure
    .meta({
      verification: (input, actor) =>
        names(input, ['password']) && (input as { id?: unknown }).id === actor.id
          ? ofOwner(actor)
          : names(input, ['quota', 'quotaChange', 'password']),
    })
    .use(idempotent)
    .input(schema.updateUser)
    .mutation(({ ctx, input }) => administer.updateUser(ctx, input)),
  /** Whoever is made an administrator may do with money and secrets what administrators do. */
  manage: adminProcedure
    .meta({ verification: (input) => (input as { action?: unknown } | null)?.action === 'promote' })
    .input(schema.manageUser)
    .mutation(({ ctx, input }) => manageUser(ctx, input)),
  endSession: adminProcedure.input(schema.endSession).mutation(({ ctx, input }) => endUserSession(ctx, input)),
  endSessions: adminProcedure.input(schema.endSessions).mutation(({ ctx, input }) => endUserSessions(ctx, input)),
  remove: adminProcedure.input(schema.byUserId).mutation(({ ctx, input }) => administer.removeUser(ctx, input)),
})
