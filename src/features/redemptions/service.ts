import { randomBytes } from 'node:crypto'
import { type FilterQuery, LockMode, UniqueConstraintViolationException } from '@mikro-orm/postgresql'
import { DomainError } from '#core/errors.ts'
import { type Page, rowsOfPage } from '#core/paging.ts'
import { redemptionStatus } from '#core/statuses.ts'
import { Redemption } from '#db/entities/redemption.ts'
import { User } from '#db/entities/user.ts'
import { recordAct } from '../audit/service.ts'
import type { UserDeps } from '../deps.ts'
import { refuseOvertaken } from '../overtaken.ts'
import { isVerified } from '../second-factor/verification.ts'
import {
  type CreateRedemptions,
  type ExportRedemptions,
  isInOrder,
  type ListRedemptions,
  mostExported,
  type SetRedemptionStatus,
  type UpdateRedemption,
} from './schema.ts'
import { type RedemptionView, toRedemptionView } from './view.ts'

/** Hexadecimal, as clients know them. */
const randomKey = (): string => randomBytes(16).toString('hex')

const live = { deletedAt: null }

function matching({
  keyword,
  status,
  kind,
}: Pick<ListRedemptions, 'keyword' | 'status' | 'kind'>): FilterQuery<Redemption> {
  const name = { $like: `${keyword.replace(/[\\%_]/g, '\\$&')}%` }
  const id = /^\d{1,9}$/.test(keyword) ? [{ id: Number(keyword) }] : []
  return {
    ...live,
    ...(status === 0 ? {} : { status }),
    ...(kind === '' ? {} : { isGift: kind === 'gift' }),
    ...(keyword === '' ? {} : { $or: [{ name }, ...id] }),
  }
}

/** With the names of those who used them. */
async function viewsOf(deps: UserDeps, found: readonly Redemption[], showsKey: boolean): Promise<RedemptionView[]> {
  const ids = [...new Set(found.map(({ usedUserId }) => usedUserId))].filter((id) => id > 0)
  const users = await deps.em.find(User, { id: ids }, { fields: ['id', 'username'], disableIdentityMap: true })
  const names = new Map(users.map(({ id, username }) => [id, username]))
  return found.map((one) => toRedemptionView(one, deps.secrets, { showsKey, usedUsername: names.get(one.usedUserId) }))
}

const orderedBy = {
  id: 'id',
  name: 'name',
  quota: 'quota',
  uses: 'usedCount',
  validFrom: 'validFrom',
  validUntil: 'validUntil',
  redeemed: 'redeemedAt',
  created: 'createdAt',
} as const satisfies Record<ListRedemptions['sort'], keyof Redemption>

/** Without a beginning a code has always been valid, as without an end it always will be; what nobody has used stands last. */
const withoutTime: Partial<Record<ListRedemptions['sort'], Record<ListRedemptions['order'], string>>> = {
  validFrom: { asc: 'asc nulls first', desc: 'desc nulls last' },
  validUntil: { asc: 'asc nulls last', desc: 'desc nulls first' },
  redeemed: { asc: 'asc nulls last', desc: 'desc nulls last' },
}

/** Newest first unless asked otherwise. */
export async function listRedemptions(deps: UserDeps, input: ListRedemptions): Promise<Page<RedemptionView>> {
  const [found, total] = await deps.em.findAndCount(Redemption, matching(input), {
    // The number decides between equals, so that no row is on two pages.
    orderBy: [{ [orderedBy[input.sort]]: withoutTime[input.sort]?.[input.order] ?? input.order }, { id: 'desc' }],
    ...rowsOfPage(input),
  })
  const showsKey = await isVerified(deps)
  return {
    items: await viewsOf(deps, found, showsKey),
    total,
    page: input.page,
    pageSize: input.pageSize,
  }
}

async function findLive({ em }: UserDeps, id: number): Promise<Redemption> {
  const redemption = await em.findOne(Redemption, { id, ...live }, { disableIdentityMap: true })
  if (!redemption) throw new DomainError('redemption.not_found')
  return redemption
}

/** @throws {DomainError} redemption.not_found */
export async function getRedemption(deps: UserDeps, { id }: { id: number }): Promise<RedemptionView> {
  const [view] = await viewsOf(deps, [await findLive(deps, id)], await isVerified(deps))
  return view!
}

/** All of a batch or none. Resolves with the texts of the codes. @throws {DomainError} redemption.key_taken */
export async function createRedemptions(deps: UserDeps, input: CreateRedemptions): Promise<string[]> {
  const { name, quota, isGift, maxUses, validFrom, validUntil } = input
  const keys = input.key ? [input.key] : Array.from({ length: input.count }, randomKey)
  const rows = keys.map((key) => ({
    userId: deps.actor.id,
    name,
    quota,
    isGift,
    maxUses,
    validFrom,
    validUntil,
    keyHash: deps.secrets.hmac(key),
    keyEncrypted: deps.secrets.encrypt(key),
  }))
  try {
    await deps.em.transactional(async (em) => {
      await em.insertMany(Redemption, rows)
      await recordAct(
        { ...deps, em },
        {
          action: 'redemptions.create',
          targetType: 'redemption',
          targetId: name,
          targetName: name,
          after: { count: rows.length, quota, isGift, maxUses, validFrom, validUntil },
        },
      )
    })
  } catch (error) {
    if (error instanceof UniqueConstraintViolationException) {
      throw new DomainError('redemption.key_taken', { key: input.key })
    }
    throw error
  }
  return keys
}

