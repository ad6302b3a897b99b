import { type EntityManager, LockMode } from '@mikro-orm/postgresql'
import { DomainError } from '#core/errors.ts'
import { type SpendCapInput, windowKey } from '#core/limits/spend-cap.ts'
import { currentZone, knownZone } from '#core/time-zone.ts'
import { SpendCap } from '#db/entities/spend-cap.ts'
import { Token } from '#db/entities/token.ts'
import type { Zones } from '#db/zones.ts'
import { recordAct } from '../audit/service.ts'
import type { UserDeps } from '../deps.ts'
import { refuseOvertaken } from '../overtaken.ts'
import { getUser } from '../users/service/administer.ts'
import { lockTarget } from '../users/service/target.ts'
import type { RaiseCap, SetOfUser } from './schema.ts'
import { type CapView, type StandingRow, toCapView } from './view.ts'

/** Whose spending counts, and who decides. Each source writes its own caps only. */
export type CapOwner = {
  scope: SpendCap['scope']
  subjectId: number
  source: 'owner' | 'admin' | 'subscription'
  sourceId?: number
}

const standingSql = `
  select c.id, c.scope, c.subject_id, c.source, c.source_id, c.period, c.seconds, c.zone, c.amount, c.models,
    w.raised, c.raised_amount, c.raised_until, w.spent,
    case when c.period <> 'rolling' or w.spent > 0
      then ledger_cap_turn(c.id, c.period, c.seconds, c.zone, w.bucket, 1) end as turns_at
  from spend_caps c
    cross join lateral (select ledger_cap_bucket(c.period, c.seconds, c.zone, ledger_clock()) as bucket) b
    cross join lateral (select b.bucket, ledger_cap_spent(c.id, c.period, c.seconds, b.bucket) as spent,
      coalesce(c.raised_until > ledger_clock(), false) as raised) w`

/** How the caps stand now: what is left, what is held by calls under way included, and when it turns. */
async function standings(em: EntityManager, condition: string, values: unknown[]): Promise<CapView[]> {
  const rows: StandingRow[] = await em
    .getConnection()
    .execute(`${standingSql} where ${condition} order by c.id`, values, 'all', em.getTransactionContext())
  return rows.map(toCapView)
}

/** Of a user and of all the user's tokens. */
export const listOwnCaps = ({ em, actor }: UserDeps): Promise<CapView[]> =>
  standings(
    em,
    `(c.scope = 'user' and c.subject_id = ?) or
      (c.scope = 'token' and c.subject_id in (select t.id from tokens t where t.user_id = ? and t.deleted_at is null))`,
    [actor.id, actor.id],
  )

/** Of a call: those of its user and of its token that cover the model. */
export const capsOfCall = (
  em: EntityManager,
  { userId, tokenId, model }: { userId: number; tokenId: number; model: string },
): Promise<CapView[]> =>
  standings(
    em,
    `((c.scope = 'user' and c.subject_id = ?) or (c.scope = 'token' and c.subject_id = ?)) and ledger_cap_covers(c.models, ?)`,
    [userId, tokenId, model],
  )

/** Of subscriptions, in the order in which they were set. */
export const windowsOfSubscriptions = ({ em }: Pick<UserDeps, 'em'>, ids: readonly number[]): Promise<CapView[]> =>
  ids.length === 0 ? Promise.resolve([]) : standings(em, "c.scope = 'subscription' and c.subject_id in (?)", [ids])

const ofUser = ({ em }: UserDeps, { userId }: { userId: number }): Promise<CapView[]> =>
  standings(em, "c.scope = 'user' and c.subject_id = ?", [userId])

/** For an administrator who may act on that user. */
export async function listCapsOfUser(deps: UserDeps, input: { userId: number }): Promise<CapView[]> {
  await getUser(deps, { id: input.userId })
  return ofUser(deps, input)
}

/**
 * Writes the caps of one source, inside the transaction of `em`. One whose window stays keeps what was spent in it, under another
 * name of its zone too, and one whose amount stays its raise: another amount counts at once.
 */
export async function writeCaps(em: EntityManager, owner: CapOwner, caps: readonly SpendCapInput[]): Promise<void> {
  const { scope, subjectId, source, sourceId = 0 } = owner
  const mine = { scope, subjectId, source, sourceId }
  const before = await em.find(SpendCap, mine, { disableIdentityMap: true })
  const added = new Set(caps)
  for (const cap of before) {
    const next = [...added].find((wanted) => windowKey(wanted) === windowKey(cap))
    if (!next) {
      await em.nativeDelete(SpendCap, { id: cap.id })
      continue
    }
    added.delete(next)
    const { zone, amount } = next
    if (amount !== cap.amount)
      await em.nativeUpdate(SpendCap, { id: cap.id }, { zone, amount, raisedAmount: null, raisedUntil: null })
    else if (zone !== cap.zone) await em.nativeUpdate(SpendCap, { id: cap.id }, { zone })
  }
  // One by one: each locks the row of its subject before it stands.
  for (const cap of added) await em.insert(SpendCap, { ...mine, ...cap })
}

