import { DomainError } from '#core/errors.ts'
import { mayActOn } from '#core/roles.ts'
import { Session } from '#db/entities/session.ts'
import { Token } from '#db/entities/token.ts'
import { User } from '#db/entities/user.ts'
import { recordAct } from '../../audit/service.ts'
import { endSessionsOf } from '../../auth/session.ts'
import type { UserDeps } from '../../deps.ts'
import type { EndSession } from '../schema.ts'
import { toUserOverview, type UserOverview } from '../view.ts'
import { lockTarget } from './target.ts'

const mostTokens = 100

/**
 * One account with what hangs on it, deleted ones too: their history is still somebody's business.
 * @throws {DomainError} user.not_found, user.target_forbidden
 */
export async function getUserOverview({ em, actor, ambient }: UserDeps, { id }: { id: number }): Promise<UserOverview> {
  const user = await em.findOne(User, { id }, { disableIdentityMap: true })
  if (!user) throw new DomainError('user.not_found')
  if (user.id !== actor.id && !mayActOn(actor.role, user.role)) throw new DomainError('user.target_forbidden')
  const own = { userId: id, deletedAt: null }
  const [tokens, tokenCount] = await em.findAndCount(Token, own, {
    orderBy: { id: 'desc' },
    limit: mostTokens,
    disableIdentityMap: true,
  })
  const sessions = await em.find(
    Session,
    { userId: id, expiresAt: { $gt: ambient.now() } },
    { orderBy: { seenAt: 'desc' }, disableIdentityMap: true },
  )
  const inviter =
    user.inviterId > 0 ? await em.findOne(User, { id: user.inviterId }, { disableIdentityMap: true }) : null
  return toUserOverview(user, { tokens, tokenCount, sessions, inviter })
}

/** Signs an account out of one browser. @throws {DomainError} session.not_found */
export async function endUserSession(deps: UserDeps, { id, session, reason }: EndSession): Promise<void> {
  await deps.em.transactional(async (em) => {
    const scope = { ...deps, em }
    const { target } = await lockTarget(scope, id)
    const one = { publicId: session, userId: id }
    const ended = await em.findOne(Session, one, { disableIdentityMap: true })
    if (!ended || (await em.nativeDelete(Session, one)) === 0) throw new DomainError('session.not_found')
    await recordAct(scope, {
      action: 'users.end_session',
      targetType: 'user',
      targetId: id,
      targetName: target.username,
      before: { clientIp: ended.clientIp, userAgent: ended.userAgent },
      reason,
    })
  })
}

/** Signs an account out everywhere; one's own session stays. */
export async function endUserSessions(
  deps: UserDeps,
  { id, reason }: { id: number; reason: string },
): Promise<{ count: number }> {
  return deps.em.transactional(async (em) => {
    const scope = { ...deps, em }
    const { target } = await lockTarget(scope, id)
    const before = await em.count(Session, { userId: id })
    await endSessionsOf(scope, id, id === deps.actor.id)
    const count = before - (await em.count(Session, { userId: id }))
    await recordAct(scope, {
      action: 'users.end_sessions',
      targetType: 'user',
      targetId: id,
      targetName: target.username,
      before: { sessions: before },
      after: { sessions: before - count },
      reason,
    })
    return { count }
  })
}
