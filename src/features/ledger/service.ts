import { setTimeout as delay } from 'node:timers/promises'
import type { EntityManager } from '@mikro-orm/postgresql'
import type { Pool } from 'pg'
import type { LogType } from '#core/statuses.ts'
import { isDatabaseTrouble, isLockTrouble } from '#core/database-trouble.ts'
import { storableJson } from '#core/storable-json.ts'
import { batchFaultOf, isKnownRefusal } from './batch-fault.ts'
import { type AddOptions, createBatchQueue, ItemRefused, QueueFull } from './batch-queue.ts'
import type {
  ChargeRow,
  ReachedCap,
  Renewal,
  ReserveRequest,
  ReserveResult,
  ReserveVerdict,
  UnchargedCosts,
} from './charge-row.ts'
import { type Committed, createEnding, type EndOfHold } from './ending.ts'
import { ledgerLimits } from './limits.ts'
import { createLockedRows, type RowsOfItem } from './locked-rows.ts'
import { toSettleJson } from './settle-json.ts'

/**
 * The only writer of balances. Calls: `reserve` before, then exactly one of `settle` and `release`. Everything else that
 * changes a balance is a `grant`.
 */
export type Ledger = {
  /** Sets quota aside, or raises the hold of the same id. Resolves with the verdict; rejects when it could not be committed. */
  reserve: (request: ReserveRequest) => Promise<ReserveResult>
  /**
   * Charges a call and writes its log row in one commit; resolves with the balance afterwards. Sent again while it fails,
   * for at most `settleDeadlineMs`; then rejects with `SettleFailed`. What happens to the charge after that is `afterwards`:
   * `give-up` releases the hold, or refunds the charge if it had been committed after all (the caller got no answer);
   * `go-on` keeps trying (the caller has the answer).
   */
  settle: (row: ChargeRow, afterwards: 'give-up' | 'go-on') => Promise<{ userQuota: number }>
  /**
   * Charges one part of a call and sets its next part aside, in one commit: no moment without a hold. Resolves with the verdict
   * on the next hold; the charge is made whatever that is. Late, it rejects with `SettleFailed` and goes on like `go-on`.
   */
  renew: (renewal: Renewal) => Promise<ReserveResult>
  /**
   * Gives everything back, and books what the failed tries of the call cost. Never rejects: it is sent again until it succeeds
   * or the process ends.
   */
  release: (hold: {
    id: string
    userId: number
    tokenId: number
    uncharged?: UnchargedCosts | undefined
  }) => Promise<void>
  /** How many acts wait for their turn. */
  waiting: () => number
  /** Waits until every hold of this process has come to its end, what is sent again included. */
  drained: () => Promise<void>
}

export { QueueFull } from './batch-queue.ts'
export { SettleFailed } from './ending.ts'

const { largestBatch, mostWaiting, mostLockedPerUser, reserveWaitMs, settleDeadlineMs } = ledgerLimits

/** What the ledger does for calls: all of it waits in one queue, so that no commit of a process waits for another's locks. */
type Act = ReserveRequest | EndOfHold | Renewal
type Done = ReserveResult | Committed

const isReserve = (act: Act): act is ReserveRequest => 'amount' in act
const isRenewal = (act: Act): act is Renewal => 'next' in act

function nameOfAct(act: Act): string {
  if (isReserve(act)) return 'reservations'
  return isRenewal(act) ? 'renewals' : 'charges'
}

/** What failed tries cost is booked on their channels too. */
function rowsOfAct(act: Act): RowsOfItem {
  const { userId, tokenId } = isRenewal(act) ? act.row : act
  if (isReserve(act)) return { userId, tokenId, channelIds: [] }
  const end = isRenewal(act) ? act.row : act
  const channelIds = (end.costs ?? []).map((cost) => cost.channelId)
  return { userId, tokenId, channelIds: 'channelId' in end ? [end.channelId, ...channelIds] : channelIds }
}

