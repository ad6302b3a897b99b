import { LockMode } from '@mikro-orm/postgresql'
import { DomainError } from '#core/errors.ts'
import { mayActOn, roles } from '#core/roles.ts'
import { userStatus } from '#core/statuses.ts'
import { User } from '#db/entities/user.ts'
import { changesOf } from '../../audit/changes.ts'
import { recordAct } from '../../audit/service.ts'
import type { UserDeps } from '../../deps.ts'

/**
 * Both rows under a lock, so that what is judged is what is changed: whoever was demoted, banned or deleted while asking acts
 * on nobody any more. Rows are taken in the order of ids, so two who act on each other wait in no circle.
 */
export async function lockTarget({ em, actor }: UserDeps, id: number): Promise<{ target: User; actorRole: number }> {
  const rows = await em.find(
    User,
    { id: { $in: [actor.id, id] } },
    { orderBy: { id: 'asc' }, lockMode: LockMode.PESSIMISTIC_WRITE, disableIdentityMap: true },
  )
  const target = rows.find((row) => row.id === id)
  const own = rows.find((row) => row.id === actor.id)
  if (!own || own.deletedAt || own.status === userStatus.banned || own.role < roles.admin) {
    throw new DomainError('session.role_insufficient')
  }
  if (!target) throw new DomainError('user.not_found')
  if (!mayActOn(own.role, target.role)) throw new DomainError('user.target_forbidden')
  return { target, actorRole: own.role }
}

/** Written down inside the transaction that holds the row; of `after` only what differs. */
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