/**
 * Caps with their zones by the names that the database knows. A zone that it does not know counts by the days of UTC: it stays for
 * whoever has it, as in a database that was moved, and nobody gets it anew.
 * @throws {DomainError} spend_cap.zone_unknown
 */
export const inKnownZones = <Cap extends { zone: string }>(
  caps: readonly Cap[],
  { zones, stood = [] }: { zones: Zones; stood?: readonly { zone: string }[] },
): Cap[] =>
  caps.map((cap) => {
    const zone = knownZone(cap.zone, zones) ?? stood.find((before) => currentZone(before.zone) === cap.zone)?.zone
    if (zone === undefined) throw new DomainError('spend_cap.zone_unknown')
    return { ...cap, zone }
  })

/** The caps of one source, as they were set. */
export async function setCaps(em: EntityManager, { scope, subjectId, source, sourceId = 0 }: CapOwner) {
  const caps = await em.find(
    SpendCap,
    { scope, subjectId, source, sourceId },
    { orderBy: { id: 'asc' }, disableIdentityMap: true },
  )
  return asSet(caps)
}

const asSet = (caps: readonly Pick<CapView, 'period' | 'seconds' | 'zone' | 'models' | 'amount'>[]) =>
  caps.map(({ period, seconds, zone, models, amount }) => ({ period, seconds, zone, models, amount }))

/** An administrator's caps for somebody. @throws {DomainError} input.changed_meanwhile, spend_cap.zone_unknown */
export async function setCapsOfUser(deps: UserDeps, input: SetOfUser): Promise<CapView[]> {
  const zones = await deps.database.zones()
  await deps.em.transactional(async (em) => {
    const scope = { ...deps, em }
    const { target } = await lockTarget(scope, input.userId)
    const before = (await ofUser(scope, input)).filter(({ source }) => source === 'admin')
    const caps = inKnownZones(input.caps, { zones, stood: before })
    refuseOvertaken({ caps: asSet(before) }, { caps: asSet(caps) }, input.expected)
    await writeCaps(em, { scope: 'user', subjectId: target.id, source: 'admin' }, caps)
    await recordAct(scope, {
      action: 'spend_caps.set',
      targetType: 'user',
      targetId: target.id,
      targetName: target.username,
      before: { caps: asSet(before) },
      after: { caps: asSet(caps) },
    })
  })
  return listCapsOfUser(deps, input)
}

/** The owner of a token for its caps. @throws {DomainError} spend_cap.not_found, spend_cap.end_past, spend_cap.raise_too_low */
export async function raiseOwnCap(deps: UserDeps, input: RaiseCap): Promise<void> {
  await deps.em.transactional(async (em) => {
    const cap = await em.findOne(SpendCap, { id: input.id, scope: 'token', source: 'owner' })
    const token =
      cap &&
      (await em.findOne(Token, { id: cap.subjectId, userId: deps.actor.id, deletedAt: null }, { fields: ['name'] }))
    if (!cap || !token) throw new DomainError('spend_cap.not_found')
    await raise({ ...deps, em }, { input, targetName: token.name })
  })
}

/**
 * An administrator for the caps of a user, whoever set them.
 * @throws {DomainError} spend_cap.not_found, spend_cap.end_past, spend_cap.raise_too_low
 */
export async function raiseCapOfUser(deps: UserDeps, input: RaiseCap): Promise<void> {
  await deps.em.transactional(async (em) => {
    const cap = await em.findOne(SpendCap, { id: input.id, scope: 'user' })
    if (!cap) throw new DomainError('spend_cap.not_found')
    const { target } = await lockTarget({ ...deps, em }, cap.subjectId)
    await raise({ ...deps, em }, { input, targetName: target.username })
  })
}

/** The cap under its lock: its amount may have been set anew since its owner was found. */
async function raise(deps: UserDeps, { input, targetName }: { input: RaiseCap; targetName: string }): Promise<void> {
  if (input.raise && input.raise.until <= deps.ambient.now()) throw new DomainError('spend_cap.end_past')
  const cap = await deps.em.findOne(
    SpendCap,
    { id: input.id },
    { lockMode: LockMode.PESSIMISTIC_WRITE, disableIdentityMap: true },
  )
  if (!cap) throw new DomainError('spend_cap.not_found')
  if (input.raise && input.raise.amount <= cap.amount) throw new DomainError('spend_cap.raise_too_low')
  await deps.em.nativeUpdate(
    SpendCap,
    { id: cap.id },
    { raisedAmount: input.raise?.amount ?? null, raisedUntil: input.raise?.until ?? null },
  )
  await recordAct(deps, {
    action: 'spend_caps.raise',
    targetType: cap.scope,
    targetId: cap.subjectId,
    targetName,
    before: { amount: cap.amount, raised: cap.raisedAmount, until: cap.raisedUntil },
    after: { raised: input.raise?.amount ?? null, until: input.raise?.until ?? null },
  })
}
