import { setTimeout as delay } from 'node:timers/promises'
import type { EntityManager } from '@mikro-orm/postgresql'
import type { Pool } from 'pg'
import { type LogType, logType } from '#core/statuses.ts'
import { isDatabaseTrouble, isLockTrouble } from '#core/database-trouble.ts'
import { type BatchFault, createBatchQueue, QueueFull } from './batch-queue.ts'
import type { ChargeRow, Renewal, ReserveRequest, ReserveResult, ReserveVerdict } from './charge-row.ts'
import { type Committed, createEnding, type EndOfHold } from './ending.ts'

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
  /** Gives everything back. Never rejects: it is sent again until it succeeds or the process ends. */
  release: (hold: { id: string; userId: number; tokenId: number }) => Promise<void>
  /** Waits until every hold of this process has come to its end, what is sent again included. */
  drained: () => Promise<void>
}

export { SettleFailed } from './ending.ts'

const queueLimits = {
  largestBatch: 500,
  mostWaiting: 20_000,
  faultOf: (error: unknown): BatchFault => (isDataFault(error) ? 'item' : isLockTrouble(error) ? 'group' : 'all'),
  groupOf: (item: { userId: number }) => item.userId,
}

/** The database refused what one item says (class 22 and 23), not the batch as such. */
function isDataFault(error: unknown): boolean {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
  return typeof code === 'string' && /^2[23]/.test(code)
}

/** A reservation that has waited so long for its turn is not made any more: the caller comes again. */
const reserveWaitMs = 5000

export function createLedger(deps: {
  pool: Pool
  nodeId: () => number
  /** Books the refund of a charge whose answer never arrived. */
  refund: (row: ChargeRow) => Promise<void>
  settleDeadlineMs?: number
  onError?: (error: unknown) => void
  /** Hears of each charge that costs something, once it is booked, with the balance after it. Must not wait. */
  onCharged?: (charged: { userId: number; balance: number }) => void
}): Ledger {
  const onError = deps.onError ?? (() => {})
  const reserves = createBatchQueue(
    (items: ReserveRequest[]) => reserveBatch(deps.pool, deps.nodeId(), items),
    queueLimits,
  )
  const settles = createBatchQueue((items: EndOfHold[]) => settleBatch(deps.pool, items), queueLimits)
  const renewals = createBatchQueue((items: Renewal[]) => renewBatch(deps.pool, deps.nodeId(), items), {
    ...queueLimits,
    groupOf: (item: Renewal) => item.row.userId,
  })
  const ending = createEnding({
    commit: async (item, isWanted) => {
      const committed = await ('next' in item ? renewals.add(item, isWanted) : settles.add(item, isWanted))
      const row = 'next' in item ? item.row : item
      if (!('release' in row) && row.quota > 0) {
        deps.onCharged?.({ userId: row.userId, balance: committed.userQuota })
      }
      return committed
    },
    isHopeless: isDataFault,
    refund: deps.refund,
    settleDeadlineMs: deps.settleDeadlineMs ?? 10_000,
    onError,
  })

  // Holds whose calls are under way in this process.
  const open = new Set<string>()

  const reserve = async (request: ReserveRequest): Promise<ReserveResult> => {
    const end = Date.now() + reserveWaitMs
    const isWanted = () => Date.now() < end
    let sent = false
    try {
      const result = await reserves.add(request, isWanted).catch((error: unknown) => {
        onError(error)
        sent = !(error instanceof QueueFull)
        // A connection that broke is soon replaced, and the same hold is not taken twice.
        if (isDatabaseTrouble(error) && !isLockTrouble(error)) return reserves.add(request, isWanted)
        throw error
      })
      if (result.verdict === 'ok') open.add(request.id)
      return result
    } catch (error) {
      // Nobody knows what became of it: it must not happen later either.
      if (sent) void ending.release(request, true)
      throw error
    }
  }

  return {
    reserve,
    settle: (row, afterwards) => {
      open.delete(row.id)
      return ending.settle(row, afterwards)
    },
    renew: async (renewal) => {
      open.delete(renewal.row.id)
      const { next } = await ending.renew(renewal)
      if (!next) throw new Error('a renewal has a verdict on its next hold')
      if (next.verdict === 'ok') open.add(renewal.next.id)
      return next
    },
    release: (hold) => {
      open.delete(hold.id)
      return ending.release(hold, false)
    },
    drained: async () => {
      while (open.size + ending.pending() > 0) await delay(20)
    },
  }
}