/** @throws {DomainError} redemption.not_found, redemption.already_used, redemption.window_invalid, input.changed_meanwhile */
export async function updateRedemption(deps: UserDeps, input: UpdateRedemption): Promise<RedemptionView> {
  const { id, expected, name, quota, maxUses, validFrom, validUntil } = input
  return change(deps, { id, action: 'redemptions.update' }, (before) => {
    const fields = {
      name,
      quota,
      maxUses: maxUses ?? before.maxUses,
      validFrom: validFrom === undefined ? (before.validFrom ?? null) : validFrom,
      validUntil: validUntil === undefined ? (before.validUntil ?? null) : validUntil,
    }
    if (!isInOrder(fields)) throw new DomainError('redemption.window_invalid')
    refuseOvertaken(toRedemptionView(before, deps.secrets, { showsKey: false }), fields, expected)
    return fields
  })
}

/** @throws {DomainError} redemption.not_found, redemption.already_used */
export async function setRedemptionStatus(deps: UserDeps, input: SetRedemptionStatus): Promise<RedemptionView> {
  const action = input.status === redemptionStatus.disabled ? 'redemptions.disable' : 'redemptions.enable'
  return change(deps, { id: input.id, action }, () => ({ status: input.status }))
}

/** A change under the code's lock; what is used up stays as it is. */
async function change(
  deps: UserDeps,
  { id, action }: { id: number; action: string },
  columnsOf: (before: Redemption) => Partial<Redemption>,
): Promise<RedemptionView> {
  await deps.em.transactional(async (em) => {
    const scope = { ...deps, em }
    const locked = await em
      .getConnection()
      .execute('select id from redemptions where id = ? for update', [id], 'all', em.getTransactionContext())
    if (locked.length === 0) throw new DomainError('redemption.not_found')
    const before = await findLive(scope, id)
    if (before.status === redemptionStatus.used) throw new DomainError('redemption.already_used')
    const columns = columnsOf(before)
    await em.nativeUpdate(Redemption, { id }, columns)
    const changed = (Object.keys(columns) as (keyof Redemption)[]).filter(
      (key) => String(columns[key]) !== String(before[key]),
    )
    if (changed.length === 0) return
    await recordAct(scope, {
      action,
      targetType: 'redemption',
      targetId: id,
      targetName: before.name,
      before: Object.fromEntries(changed.map((key) => [key, before[key]])),
      after: Object.fromEntries(changed.map((key) => [key, columns[key]])),
    })
  })
  return getRedemption(deps, { id })
}

/** @throws {DomainError} redemption.not_found */
export async function removeRedemption(deps: UserDeps, { id }: { id: number }): Promise<void> {
  await deps.em.transactional(async (em) => {
    const { name } = await findLive({ ...deps, em }, id)
    await em.nativeUpdate(Redemption, { id, ...live }, { deletedAt: deps.ambient.now() })
    await recordAct(
      { ...deps, em },
      { action: 'redemptions.remove', targetType: 'redemption', targetId: id, targetName: name },
    )
  })
}

export async function countByName({ em }: UserDeps, { name }: { name: string }): Promise<number> {
  return em.count(Redemption, { name, ...live })
}

type Sweep = {
  action: string
  of: FilterQuery<Redemption>
  target: { id: string; name?: string }
  change: Partial<Redemption>
}

/** Many at once, under one entry of the audit log. Resolves with how many. */
async function sweep(deps: UserDeps, { action, of, target, change: columns }: Sweep): Promise<number> {
  return deps.em.transactional(async (em) => {
    // Two of them at once may have codes in common: locked in one order.
    const codes = em
      .createQueryBuilder(Redemption)
      .select('id')
      .where({ ...(of as object), ...live })
      .orderBy({ id: 'asc' })
      .setLockMode(LockMode.PESSIMISTIC_WRITE)
    const count = await em.nativeUpdate(Redemption, { id: { $in: codes } }, columns)
    if (count > 0) {
      await recordAct(
        { ...deps, em },
        {
          action,
          targetType: 'redemption',
          targetId: target.id,
          ...(target.name === undefined ? {} : { targetName: target.name }),
          after: { count },
        },
      )
    }
    return count
  })
}

export const removeByName = (deps: UserDeps, { name }: { name: string }): Promise<number> =>
  sweep(deps, {
    action: 'redemptions.remove_by_name',
    of: { name },
    target: { id: name, name },
    change: { deletedAt: deps.ambient.now() },
  })

export const removeDisabled = (deps: UserDeps): Promise<number> =>
  sweep(deps, {
    action: 'redemptions.remove_disabled',
    of: { status: redemptionStatus.disabled },
    target: { id: '*' },
    change: { deletedAt: deps.ambient.now() },
  })

export const disableRedemptions = (deps: UserDeps, { ids }: { ids: number[] }): Promise<number> =>
  sweep(deps, {
    action: 'redemptions.disable_many',
    of: { id: ids, status: redemptionStatus.unused },
    target: { id: ids.slice(0, 100).join(',') },
    change: { status: redemptionStatus.disabled },
  })

/** Every code of the list with its text, newest first. The export is recorded. */
export async function exportRedemptions(
  deps: UserDeps,
  input: ExportRedemptions,
): Promise<{ items: RedemptionView[]; complete: boolean }> {
  const of = input.ids.length > 0 ? { ...live, id: input.ids } : matching(input)
  const found = await deps.em.find(Redemption, of, {
    orderBy: { id: 'desc' },
    limit: mostExported + 1,
    disableIdentityMap: true,
  })
  const items = await viewsOf(deps, found.slice(0, mostExported), true)
  await recordAct(deps, {
    action: 'redemptions.export',
    targetType: 'redemption',
    targetId: '*',
    after: { count: items.length },
  })
  return { items, complete: found.length <= mostExported }
}
