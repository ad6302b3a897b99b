import type { EntityManager, FilterQuery } from '@mikro-orm/postgresql'
import { raw } from '@mikro-orm/postgresql'
import { DomainError } from '#core/errors.ts'
import { type Page, rowsOfPage } from '#core/paging.ts'
import { formatQuota } from '#core/quota.ts'
import { mayActOn, roles } from '#core/roles.ts'
import { logType, userStatus } from '#core/statuses.ts'
import { MessageRecipient } from '#db/entities/message-recipient.ts'
import { Session } from '#db/entities/session.ts'
import { Token } from '#db/entities/token.ts'
import { User } from '#db/entities/user.ts'
import { changesOf } from '../../audit/changes.ts'
import { refuseOvertaken } from '../../overtaken.ts'
import { recordAct } from '../../audit/service.ts'
import { hashPassword } from '../../auth/password.ts'
import { replacePassword } from '../../auth/replace-password.ts'
import type { UserDeps } from '../../deps.ts'
import { forgetSecondFactor } from '../../second-factor/service/forget.ts'
import { grant } from '../../ledger/service.ts'
import { balanceWithHolds, balancesWithHolds } from '../../ledger/with-holds.ts'
import type { CreateUser, ListUsers, UpdateUser } from '../schema.ts'
import { toUserView, type ManagedUserView, type UserView } from '../view.ts'
import { createAccount } from './create-account.ts'
import { retireAccount } from './retire-account.ts'
import { renamingColumns, withTakenErrors } from './taken.ts'
import { lockTarget, recordUserAct } from './target.ts'

const orderedBy = {
  id: 'id',
  username: 'username',
  quota: 'quota',
  used: 'usedQuota',
  calls: 'requestCount',
  invited: 'affCount',
  created: 'createdAt',
} as const satisfies Record<ListUsers['sort'], keyof User>

/** Newest first unless asked otherwise, deleted users among them. */
export async function listUsers({ em, actor }: UserDeps, input: ListUsers): Promise<Page<ManagedUserView>> {
  const [users, total] = await em.findAndCount(User, matching(input), {
    // The number decides between equals, so that no row is on two pages.
    orderBy: [{ [orderedBy[input.sort]]: input.order }, { id: 'desc' }],
    ...rowsOfPage(input),
  })
  const balances = await balancesWithHolds(em, input.isDocumented ? users.map(({ id }) => id) : [])
  const items = users.map((user) => ({
    ...toListed(actor, user),
    quotaWithHolds: balances.get(user.id) ?? user.quota,
  }))
  return { items, total, page: input.page, pageSize: input.pageSize }
}

/** Whoever knows the address of a webhook may post there: it is not shown to those who may not act on its owner. */
const toListed = (actor: UserDeps['actor'], user: User): UserView =>
  user.id === actor.id || mayActOn(actor.role, user.role) ? toUserView(user) : { ...toUserView(user), settings: null }

const inState = {
  any: {},
  active: { status: userStatus.active, deletedAt: null },
  banned: { status: userStatus.banned, deletedAt: null },
  living: { deletedAt: null },
  deleted: { deletedAt: { $ne: null } },
} as const satisfies Record<ListUsers['status'], FilterQuery<User>>

/** One or two letters stand in almost every name, and no index finds them there: they are looked for where names begin. */
const isBrief = (keyword: string): boolean => /^[\x20-\x7e]{1,2}$/.test(keyword)

/** One or two letters of which one is not ASCII say much, and have an index of their own. */
const isBriefName = (keyword: string): boolean => [...keyword].length <= 2 && !/^[\x20-\x7e]*$/.test(keyword)

function naming(keyword: string) {
  if (keyword === '') return {}
  if (isBriefName(keyword)) {
    return { [raw('name_letters("username", "email", "display_name") @> array[lower(?)]', [keyword])]: true }
  }
  const like = { $ilike: `${isBrief(keyword) ? '' : '%'}${keyword.replace(/[\\%_]/g, '\\$&')}%` }
  const id = /^\d{1,9}$/.test(keyword) ? [{ id: Number(keyword) }] : []
  return { $or: [{ username: like }, { email: like }, { displayName: like }, ...id] }
}

type UserSearch = Pick<ListUsers, 'keyword' | 'group' | 'status' | 'role'>

/** Whom a search of the list finds. */
export function matching({ keyword, group, status, role }: UserSearch): FilterQuery<User> {
  return {
    ...inState[status],
    ...(role === 0 ? {} : { role }),
    ...(group === '' ? {} : { group }),
    ...naming(keyword),
  }
}

/** @throws {DomainError} user.not_found, user.target_forbidden */
export async function getUser({ em, actor }: UserDeps, { id }: { id: number }): Promise<ManagedUserView> {
  const user = await em.findOne(User, { id, deletedAt: null }, { disableIdentityMap: true })
  if (!user) throw new DomainError('user.not_found')
  if (!mayActOn(actor.role, user.role)) throw new DomainError('user.target_forbidden')
  return { ...toUserView(user), quotaWithHolds: await balanceWithHolds(em, user) }
}

/** @throws {DomainError} user.role_too_high */
export async function createUser(deps: UserDeps, input: CreateUser): Promise<{ id: number }> {
  if ((input.role ?? roles.user) >= deps.actor.role) throw new DomainError('user.role_too_high')
  const { username } = input
  const displayName = input.displayName || username
  const passwordHash = await hashPassword(input.password)
  const id = await createAccount(deps, {
    username,
    displayName,
    passwordHash,
    alongside: (em, created) =>
      recordAct(
        { ...deps, em },
        {
          action: 'users.create',
          targetType: 'user',
          targetId: created,
          targetName: username,
          after: { username, displayName, password: true },
        },
      ),
  })
  return { id }
}

