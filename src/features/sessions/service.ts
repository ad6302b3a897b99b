import { sql } from '@mikro-orm/postgresql'
import { DomainError } from '#core/errors.ts'
import { Session } from '#db/entities/session.ts'
import { recordAct } from '../audit/service.ts'
import { endSessionsOf, sessionCookie } from '../auth/session.ts'
import type { UserDeps } from '../deps.ts'
import { type SessionView, toSessionView } from './view.ts'

/** Where the account is signed in: here first, then as last seen. */
export async function listSessions({ em, actor, session }: UserDeps): Promise<SessionView[]> {
  const found = await em.find(
    Session,
    { userId: actor.id, expiresAt: { $gt: sql.now() } },
    { orderBy: { seenAt: 'desc', createdAt: 'desc' }, limit: 200, disableIdentityMap: true },
  )
  const views = found.map((one) => toSessionView(one, session.idHash))
  return [...views.filter(({ isCurrent }) => isCurrent), ...views.filter(({ isCurrent }) => !isCurrent)]
}

/** @throws {DomainError} session.not_found */
export async function revokeSession(deps: UserDeps, { id }: { id: string }): Promise<void> {
  await deps.em.transactional(async (em) => {
    const own = { publicId: id, userId: deps.actor.id }
    const session = await em.findOne(Session, own, { disableIdentityMap: true })
    if (!session || (await em.nativeDelete(Session, own)) === 0) throw new DomainError('session.not_found')
    if (session.idHash === deps.session.idHash) deps.cookies?.clear(sessionCookie)
    const named = { targetType: 'session', targetId: id, targetName: session.userAgent }
    await recordAct({ ...deps, em }, { action: 'account.revoke_session', ...named })
  })
}

/** Everywhere but here. Returns how many there were. */
export async function revokeOtherSessions(deps: UserDeps): Promise<{ revoked: number }> {
  const { id, username } = deps.actor
  return deps.em.transactional(async (em) => {
    const scope = { ...deps, em }
    const others = { userId: id, ...(deps.session.idHash === null ? {} : { idHash: { $ne: deps.session.idHash } }) }
    const revoked = await em.count(Session, others)
    await endSessionsOf(scope, id, true)
    const named = { targetType: 'user', targetId: id, targetName: username }
    await recordAct(scope, { action: 'account.revoke_other_sessions', ...named, after: { revoked } })
    return { revoked }
  })
}
