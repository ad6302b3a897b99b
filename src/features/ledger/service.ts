import { setTimeout as delay } from 'node:timers/promises'
import type { EntityManager } from '@mikro-orm/postgresql'
import type { Pool } from 'pg'
import type { LogType } from '#core/statuses.ts'
import { storableText } from '#core/storable-text.ts'
import { isDatabaseUnavailable, isLockTimeout } from '#core/database-errors.ts'
import { type RunningTime, runningTime } from './running-time.ts'
import { attemptPausesMs } from '#db/lost-connections.ts'
import { type Act, nameOfAct, rowsOfAct, runBatch } from './batch.ts'
import { batchFaultOf, isKnownRefusal } from './batch-fault.ts'
import { type AddOptions, createBatchQueue, ItemRefused, QueueFull } from './batch-queue.ts'
import type { ChargeRow, Renewal, ReserveRequest, ReserveResult, UnchargedCosts } from './charge-row.ts'
import { type CommitOptions, type Committed, createEnding } from './ending.ts'
import type { Granted } from './lease-payer.ts'
import { isLateCharge, ageInSeconds } from './late-charge.ts'
import { createLeases, type Leases } from './leases.ts'
import { ledgerLimits } from './limits.ts'
import { createLockedRows } from './locked-rows.ts'

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
   * on the next hold; the charge is made whatever that is, and what is `remaining` of a hold in the database is the next one at least. Late, it rejects
   * with `SettleFailed` and goes on like `go-on`.
   */
  renew: (renewal: Renewal) => Promise<ReserveResult>
  /**
   * Gives everything back, and books what the failed attempts of the call cost. Never rejects: it is sent again until it succeeds
   * or the process ends.
   */
  release: (hold: {
    id: string
    userId: number
    tokenId: number
    uncharged?: UnchargedCosts | undefined
  }) => Promise<void>
  /** These holds are the database's from here on: whoever settles them ends them, and this process may end before. */
  handOver: (ids: readonly string[]) => void
  /**
   * Has what processes lease of this user given back, so that it is there for everybody; resolves with whether there was anything.
   * Before a balance is said not to suffice.
   */
  recallLeases: (userId: number) => Promise<boolean>
  /** Gives back what this process leases: something changed that leases have to follow, or nothing is received of changes any more. */
  returnLeases: Leases['returnLeases']
  /** Resolves when everything that was to be given back is, but for what waits for a row that somebody keeps locked. */
  leasesReturned: () => Promise<void>
  /** Calls of this process that have something set aside, in memory too, or whose end is not booked yet. */
  openCalls: () => number
  /** How many acts wait for their turn. */
  waiting: () => number
  /** Waits until every hold of this process has come to its end, what is sent again included. */
  drained: () => Promise<void>
}

export { QueueFull } from './batch-queue.ts'
export { SettleFailed } from './ending.ts'

const { largestBatch, mostWaiting, mostLockedPerUser, reserveWaitMs, settleDeadlineMs } = ledgerLimits