/** @throws {DomainError} user.not_found, user.role_too_high, user.group_unknown, input.changed_meanwhile */
export async function updateUser(deps: UserDeps, input: UpdateUser): Promise<UserView> {
  const passwordHash = input.password === undefined ? undefined : await hashPassword(input.password)
  await withTakenErrors(() =>
    deps.em.transactional(async (em) => {
      const scope = { ...deps, em }
      const { target, actorRole } = await lockTarget(scope, input.id)
      if (target.deletedAt) throw new DomainError('user.not_found')
      if (actorRole !== roles.root && (input.role ?? roles.user) >= actorRole) {
        throw new DomainError('user.role_too_high')
      }
      refuseOvertaken(toUserView(target), input, input.expected)
      const changes = changedFields(deps, target, input)
      if (Object.keys(changes).length > 0) await em.nativeUpdate(User, { id: target.id }, changes)
      const booked = await bookQuota(scope, target, input)
      if (passwordHash !== undefined)
        await replacePassword(scope, target.id, { passwordHash, keepsOwnSession: target.id === deps.actor.id })
      const { usernameLikeness: _, ...reported } = changes
      const before = { ...target, ...(booked && { quota: booked.before }) }
      const after = {
        ...reported,
        ...(booked && { quota: booked.after }),
        ...(passwordHash === undefined ? {} : { passwordHash: true }),
      }
      if (Object.keys(after).length > 0) await recordUpdate(scope, { target: before, after, reason: input.reason })
    }),
  )
  return toUserView(await deps.em.findOneOrFail(User, { id: input.id }, { disableIdentityMap: true }))
}

function changedFields(deps: UserDeps, target: User, input: UpdateUser): Partial<User> {
  const changes: Partial<User> = {}
  if (input.username !== undefined && input.username !== target.username) {
    Object.assign(changes, renamingColumns(input.username))
  }
  if (input.displayName !== undefined && input.displayName !== target.displayName) {
    changes.displayName = input.displayName
  }
  if (input.group !== undefined && input.group !== target.group) {
    if (!Object.hasOwn(deps.options.get('GroupRatio'), input.group)) {
      throw new DomainError('user.group_unknown', { group: input.group })
    }
    changes.group = input.group
  }
  return changes
}

/** Always a difference: calls under way keep what they set aside, and a wanted balance is one that counts it. */
async function bookQuota(
  deps: UserDeps,
  target: User,
  input: UpdateUser,
): Promise<{ before: number; after: number } | null> {
  const counted = input.quota === undefined ? target.quota : await balanceWithHolds(deps.em, target)
  const change = (input.quota ?? counted) - counted + (input.quotaChange ?? 0)
  if (change === 0) return null
  const { options } = deps
  const display = { quotaPerUnit: options.get('QuotaPerUnit'), inCurrency: options.get('DisplayInCurrencyEnabled') }
  const [before, after] = [counted, counted + change].map((quota) => formatQuota(quota, { ...display, digits: 6 }))
  await grant(deps.em, {
    kind: 'admin_edit',
    key: deps.ambient.newId(20),
    userId: target.id,
    amount: change,
    log: { type: logType.manage, username: target.username, content: `管理员将用户额度从 ${before} 修改为 ${after}` },
  })
  return { before: counted, after: counted + change }
}

/** Of a password it says that there is a new one. */
async function recordUpdate(
  deps: UserDeps,
  { target, after, reason }: { target: User; after: Record<string, unknown>; reason: string },
): Promise<void> {
  const { passwordHash, ...plain } = after
  const { before: old, after: now } = changesOf(target, { ...target, ...plain })
  await recordAct(deps, {
    action: 'users.update',
    targetType: 'user',
    targetId: target.id,
    targetName: target.username,
    before: old,
    after: { ...now, ...(passwordHash === undefined ? {} : { password: true }) },
    reason,
  })
}

/** What explains a balance, a charge or a payment keeps its account. */
const historyTables = [
  'grants',
  'holds',
  'usage_hourly',
  'logs',
  'top_up_orders',
  'drawing_tasks',
  'music_tasks',
] as const

async function hasHistory(em: EntityManager, userId: number): Promise<boolean> {
  const any = historyTables.map((table) => `exists (select 1 from ${table} where user_id = ${userId})`).join(' or ')
  const sql = `select ${any} as found`
  const [row]: { found: boolean }[] = await em.getConnection().execute(sql, [], 'all', em.getTransactionContext())
  return row?.found ?? true
}

/**
 * Softly where anything was ever booked or logged under the account, for good otherwise; the name is free again either way.
 * @throws {DomainError} user.target_forbidden
 */
export async function removeUser(deps: UserDeps, { id }: { id: number }): Promise<void> {
  await deps.em.transactional(async (em) => {
    const scope = { ...deps, em }
    const { target, actorRole } = await lockTarget(scope, id)
    if (actorRole <= target.role) throw new DomainError('user.target_forbidden')
    await recordUserAct(scope, { action: 'delete', target })
    if (await hasHistory(em, id)) return retireAccount(scope, id)
    await forgetSecondFactor(scope, id)
    await em.nativeDelete(Session, { userId: id })
    await em.nativeDelete(Token, { userId: id })
    await em.nativeDelete(MessageRecipient, { userId: id })
    await em.nativeDelete(User, { id })
  })
}