export function createLedger(deps: {
  pool: Pool
  nodeId: () => number
  /** Books the refund of a charge whose answer never arrived. */
  refund: (row: ChargeRow) => Promise<void>
  settleDeadlineMs?: number
  onError?: (error: unknown) => void
  /** Hears of each charge once it is booked: the balance after it, and what of it the balance paid. Must not wait. */
  onCharged?: (row: ChargeRow, booked: { balance: number; paid: number }) => void
  /** Hears of each charge that could be booked without its texts only, or not at all: then its hold stays open. */
  onSetAside?: (found: { row: ChargeRow; error: unknown; storedAs: 'texts' | 'hold' }) => void
}): Ledger {
  const onError = deps.onError ?? (() => {})
  const locked = createLockedRows(deps.pool)
  const queue = createBatchQueue((acts: Act[]) => runBatch(deps.pool, deps.nodeId(), acts), {
    nameOf: nameOfAct,
    largestBatch,
    mostWaiting,
    faultOf: batchFaultOf,
    locks: { locked, rowsOf: rowsOfAct, mostPerUser: mostLockedPerUser },
  })
  const reserveWith = (request: ReserveRequest, how: AddOptions) => queue.add(request, how) as Promise<ReserveResult>
  const ending = createEnding({
    commit: async (item, how) => {
      const committed = (await queue.add(item, how)) as Committed
      const row = 'next' in item ? item.row : item
      if (!('release' in row)) deps.onCharged?.(row, { balance: committed.userQuota, paid: committed.paid })
      return committed
    },
    wasSettled: (id) => wasSettled(deps.pool, id),
    refund: deps.refund,
    setAside: async (row, error) => {
      await setAside(deps.pool, row, error)
      deps.onSetAside?.({ row, error, storedAs: 'hold' })
    },
    onBare: (row, error) => deps.onSetAside?.({ row, error, storedAs: 'texts' }),
    settleDeadlineMs: deps.settleDeadlineMs ?? settleDeadlineMs,
    onError,
  })

  // Holds whose calls are under way in this process, and what is being sent to raise them.
  const open = new Set<string>()
  const raises = new Map<string, Promise<unknown>>()
  const over = new Set<string>()

  const reserve = async (request: ReserveRequest): Promise<ReserveResult> => {
    if (over.has(request.id)) throw new Error('the call of this hold is over')
    const raising = open.has(request.id)
    const sending = send(request, raising)
    if (!raising) {
      const result = await sending
      if (result.verdict === 'ok') open.add(request.id)
      return result
    }
    const settled = Promise.allSettled([raises.get(request.id), sending])
    raises.set(request.id, settled)
    try {
      return await sending
    } finally {
      if (raises.get(request.id) === settled) raises.delete(request.id)
    }
  }

  const send = async (request: ReserveRequest, raising: boolean): Promise<ReserveResult> => {
    const end = performance.now() + reserveWaitMs
    // A call that has ended needs no larger hold.
    const isWanted = () => performance.now() < end && (!raising || open.has(request.id))
    let unknown = false
    try {
      return await reserveWith(request, { isWanted }).catch((error: unknown) => {
        onError(error)
        unknown = !(error instanceof QueueFull || isKnownRefusal(causeOf(error)))
        // A connection that broke is soon replaced, and the same hold is not taken twice.
        if (isDatabaseTrouble(error) && !isLockTrouble(error)) return reserveWith(request, { isWanted })
        throw error
      })
    } catch (error) {
      // Nobody knows what became of it: it must not happen later either. A hold that is open already is left to the end of its
      // call, which is charged whatever was set aside.
      if (unknown && !raising) void ending.release(request, true)
      throw error
    }
  }

  /** Ends a call. What still raises its hold comes before, since it would open the hold anew afterwards. */
  const end = async <Result>(id: string, act: () => Promise<Result>): Promise<Result> => {
    open.delete(id)
    over.add(id)
    try {
      const raise = raises.get(id)
      if (raise) await ending.track(raise)
      return await act()
    } finally {
      over.delete(id)
    }
  }

  return {
    reserve,
    settle: (row, afterwards) => end(row.id, () => ending.settle(row, afterwards)),
    renew: async (renewal) => {
      const { next } = await end(renewal.row.id, () => ending.renew(renewal))
      if (!next) throw new Error('a renewal has a verdict on its next hold')
      if (next.verdict === 'ok') open.add(renewal.next.id)
      return next
    },
    release: (hold) => end(hold.id, () => ending.release(hold, false)),
    waiting: () => queue.size,
    drained: async () => {
      while (open.size + ending.pending() > 0) await delay(20)
    },
  }
}