export function createLedger(deps: {
  pool: Pool
  nodeId: () => number
  /** Books the refund of a charge whose answer never arrived. */
  refund: (row: ChargeRow) => Promise<void>
  reserveWaitMs?: number | undefined
  settleDeadlineMs?: number | undefined
  /** What both are counted by. */
  runningTime?: RunningTime
  onError?: (error: unknown) => void
  /** Receives each charge once it is booked: the balance after it, and what of it the balance paid. Must not wait. */
  onCharged?: (row: ChargeRow, booked: { balance: number; paid: number }) => void
  /** Receives each charge that could be booked without its texts only, or not at all: then its hold stays open. */
  onSetAside?: (found: { row: ChargeRow; error: unknown; storedAs: 'texts' | 'hold' }) => void
  /** Without it nothing is leased. */
  leases?: {
    /** Notices reach this process, and the database takes it for living. */
    mayLease: () => boolean
    /** Resolves when every process has given back what it leases of this user. */
    recall: (userId: number) => Promise<void>
    /** Reservations in a second from which on a token is leased for. */
    fromCalls?: number
    /** So long a lease that nothing is set aside from is kept. */
    idleMs?: number
  }
}): Ledger {
  const onError = deps.onError ?? (() => {})
  const now = deps.runningTime ?? runningTime
  const locked = createLockedRows(deps.pool)
  const queue = createBatchQueue((acts: Act[]) => runBatch({ pool: deps.pool, nodeId: deps.nodeId(), leases }, acts), {
    nameOf: nameOfAct,
    largestBatch,
    mostWaiting,
    faultOf: batchFaultOf,
    locks: { locked, rowsOf: rowsOfAct, mostPerUser: mostLockedPerUser },
  })
  const leases: Leases | null = deps.leases
    ? createLeases({
        nodeId: deps.nodeId,
        mayLease: deps.leases.mayLease,
        take: (act) => queue.add(act) as Promise<Granted | null>,
        giveBack: (act) => queue.add(act),
        fromCalls: deps.leases.fromCalls,
        idleMs: deps.leases.idleMs,
      })
    : null
  const reserveWith = (request: ReserveRequest, how: AddOptions) => queue.add(request, how) as Promise<ReserveResult>
  const ending = createEnding({
    commit: async (item, how) => {
      if ('release' in item) return (await queue.add(item, how)) as Committed
      const row = 'next' in item ? item.row : item
      const isInTime = () => !isLateCharge(how.unknownForMs())
      const committed = isInTime()
        ? ((await queue.add(item, { ...how, isWanted: () => isInTime() && how.isWanted() })) as Committed)
        : await commitLate(item, row, how)
      deps.onCharged?.(row, { balance: committed.userQuota, paid: committed.paid })
      return committed
    },
    wasSettled: (id) => wasSettled(deps.pool, id),
    outcomeOf: (id, sentForMs) => outcomeOf(deps.pool, id, sentForMs),
    refund: deps.refund,
    setAside: async (row, error) => {
      await setAside(deps.pool, { row, error, isLeased: leases?.isLeased(row.id) === true })
      leases?.drop(row)
      deps.onSetAside?.({ row, error, storedAs: 'hold' })
    },
    onBare: (row, error) => deps.onSetAside?.({ row, error, storedAs: 'texts' }),
    settleDeadlineMs: deps.settleDeadlineMs ?? settleDeadlineMs,
    now,
    onError,
  })

  const commitLate = async (item: ChargeRow | Renewal, row: ChargeRow, how: CommitOptions): Promise<Committed> => {
    const late = { late: row, unknownForMs: how.unknownForMs }
    const committed = (await queue.add(late, { ...how, alone: true })) as Committed
    leases?.drop(row)
    return 'next' in item ? { ...committed, next: await reserveWith(item.next, how) } : committed
  }

  // Holds whose calls are under way in this process, and what is being sent to raise them.
  const open = new Set<string>()
  const raises = new Map<string, Promise<unknown>>()
  const over = new Set<string>()

  const reserve = async (request: ReserveRequest): Promise<ReserveResult> => {
    if (over.has(request.id)) throw new Error('the call of this hold is over')
    const leased = request.lasting ? undefined : leases?.reserve(request)
    if (leased) {
      open.add(request.id)
      return leased
    }
    const raising = open.has(request.id)
    const sending = ask(leases?.asking(request) ?? request, raising)
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

  /** Nobody is refused for what a lease keeps unused. */
  const ask = async (request: ReserveRequest, raising: boolean): Promise<ReserveResult> => {
    let result = await send(request, raising)
    for (
      let attempts = 0;
      attempts < mostRecalls && isShort(result) && (await recallLeases(request.userId));
      attempts += 1
    )
      result = await send(request, raising)
    if (result.verdict === 'ok' && !request.lasting) leases?.held(request)
    return result
  }

  const recalls = new Map<number, Promise<void>>()
  const recallLeases = async (userId: number): Promise<boolean> => {
    if (!deps.leases || !(await hasLeases(deps.pool, userId))) return false
    const recall = recalls.get(userId) ?? deps.leases.recall(userId).finally(() => recalls.delete(userId))
    recalls.set(userId, recall)
    return recall.then(
      () => true,
      (error: unknown) => {
        onError(error)
        return false
      },
    )
  }

  const send = async (request: ReserveRequest, raising: boolean): Promise<ReserveResult> => {
    const end = now() + (deps.reserveWaitMs ?? reserveWaitMs)
    // A call that has ended needs no larger hold, and nobody has to hear of it.
    const isOver = () => raising && !open.has(request.id)
    const isWanted = () => now() < end && !isOver()
    let unknown = false
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await reserveWith(request, { isWanted })
      } catch (error) {
        if (!isOver() || !(error instanceof QueueFull)) onError(error)
        unknown ||= !(error instanceof QueueFull || isKnownRefusal(causeOf(error)))
        // The same hold is not taken twice.
        const pauseMs = attemptPausesMs[attempt]
        if (pauseMs !== undefined && isDatabaseUnavailable(error) && !isLockTimeout(error)) {
          await delay(pauseMs)
          continue
        }
        // Nobody knows what became of it: it must not happen later either. A hold that is open already is left to the end of
        // its call, which is charged whatever was set aside.
        if (unknown && !raising) void ending.release(request, true)
        throw error
      }
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

  const openCalls = (): number => open.size + ending.pending()

  return {
    reserve,
    settle: (row, afterwards) => end(row.id, () => ending.settle(row, afterwards)),
    renew: async (renewal) => {
      const { next: request, remaining = 0 } = renewal
      let { next } = await end(renewal.row.id, () => ending.renew(renewal))
      if (remaining > 0) {
        open.add(request.id)
        leases?.held({ ...request, amount: remaining })
      }
      if (next && isShort(next) && (await recallLeases(request.userId))) next = await ask(request, remaining > 0)
      if (!next) throw new Error('a renewal has a verdict on its next hold')
      if (next.verdict === 'ok') {
        open.add(request.id)
        leases?.held(request)
      }
      return next
    },
    release: (hold) =>
      end(hold.id, async () => {
        const isBooked = (hold.uncharged?.costs.length ?? 0) === 0 && leases?.release(hold.id)
        if (!isBooked) await ending.release(hold, false)
      }),
    handOver: (ids) => {
      for (const id of ids) open.delete(id)
    },
    recallLeases,
    returnLeases: (which) => leases?.returnLeases(which),
    leasesReturned: async () => leases?.returned(locked.holdsUp),
    openCalls,
    waiting: () => queue.size,
    drained: async () => {
      while (openCalls() > 0) await delay(20)
      leases?.stop()
      await leases?.returned()
    },
  }
}

/** What is read between a refusal and the next attempt may have been leased anew by a process that did not hear in time. */
const mostRecalls = 3

const isShort = ({ verdict }: ReserveResult): boolean =>
  verdict === 'user_insufficient' || verdict === 'token_insufficient'

async function hasLeases(pool: Pool, userId: number): Promise<boolean> {
  const { rowCount } = await pool.query({
    name: 'ledger_open_leases',
    text: 'select 1 from leases where user_id = $1 and not closing limit 1',
    values: [userId],
  })
  return rowCount !== 0
}

const causeOf = (error: unknown): unknown => (error instanceof ItemRefused ? error.cause : error)

/** Whether a charge was committed: for an hour at least, log row or none, and as long as it has a log row. */
async function wasSettled(pool: Pool, id: string): Promise<boolean> {
  const { rows } = await pool.query<{ settled: boolean }>({
    text: 'select ledger_was_settled($1) as settled',
    values: [id],
  })
  return rows[0]?.settled === true
}

/** The same of a charge of long ago, null where nothing shows it any more. */
async function outcomeOf(pool: Pool, id: string, sentForMs: number): Promise<boolean | null> {
  const { rows } = await pool.query<{ committed: boolean | null }>({
    text: 'select ledger_outcome($1, $2) as committed',
    values: [id, ageInSeconds(sentForMs)],
  })
  return rows[0]?.committed ?? null
}

const longestText = 262_144

/** Keeps a charge that cannot be booked where the operator finds it, and its hold open. */
async function setAside(
  pool: Pool,
  { row, error, isLeased }: { row: ChargeRow; error: unknown; isLeased: boolean },
): Promise<void> {
  const message = storableText(error instanceof Error ? error.message : String(error))
  await pool.query({
    text: 'select ledger_set_aside($1, $2, $3, $4, $5, $6, $7, $8)',
    values: [
      row.id,
      row.userId,
      row.tokenId,
      row.channelId,
      Number.isSafeInteger(row.quota) ? row.quota : null,
      JSON.stringify(row).slice(0, longestText),
      message.slice(0, 2000),
      isLeased,
    ],
  })
}

/** A balance change that is not a call, with the log row that shows it to the user. */
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
  // Whoever leases a part of it is to know that there is less.
  if (input.amount < 0) await execute("select pg_notify('changes', 'user_lease:' || ?::int)", [input.userId])
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
