import type { Pool } from 'pg'
import { storableJson } from '#core/storable-json.ts'
import type { ReachedCap, Renewal, ReserveRequest, ReserveResult, ReserveVerdict } from './charge-row.ts'
import type { Committed, EndOfHold } from './ending.ts'
import { type LateCharge, settleLate } from './late-charge.ts'
import type { Granted, LeaseReturn, LeaseTake } from './lease-payer.ts'
import type { LeasePlan, Leases } from './leases.ts'
import type { RowsOfItem } from './locked-rows.ts'
import { toSettleJson } from './settle-json.ts'

/** What the ledger does for calls: all of it waits in one queue, so that no commit of a process waits for another's locks. */
export type Act = ReserveRequest | EndOfHold | Renewal | LateCharge | LeaseTake | LeaseReturn
export type Done = ReserveResult | Committed | Granted | null

const isReserve = (act: Act): act is ReserveRequest => 'amount' in act
const isRenewal = (act: Act): act is Renewal => 'next' in act
const isTake = (act: Act): act is LeaseTake => 'take' in act
const isReturn = (act: Act): act is LeaseReturn => 'returnsOf' in act
const isLate = (act: Act | undefined): act is LateCharge => act !== undefined && 'late' in act

export function nameOfAct(act: Act): string {
  if (isReserve(act)) return 'reservations'
  if (isTake(act) || isReturn(act)) return 'leases'
  return isRenewal(act) ? 'renewals' : 'charges'
}

/** What failed attempts cost is booked on their channels too. */
export function rowsOfAct(act: Act): RowsOfItem {
  if (isReturn(act)) return { userId: act.returnsOf, tokenId: 0, channelIds: [] }
  if (isTake(act)) return { userId: act.take.userId, tokenId: act.take.tokenId, channelIds: [] }
  const end = isRenewal(act) ? act.row : isLate(act) ? act.late : act
  const { userId, tokenId } = end
  if (isReserve(end)) return { userId, tokenId, channelIds: [] }
  const channelIds = (end.costs ?? []).map((cost) => cost.channelId)
  return { userId, tokenId, channelIds: 'channelId' in end ? [end.channelId, ...channelIds] : channelIds }
}

/** Of a part of a call, what it keeps for the next. */
type End = EndOfHold & { next?: string; keeps?: number }

type Batch = {
  nodeId: number
  ends: End[]
  begins: ReserveRequest[]
  returned: ReadonlySet<number>
  takes: LeaseTake[]
  leases: Leases | null
}
type BatchResult = {
  balances: Map<number, Committed>
  verdicts: ReserveResult[]
  granted: Map<number, Granted>
}

/**
 * Ends and begins holds in one statement: what ends comes first, so that what it gives back is there for what begins. A batch
 * that only begins some is not waited for on the disk: a reservation that is lost with the database harms nobody.
 */
export async function runBatch(
  { pool, nodeId, leases }: { pool: Pool; nodeId: number; leases: Leases | null },
  acts: Act[],
): Promise<Done[]> {
  const [first] = acts
  if (isLate(first)) return [await settleLate(pool, first, leases?.isLeased(first.late.id))]
  // After a long outage a charge and the release that follows it may come together: the charge counts.
  const ends = new Map<string, End>()
  const begins: ReserveRequest[] = []
  const returned = new Set<number>()
  const takes: LeaseTake[] = []
  for (const act of acts) {
    if (isLate(act)) throw new Error('a late charge shares no batch')
    if (isReserve(act)) begins.push(act)
    else if (isReturn(act)) returned.add(act.returnsOf)
    else if (isTake(act)) {
      if (!act.take.voided) takes.push(act)
    } else if (isRenewal(act)) {
      ends.set(act.row.id, act.remaining ? { ...act.row, next: act.next.id, keeps: act.remaining } : act.row)
      begins.push(act.next)
    } else if (!ends.has(act.id) || !('release' in act)) ends.set(act.id, act)
  }
  const { balances, verdicts, granted } = await sendBatch(pool, {
    nodeId,
    ends: [...ends.values()],
    begins,
    returned,
    takes,
    leases,
  })
  let next = 0
  return acts.map((act) => {
    if (isReturn(act) || isLate(act)) return null
    if (isTake(act)) return granted.get(act.take.id) ?? null
    if (!isReserve(act) && !isRenewal(act)) return balances.get(act.userId) ?? { userQuota: 0, paid: 0 }
    const verdict = verdicts[next] as ReserveResult
    next += 1
    if (!isRenewal(act)) return verdict
    return { userQuota: verdict.userQuota, paid: balances.get(act.row.userId)?.paid ?? 0, next: verdict }
  })
}

async function sendBatch(pool: Pool, batch: Batch): Promise<BatchResult> {
  const { ends, returned, takes, leases } = batch
  const plan = leases?.plan(ends, returned)
  const result =
    plan && plan.named.length + returned.size + takes.length > 0
      ? await sendWithLeases(pool, batch, plan)
      : await sendPlain(pool, batch)
  plan?.committed(result.balances, result.found)
  return result
}

type Sent = BatchResult & { found: Set<number> }

const settleJsonOf = (ends: readonly EndOfHold[], isLeased: (id: string) => boolean): string =>
  storableJson(JSON.stringify(ends.map((end) => toSettleJson(end, isLeased(end.id)))))