const causeOf = (error: unknown): unknown => (error instanceof ItemRefused ? error.cause : error)

type VerdictRow = {
  hold_id: string
  verdict: ReserveVerdict
  user_quota: string | null
  token_quota: string | null
  cap_left: string | null
  cap: ReachedCap | null
  payable: string | null
}

const toReserveResult = (row: VerdictRow): ReserveResult => ({
  verdict: row.verdict,
  userQuota: Number(row.user_quota ?? 0),
  payable: Number(row.payable ?? 0),
  tokenQuota: row.token_quota === null ? null : Number(row.token_quota),
  capLeft: row.cap_left === null ? null : Number(row.cap_left),
  cap: row.cap,
})

const toColumns = (items: ReserveRequest[]): unknown[] => [
  items.map((item) => item.id),
  items.map((item) => item.userId),
  items.map((item) => item.tokenId),
  items.map((item) => item.amount),
  items.map((item) => item.model ?? null),
]

/**
 * Ends and begins holds in one statement: what ends comes first, so that what it gives back is there for what begins. A batch
 * that only begins some is not waited for on the disk: a reservation that is lost with the database harms nobody.
 */
async function runBatch(pool: Pool, nodeId: number, acts: Act[]): Promise<Done[]> {
  // After long trouble a charge and the release that follows it may come together: the charge counts.
  const ends = new Map<string, EndOfHold>()
  const begins: ReserveRequest[] = []
  for (const act of acts) {
    if (isReserve(act)) begins.push(act)
    else if (isRenewal(act)) {
      ends.set(act.row.id, act.row)
      begins.push(act.next)
    } else if (!ends.has(act.id) || !('release' in act)) ends.set(act.id, act)
  }
  const { balances, verdicts } = await sendBatch(pool, nodeId, { ends: [...ends.values()], begins })
  let next = 0
  return acts.map((act) => {
    if (!isReserve(act) && !isRenewal(act)) return balances.get(act.userId) ?? { userQuota: 0, paid: 0 }
    const verdict = verdicts[next] as ReserveResult
    next += 1
    if (!isRenewal(act)) return verdict
    return { userQuota: verdict.userQuota, paid: balances.get(act.row.userId)?.paid ?? 0, next: verdict }
  })
}

type Batch = { ends: EndOfHold[]; begins: ReserveRequest[] }
type BatchResult = { balances: Map<number, Committed>; verdicts: ReserveResult[] }

async function sendBatch(pool: Pool, nodeId: number, { ends, begins }: Batch): Promise<BatchResult> {
  const reserved = [nodeId, ...toColumns(begins)]
  const settled = storableJson(JSON.stringify(ends.map(toSettleJson)))
  if (ends.length === 0) {
    const { rows } = await pool.query<VerdictRow>({ ...statements.reserve, values: reserved })
    return { balances: new Map(), verdicts: rows.map(toReserveResult) }
  }
  if (begins.length === 0) {
    const { rows } = await pool.query<BalanceRow>({ ...statements.settle, values: [settled] })
    return { balances: toBalances(rows), verdicts: [] }
  }
  const all = [...ends, ...begins]
  const { rows } = await pool.query<BalanceRow & VerdictRow>({
    ...statements.both,
    values: [settled, all.map(({ userId }) => userId), all.map(({ tokenId }) => tokenId), ...reserved],
  })
  const isVerdict = (row: VerdictRow): boolean => row.hold_id !== null
  return {
    balances: toBalances(rows.filter((row) => !isVerdict(row))),
    verdicts: rows.filter(isVerdict).map(toReserveResult),
  }
}

