import { type EntityManager, sql } from '@mikro-orm/postgresql'
import { DomainError } from '#core/errors.ts'
import { isRole } from '#core/roles.ts'
import { userStatus } from '#core/statuses.ts'
import { Session } from '#db/entities/session.ts'
import { User } from '#db/entities/user.ts'
import type { Actor } from '../deps.ts'
import { sha256 } from '../secrets/service.ts'

export type Credentials = {
  sessionId: string | undefined
  authorization: string | undefined
  /** The first non-empty of the accepted user-id headers. */
  userIdHeader: string | undefined
  /** REST always wants the header, tRPC wants it to match where it is sent, bind routes do without. */
  userIdRule: 'required' | 'when-sent' | 'none'
}

/** Who it is, or why nobody can be named; public procedures do not mind the refusal. */
export type Authentication = { idHash: string | null; seenAt: Date | null } & (
  | { actor: Actor; refusal: null }
  | { actor: null; refusal: DomainError }
)

/** The checks in their order: session, else access token; header; row; ban. The role is the procedure's. */
export async function authenticate(em: EntityManager, credentials: Credentials): Promise<Authentication> {
  const idHash = credentials.sessionId ? sha256(credentials.sessionId) : null
  const session = idHash
    ? await em.findOne(Session, { idHash, expiresAt: { $gt: sql.now() } }, { disableIdentityMap: true })
    : null
  const known = { idHash: session ? idHash : null, seenAt: session?.seenAt ?? null }
  const refuse = (refusal: DomainError): Authentication => ({ ...known, actor: null, refusal })

  const via = session && session.userId > 0 ? 'session' : 'access-token'
  const accessToken = credentials.authorization?.replace(/^Bearer /i, '').trim()
  if (via === 'access-token' && !accessToken) return refuse(new DomainError('session.required'))
  const accessTokenHash = via === 'access-token' ? sha256(accessToken ?? '') : undefined
  const user =
    via === 'session' && session
      ? await em.findOne(User, { id: session.userId }, { disableIdentityMap: true })
      : await em.findOne(User, { accessTokenHash: accessTokenHash ?? '' }, { disableIdentityMap: true })
  if (!user || user.deletedAt) {
    return refuse(new DomainError(via === 'session' ? 'session.required' : 'session.access_token_unknown'))
  }
  const headerProblem = checkUserIdHeader(credentials, user.id)
  if (headerProblem) return refuse(headerProblem)
  if (user.status === userStatus.banned) return refuse(new DomainError('session.banned'))
  if (!user.username || !isRole(user.role)) return refuse(new DomainError('session.user_invalid'))
  return {
    ...known,
    actor: {
      id: user.id,
      username: user.username,
      role: user.role,
      group: user.group,
      via,
      ...(accessTokenHash === undefined ? {} : { accessTokenHash }),
    },
    refusal: null,
  }
}

function checkUserIdHeader({ userIdHeader, userIdRule }: Credentials, userId: number): DomainError | undefined {
  if (userIdRule === 'none') return undefined
  if (!userIdHeader) {
    return userIdRule === 'required' ? new DomainError('session.user_header_missing') : undefined
  }
  if (!/^-?\d+$/.test(userIdHeader)) return new DomainError('session.user_header_invalid')
  if (Number(userIdHeader) !== userId) return new DomainError('session.user_header_mismatch')
  return undefined
}
