import { randomBytes } from 'node:crypto'
import { raw } from '@mikro-orm/postgresql'
import type { SessionData } from '#db/entities/session.ts'
import { Session } from '#db/entities/session.ts'
import { SignInChallenge } from '#db/entities/sign-in-challenge.ts'
import { sha256 } from '../secrets/service.ts'
import type { Deps } from '../deps.ts'

export const sessionCookie = 'session'
const sessionSeconds = 30 * 24 * 3600
const longestUserAgent = 500

const afterNow = (deps: Pick<Deps, 'ambient'>, seconds: number) =>
  new Date(deps.ambient.now().getTime() + seconds * 1000)

/** A new session under a new id; the old one, if any, dies with it, so a planted id is worth nothing. */
export async function startSession(deps: Deps, userId: number, data: SessionData = {}): Promise<void> {
  await endSession(deps)
  const id = randomBytes(32).toString('base64url')
  const idHash = sha256(id)
  const { ip: clientIp, userAgent } = deps.client
  const from = { clientIp, userAgent: userAgent.slice(0, longestUserAgent) }
  await deps.em.insert(Session, { idHash, userId, data, ...from, expiresAt: afterNow(deps, sessionSeconds) })
  deps.session.idHash = idHash
  deps.cookies?.set(sessionCookie, id, sessionSeconds)
}

export async function endSession(deps: Deps): Promise<void> {
  if (deps.session.idHash === null) return
  await deps.em.nativeDelete(Session, { idHash: deps.session.idHash })
  deps.session.idHash = null
  deps.cookies?.clear(sessionCookie)
}

/** Where and when a session is used, to the minute. */
export async function noteUse(
  { em, session, client }: Pick<Deps, 'em' | 'session' | 'client'>,
  lastSeen: Date,
  now: Date,
): Promise<void> {
  if (now.getTime() - lastSeen.getTime() < 60_000) return
  const from = { clientIp: client.ip, userAgent: client.userAgent.slice(0, longestUserAgent) }
  await em.nativeUpdate(Session, { idHash: session.idHash ?? '' }, { ...from, seenAt: raw('now()') })
}

/** What the browser's session remembers besides the login. */
export async function readSession(deps: Deps): Promise<SessionData> {
  if (deps.session.idHash === null) return {}
  const session = await deps.em.findOne(Session, { idHash: deps.session.idHash }, { disableIdentityMap: true })
  return session?.data ?? {}
}

/** Merges into what the session remembers; an anonymous browser gets a session for it. */
export async function rememberInSession(deps: Deps, data: SessionData): Promise<void> {
  if (deps.session.idHash === null) return startSession(deps, 0, data)
  const known = await readSession(deps)
  await deps.em.nativeUpdate(Session, { idHash: deps.session.idHash }, { data: { ...known, ...data } })
}

/** Signs a user out everywhere, or everywhere but here, and whoever is between the two steps of a sign-in. */
export async function endSessionsOf(
  deps: Pick<Deps, 'em' | 'session'>,
  userId: number,
  keepCurrent = false,
): Promise<void> {
  await deps.em.nativeDelete(SignInChallenge, { userId })
  await deps.em.nativeDelete(Session, {
    userId,
    ...(keepCurrent && deps.session.idHash !== null ? { idHash: { $ne: deps.session.idHash } } : {}),
  })
}