type BalanceRow = { user_id: number; quota: string; paid: string }

const toBalances = (rows: readonly BalanceRow[]): Map<number, Committed> =>
  new Map(rows.map((row) => [row.user_id, { userQuota: Number(row.quota), paid: Number(row.paid) }]))

const columnTypes = (first: number): string =>
  ['int', 'text[]', 'int[]', 'int[]', 'bigint[]', 'text[]']
    .map((type, index) => `$${first + index}::${type}`)
    .join(', ')

const statements = {
  reserve: { name: 'ledger_reserve', text: `select * from ledger_reserve(${columnTypes(1)})` },
  settle: { name: 'ledger_settle', text: 'select * from ledger_settle($1::json)' },
  both: { name: 'ledger_step', text: `select * from ledger_step($1::json, $2::int[], $3::int[], ${columnTypes(4)})` },
}

/** Whether a charge was committed, log row or none. Kept for an hour at least. */
async function wasSettled(pool: Pool, id: string): Promise<boolean> {
  const { rowCount } = await pool.query({ text: 'select 1 from settled_calls where id = $1 limit 1', values: [id] })
  return rowCount !== 0
}

const longestText = 262_144

/** Keeps a charge that cannot be booked where the operator finds it, and its hold open. */
async function setAside(pool: Pool, row: ChargeRow, error: unknown): Promise<void> {
  const message = (error instanceof Error ? error.message : String(error)).replaceAll('\0', '')
  await pool.query({
    text: 'select ledger_set_aside($1, $2, $3, $4, $5, $6, $7)',
    values: [
      row.id,
      row.userId,
      row.tokenId,
      row.channelId,
      Number.isSafeInteger(row.quota) ? row.quota : null,
      JSON.stringify(row).slice(0, longestText),
      message.slice(0, 2000),
    ],
  })
}

/** A balance change that is not a call, with the log row that tells the user. */
export type GrantInput = {
  /** What happened: sign_up, invite, redemption, top_up, check_in, transfer, admin_edit, refund, rebate … */
  kind: string
  /** Makes it happen once: order number, code id with user id, user id with UTC day, task id … */
  key: string
  userId: number
  /** Internal units; negative takes away. */
  amount: number
  log: { type: LogType; content: string; username: string; quota?: number; other?: Record<string, unknown> } | null
  /** A refund gives the token its part too. */
  token?: { id: number; amount: number }
}

/**
 * Books a change once, inside the transaction of `em` (callers that have none get one). Resolves false when the same
 * kind and key was booked before; nothing changes then.
 */
export function grant(em: EntityManager, input: GrantInput): Promise<boolean> {
  return em.isInTransaction() ? book(em, input) : em.transactional((inner) => book(inner, input))
}

async function book(em: EntityManager, input: GrantInput): Promise<boolean> {
  const execute = (sql: string, values: unknown[]): Promise<unknown[]> =>
    em.getConnection().execute(sql, values, 'all', em.getTransactionContext())
  // The same lock order as the batch functions: user first, then token.
  await execute('select id from users where id = ? for no key update', [input.userId])
  const booked = await execute(
    'insert into grants (kind, key, user_id, amount) values (?, ?, ?, ?) on conflict (kind, key) do nothing returning id',
    [input.kind, input.key, input.userId, input.amount],
  )
  if (booked.length === 0) return false
  await execute('update users set quota = quota + ? where id = ?', [input.amount, input.userId])
  if (input.token) {
    await execute('update tokens set remain_quota = remain_quota + ? where id = ? and not unlimited_quota', [
      input.token.amount,
      input.token.id,
    ])
    await execute('select ledger_mark_tokens(array[?]::int[])', [input.token.id])
  }
  if (input.log) {
    await execute('insert into logs (user_id, type, content, username, quota, other) values (?, ?, ?, ?, ?, ?)', [
      input.userId,
      input.log.type,
      input.log.content,
      input.log.username,
      input.log.quota ?? 0,
      input.log.other ? JSON.stringify(input.log.other) : null,
    ])
  }
  return true
}
