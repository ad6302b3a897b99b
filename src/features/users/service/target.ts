import { LockMode } from '@mikro-orm/postgresql'
import { DomainError } from '#core/errors.ts'
import { mayActOn, roles } from '#core/roles.ts'
import { userStatus } from '#core/statuses.ts'
import { User } from '#db/entities/user.ts'
import { changesOf } from '../../audit/changes.ts'
import { recordAct } from '../../audit/service.ts'
import type { UserDeps } from '../../deps.ts'

/** The rows of the actor and of others under a lock, in the order of ids, so that two who act on each other wait in no circle. */
async function lockRows({ em, actor }: UserDeps, ids: readonly number[]): Promise<{ rows: User[]; actorRole: number }> {
  const rows = await em.find(
    User,
    { id: { $in: [actor.id, ...ids] } },
    { orderBy: { id: 'asc' }, lockMode: LockMode.PESSIMISTIC_WRITE, disableIdentityMap: true },
  )
  const own = rows.find((row) => row.id === actor.id)
  if (!own || own.deletedAt || own.status === userStatus.banned || own.role < roles.admin) {
    throw new DomainError('session.role_insufficient')
  }
  return { rows, actorRole: own.role }
}

/**
 * Both rows under a lock, so that what is checked is what is changed: whoever was demoted, banned or deleted while asking acts
 * on nobody any more.
 * @throws {DomainError} session.role_insufficient, user.not_found, user.target_forbidden
 */
export async function lockTarget(deps: UserDeps, id: number): Promise<{ target: User; actorRole: number }> {
  const { rows, actorRole } = await lockRows(deps, [id])
  const target = rows.find((row) => row.id === id)
  if (!target) throw new DomainError('user.not_found')
  if (!mayActOn(actorRole, target.role)) throw new DomainError('user.target_forbidden')
  return { target, actorRole }
}

/**
 * The same of whoever something belongs to, who may be gone for good, and of others whose balances it changes. Resolves with
 * the owner.
 * @throws {DomainError} session.role_insufficient, user.target_forbidden
 */
export async function lockOwner(deps: UserDeps, id: number, others: readonly number[] = []): Promise<User | null> {
  const { rows, actorRole } = await lockRows(deps, [id, ...others])
  const owner = rows.find((row) => row.id === id) ?? null
  if (owner && !mayActOn(actorRole, owner.role)) throw new DomainError('user.target_forbidden')
  return owner
}

/** Recorded inside the transaction that holds the row; of `after` only what differs. */
export function recordUserAct(
  deps: UserDeps,
  act: { action: string; target: User; after?: Record<string, unknown>; reason?: string | undefined },
): Promise<void> {
  const { action, target, after = {}, reason = '' } = act
  const before = Object.fromEntries(Object.keys(after).map((name) => [name, target[name as keyof User]]))
  return recordAct(deps, {
    action: `users.${action}`,
    targetType: 'user',
    targetId: target.id,
    targetName: target.username,
    ...changesOf(before, after),
    reason,
  })
}
