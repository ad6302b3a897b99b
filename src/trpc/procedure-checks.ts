import { DomainError } from '#core/errors.ts'
import type { Role } from '#core/roles.ts'

/** What is known of who asks. */
type Asking<Actor> = {
  /** Who is signed in, if anybody. */
  actor: Actor | null
  /** Why nobody is signed in; thrown when a procedure wants somebody. */
  refusal: DomainError | null
}

/** @throws {DomainError} when nobody is signed in, or somebody of a lower role. */
export function actorOfRole<Actor extends { role: Role }>({ actor, refusal }: Asking<Actor>, role: Role): Actor {
  if (refusal) throw refusal
  if (!actor) throw new DomainError('session.required')
  if (actor.role < role) throw new DomainError('session.role_insufficient')
  return actor
}

/**
 * A change wants a same-origin request: a cookie alone, sent along by another site, is never enough.
 * @throws {DomainError} session.cross_site
 */
export function refuseCrossSiteChange(type: string, crossSite: boolean): void {
  if (type === 'mutation' && crossSite) throw new DomainError('session.cross_site')
}

type Limited = {
  environment: { CRITICAL_RATE_LIMIT: number }
  limits: {
    slide: (window: { name: string; key: string; points: number; seconds: number }) => Promise<{ allowed: boolean }>
  }
}

/** The limit of acts that are worth guessing at, per network. @throws {DomainError} rate_limited */
export async function countCriticalAct({ environment, limits }: Limited, network: string): Promise<void> {
  const points = environment.CRITICAL_RATE_LIMIT
  const verdict = await limits.slide({ name: 'critical', key: network, points, seconds: 1200 })
  if (!verdict.allowed) throw new DomainError('rate_limited')
}