async function sendPlain(
  pool: Pool,
  { nodeId, ends, begins, leases }: Pick<Batch, 'nodeId' | 'ends' | 'begins' | 'leases'>,
): Promise<Sent> {
  const none = { granted: new Map<number, Granted>(), found: new Set<number>() }
  const reserved = [nodeId, ...toColumns(begins)]
  if (ends.length === 0) {
    if (begins.length === 0) return { balances: new Map(), verdicts: [], ...none }
    const { rows } = await pool.query<VerdictRow>({ ...statements.reserve, values: reserved })
    return { balances: new Map(), verdicts: rows.map(toReserveResult), ...none }
  }
  // The lease of a call may be gone; the balance pays all the same.
  const settled = settleJsonOf(ends, (id) => leases?.isLeased(id) === true)
  if (begins.length === 0) {
    const { rows } = await pool.query<BalanceRow>({ ...statements.settle, values: [settled] })
    return { balances: toBalances(rows), verdicts: [], ...none }
  }
  const all = [...ends, ...begins]
  const { rows } = await pool.query<BalanceRow & VerdictRow>({
    ...statements.both,
    values: [settled, all.map(({ userId }) => userId), all.map(({ tokenId }) => tokenId), ...reserved],
  })
  return {
    balances: toBalances(rows.filter((row) => row.hold_id === null)),
    verdicts: rows.filter((row) => row.hold_id !== null).map(toReserveResult),
    ...none,
  }
}

async function sendWithLeases(pool: Pool, batch: Batch, plan: LeasePlan): Promise<Sent> {
  const { nodeId, ends, begins, returned, takes, leases } = batch
  const { named, known } = plan
  const wanted = takes.map(({ take }) => take)
  const isLeased = (id: string): boolean => leases?.isLeased(id) === true
  // The settlement locks its own rows; only what is not among them, or comes before them, has to be locked first.
  const others = [...begins, ...plan.rows, ...wanted]
  const locks =
    begins.length + wanted.length + returned.size > 0
      ? [...ends, ...others]
      : ([] as { userId: number; tokenId: number }[])
  const { rows } = await pool.query<BalanceRow & VerdictRow & LeaseRow>({
    ...statements.act,
    values: [
      nodeId,
      [...locks.map(({ userId }) => userId), ...returned],
      locks.map(({ tokenId }) => tokenId),
      ends.length === 0 ? null : settleJsonOf(ends, isLeased),
      ...toColumns(begins),
      named.map(({ id }) => id),
      named.map(({ keep }) => keep),
      named.map(({ closing }) => closing),
      [...returned],
      known,
      wanted.map(({ id }) => id),
      wanted.map(({ userId }) => userId),
      wanted.map(({ tokenId }) => tokenId),
      wanted.map(({ amount }) => amount),
      wanted.map(({ floor }) => floor),
    ],
  })
  const granted = new Map<number, Granted>()
  const found = new Set<number>()
  for (const row of rows) {
    if (row.lease_id === null) continue
    const id = Number(row.lease_id)
    if (row.user_quota === null) found.add(id)
    else granted.set(id, { userFree: Number(row.user_quota), tokenFree: numberOrNull(row.token_quota) })
  }
  return {
    balances: toBalances(rows.filter((row) => row.user_id !== null)),
    verdicts: rows.filter((row) => row.hold_id !== null).map(toReserveResult),
    granted,
    found,
  }
}

type LeaseRow = { lease_id: string | null }

type VerdictRow = {
  hold_id: string
  verdict: ReserveVerdict
  user_quota: string | null
  token_quota: string | null
  cap_left: string | null
  cap: ReachedCap | null
  payable: string | null
}

const numberOrNull = (text: string | null): number | null => (text === null ? null : Number(text))

const toReserveResult = (row: VerdictRow): ReserveResult => ({
  verdict: row.verdict,
  userQuota: Number(row.user_quota ?? 0),
  payable: Number(row.payable ?? 0),
  tokenQuota: numberOrNull(row.token_quota),
  capLeft: numberOrNull(row.cap_left),
  cap: row.cap,
})

const toColumns = (items: ReserveRequest[]): unknown[] => [
  items.map((item) => item.id),
  items.map((item) => item.userId),
  items.map((item) => item.tokenId),
  items.map((item) => item.amount),
  items.map((item) => item.model ?? null),
]

type BalanceRow = { user_id: number; quota: string; paid: string }

const toBalances = (rows: readonly BalanceRow[]): Map<number, Committed> =>
  new Map(rows.map((row) => [row.user_id, { userQuota: Number(row.quota), paid: Number(row.paid) }]))

const typed = (types: readonly string[]): string => types.map((type, index) => `$${index + 1}::${type}`).join(', ')

const reserveTypes = ['text[]', 'int[]', 'int[]', 'bigint[]', 'text[]']
const leaseTypes = ['bigint[]', 'bigint[]', 'boolean[]', 'int[]', 'bigint[]']
const takeTypes = ['bigint[]', 'int[]', 'int[]', 'bigint[]', 'bigint[]']

const statements = {
  reserve: { name: 'ledger_reserve', text: `select * from ledger_reserve(${typed(['int', ...reserveTypes])})` },
  settle: { name: 'ledger_settle', text: 'select * from ledger_settle($1::json)' },
  both: {
    name: 'ledger_step',
    text: `select * from ledger_step(${typed(['json', 'int[]', 'int[]', 'int', ...reserveTypes])})`,
  },
  act: {
    name: 'ledger_act',
    text: `select * from ledger_act(${typed(['int', 'int[]', 'int[]', 'json', ...reserveTypes, ...leaseTypes, ...takeTypes])})`,
  },
}
