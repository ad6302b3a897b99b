import { DomainError } from '#core/errors.ts'
import { roles } from '#core/roles.ts'
import { logType, userStatus } from '#core/statuses.ts'
import { Log } from '#db/entities/log.ts'
import { User } from '#db/entities/user.ts'
import { endSessionsOf } from '../../auth/session.ts'
import type { UserDeps } from '../../deps.ts'
import type { ManageUser } from '../schema.ts'
import { lockTarget, recordUserAct } from './target.ts'
import { retireAccount } from './retire-account.ts'

type Act = {
  /** What the user's log says. */
  label: string
  /** Throws where the act is not allowed. */
  check: (actorRole: number, target: User) => void
  changes: Pick<Partial<User>, 'status' | 'role'>
  ends: 'nothing' | 'sessions' | 'account'
}

const protectRoot = (_actorRole: number, target: User): void => {
  if (target.role === roles.root) throw new DomainError('user.root_protected')
}

const acts: Record<ManageUser['action'], Act> = {
  enable: { label: '启用', check: () => {}, changes: { status: userStatus.active }, ends: 'nothing' },
  disable: { label: '禁用', check: protectRoot, changes: { status: userStatus.banned }, ends: 'sessions' },
  delete: {
    label: '注销',
    check: protectRoot,
    changes: {},
    ends: 'account',
  },
  promote: {
    label: '提升为管理员',
    check: (actorRole, target) => {
      if (actorRole !== roles.root) throw new DomainError('user.promotion_forbidden')
      if (target.role >= roles.admin) throw new DomainError('user.already_admin')
    },
    changes: { role: roles.admin },
    ends: 'nothing',
  },
  demote: {
    label: '降级为普通用户',
    check: (actorRole, target) => {
      protectRoot(actorRole, target)
      if (target.role <= roles.user) throw new DomainError('user.already_ordinary')
    },
    changes: { role: roles.user },
    ends: 'nothing',
  },
}

/** One act on another account. Deleted users can still be addressed; whoever is switched off is signed out at once. */
export async function manageUser(
  deps: UserDeps,
  input: ManageUser,
): Promise<{ id: number; status: number; role: number }> {
  const act = acts[input.action]
  return deps.em.transactional(async (em) => {
    const scope = { ...deps, em }
    const { target, actorRole } = await lockTarget(scope, input.id)
    act.check(actorRole, target)
    const { changes } = act
    if (Object.keys(changes).length > 0) await em.nativeUpdate(User, { id: target.id }, changes)
    await em.insert(Log, {
      userId: target.id,
      username: target.username,
      type: logType.manage,
      content: `管理员操作：${act.label}`,
    })
    await recordUserAct(scope, { action: input.action, target, after: changes, reason: input.reason })
    if (act.ends === 'sessions') await endSessionsOf(scope, target.id)
    if (act.ends === 'account') await retireAccount(scope, target.id)
    return { id: target.id, status: changes.status ?? target.status, role: changes.role ?? target.role }
  })
}