type VerdictRow = {
  hold_id: string
  verdict: ReserveVerdict
  user_quota: string | null
  token_quota: string | null
}

const toReserveResult = (row: VerdictRow): ReserveResult => ({
  verdict: row.verdict,
  userQuota: Number(row.user_quota ?? 0),
  tokenQuota: row.token_quota === null ? null : Number(row.token_quota),
})

const toColumns = (items: ReserveRequest[]): unknown[] => [
  items.map((item) => item.id),
  items.map((item) => item.userId),
  items.map((item) => item.tokenId),
  items.map((item) => item.amount),
]

async function reserveBatch(pool: Pool, nodeId: number, items: ReserveRequest[]): Promise<ReserveResult[]> {
  const { rows } = await pool.query<VerdictRow>({
    name: 'ledger_reserve',
    text: 'select * from ledger_reserve($1::int, $2::text[], $3::int[], $4::int[], $5::bigint[])',
    values: [nodeId, ...toColumns(items)],
  })
  return rows.map(toReserveResult)
}

async function renewBatch(pool: Pool, nodeId: number, items: Renewal[]): Promise<Committed[]> {
  const { rows } = await pool.query<VerdictRow>({
    name: 'ledger_renew',
    text: 'select * from ledger_renew($1::int, $2::json, $3::text[], $4::int[], $5::int[], $6::bigint[])',
    values: [
      nodeId,
      storableJson(JSON.stringify(items.map(({ row }) => toSettleJson(row)))),
      ...toColumns(items.map(({ next }) => next)),
    ],
  })
  return rows.map(toReserveResult).map((next) => ({ userQuota: next.userQuota, next }))
}

async function settleBatch(pool: Pool, items: EndOfHold[]): Promise<Committed[]> {
  // After long trouble a charge and the release that follows it may come together: the charge counts.
  const distinct = new Map<string, EndOfHold>()
  for (const item of items) if (!distinct.has(item.id) || !('release' in item)) distinct.set(item.id, item)
  const { rows } = await pool.query<{ user_id: number; quota: string }>({
    name: 'ledger_settle',
    text: 'select * from ledger_settle($1::json)',
    values: [storableJson(JSON.stringify([...distinct.values()].map(toSettleJson)))],
  })
  const balances = new Map(rows.map((row) => [row.user_id, Number(row.quota)]))
  return items.map((item) => ({ userQuota: balances.get(item.userId) ?? 0 }))
}

/**
 * PostgreSQL's JSON holds neither NUL nor half a surrogate pair, which callers may well send; JSON.stringify writes both as
 * escapes. An escaped backslash is passed over, so that a quoted `\\u0000` stays what it is.
 */
const storableJson = (json: string): string =>
  /\\u(?:0000|d[89a-f])/.test(json)
    ? json.replace(/\\\\|\\u0000|\\ud[89a-f][0-9a-f]{2}/g, (escape) => (escape === '\\\\' ? escape : '\ufffd'))
    : json

const toSettleJson = (item: EndOfHold): unknown =>
  'release' in item
    ? { ...item, channelId: 0, quota: 0, counted: false, log: false }
    : { ...item, release: false, voids: false }

/**
 * Refunds a charge that was committed although its caller was told that nothing was booked. Does nothing when there is no
 * such charge.
 */
export async function refundUndelivered(em: EntityManager, row: ChargeRow): Promise<void> {
  const committed = await em
    .getConnection()
    .execute<{ id: string }[]>('select id from logs where request_id = ? and type = 2 limit 1', [row.id])
  if (committed.length === 0 || row.quota === 0) return
  await grant(em, {
    kind: 'refund',
    key: row.id,
    userId: row.userId,
    amount: row.quota,
    token: { id: row.tokenId, amount: row.quota },
    log: { type: logType.system, content: `请求 ${row.id} 未送达，退回额度`, username: row.username, quota: row.quota },
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
