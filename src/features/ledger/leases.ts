import { setTimeout as delay } from 'node:timers/promises'
import type { ReserveRequest, ReserveResult } from './charge-row.ts'
import type { Committed, EndOfHold } from './ending.ts'
import {
  type Granted,
  type Lease,
  type LeaseReturn,
  type LeaseTake,
  leaseFor,
  learnCost,
  newPayer,
  type Payer,
} from './lease-payer.ts'
import { ledgerLimits } from './limits.ts'
import type { RowsOfItem } from './locked-rows.ts'

/** `part` stands in the lease, `held` in a hold of its own; `asked`: the database may know of it. */
type OpenCall = { payer: Payer; lease: Lease | null; part: number; held: number; asked: boolean }

type Use = { spent: number; freed: number; calls: number }

/** What one batch says of leases, and what is done with it once that is committed. */
export type LeasePlan = {
  named: { id: number; keep: number; closing: boolean }[]
  known: number[]
  /** Whose rows are to be locked. */
  rows: { userId: number; tokenId: number }[]
  committed: (balances: ReadonlyMap<number, Committed>, found: ReadonlySet<number>) => void
}

export type Leases = ReturnType<typeof createLeases>

const { leaseFromCalls, leaseIdleMs, leasePauseMs } = ledgerLimits
const lowWater = 0.4
const deniedPauseMs = 2000
const lookEveryMs = 1000
const lookForLocksEveryMs = 50

const roomOf = (lease: Lease): number => lease.amount - lease.reserved
/** What a charge takes of the lease of its call. */
const spentOf = (call: OpenCall, quota: number): number => Math.min(Math.max(quota, 0), call.part)

/**
 * What this process may give its calls without asking. Leases are rows in the database, which keep their part of a balance from
 * everybody else; here is how much of each is in use. This process alone changes its leases, one batch after another.
 */
export function createLeases(deps: {
  nodeId: () => number
  /** Notices reach this process and its leases are known to be its own. */
  mayLease: () => boolean
  take: (act: LeaseTake) => Promise<Granted | null>
  giveBack: (act: LeaseReturn) => Promise<unknown>
  /** Reservations in a second from which on a token is busy. */
  fromCalls?: number | undefined
  /** So long a lease that nothing is set aside from is kept. */
  idleMs?: number | undefined
}) {
  const payers = new Map<number, Payer>()
  const leasesOf = new Map<number, Set<Lease>>()
  const calls = new Map<string, OpenCall>()
  const waiting = new Set<number>()
  /** What is to be answered by the database, and whose rows it needs. */
  const pending = new Map<Promise<unknown>, RowsOfItem>()
  /** Whom anything was ever leased of: the database may keep what this process knows nothing of, after a lost answer. */
  const asked = new Set<number>()
  let taken = 0
  let stopped = false

  const payerOf = (request: ReserveRequest): Payer => {
    const payer = payers.get(request.tokenId) ?? newPayer(request)
    payers.set(request.tokenId, payer)
    return payer
  }

  const track = (work: Promise<unknown>, { userId, tokenId = 0 }: { userId: number; tokenId?: number }): void => {
    pending.set(work, { userId, tokenId, channelIds: [] })
    void work.finally(() => pending.delete(work))
  }

  /** Sent again until it is done: what nobody uses is not to stay away from its owner. */
  const giveBack = (userId: number): void => {
    if (waiting.has(userId)) return
    waiting.add(userId)
    const send = async (): Promise<void> => {
      for (let pause = 50; ; pause = Math.min(pause * 2, 2000)) {
        try {
          await deps.giveBack({ returnsOf: userId })
          return
        } catch {
          await delay(pause)
        }
      }
    }
    track(send(), { userId })
  }

  const close = (payer: Payer): boolean => {
    const { current, taking } = payer
    if (taking) taking.take.voided = true
    if (current) current.closing = true
    payer.current = null
    return current !== null || taking !== null
  }

  const ask = (payer: Payer): void => {
    if (stopped || payer.taking || performance.now() < payer.notBefore) return
    const size = leaseFor(payer, deps.fromCalls ?? leaseFromCalls)
    if (!size || !deps.mayLease()) return
    taken += 1
    const { userId, tokenId } = payer
    asked.add(userId)
    const act: LeaseTake = {
      take: { ...size, id: deps.nodeId() * 2 ** 31 + taken, userId, tokenId, voided: false },
    }
    payer.taking = act
    track(
      deps.take(act).then(
        (granted) => {
          payer.taking = null
          if (granted && !act.take.voided) install(payer, act, granted)
          else if (!granted) payer.notBefore = Math.max(payer.notBefore, performance.now() + deniedPauseMs)
        },
        () => {
          payer.taking = null
          payer.notBefore = performance.now() + deniedPauseMs
          // It may have been granted.
          giveBack(payer.userId)
        },
      ),
      payer,
    )
  }

  const install = (payer: Payer, { take: { id, amount } }: LeaseTake, granted: Granted): void => {
    const before = payer.current
    const lease = {
      ...granted,
      id,
      payer,
      size: amount,
      amount,
      reserved: 0,
      calls: 0,
      closing: false,
      lost: false,
      usedAt: performance.now(),
    }
    payer.current = lease
    const ofUser = leasesOf.get(payer.userId)
    if (ofUser) ofUser.add(lease)
    else leasesOf.set(payer.userId, new Set([lease]))
    if (!before) return
    before.closing = true
    // Else the end of its next call says so.
    if (before.calls === 0) giveBack(payer.userId)
  }

  const verdictOf = (lease: Lease): ReserveResult => {
    const room = roomOf(lease)
    const { userFree, tokenFree } = lease
    const userQuota = userFree + room
    return {
      verdict: 'ok',
      userQuota,
      payable: userQuota,
      tokenQuota: tokenFree === null ? null : tokenFree + room,
      capLeft: null,
      cap: null,
    }
  }

  /** An open lease that may be used now, if there is so much left of it. */
  const usable = (payer: Payer, amount: number): Lease | null => {
    const { current } = payer
    if (!current || roomOf(current) < amount || !deps.mayLease()) return null
    current.usedAt = performance.now()
    return current
  }

  const raise = (call: OpenCall, amount: number): ReserveResult | null => {
    const { lease } = call
    if (!lease) return null
    const more = amount - call.part - call.held
    if (more <= 0) return verdictOf(lease)
    if (lease !== usable(call.payer, more)) return null
    lease.reserved += more
    call.part += more
    call.payer.underWay += more
    return verdictOf(lease)
  }

  const forget = (id: string, call: OpenCall): void => {
    calls.delete(id)
    call.payer.underWay -= call.part + call.held
  }

  const forgetLease = (lease: Lease): void => {
    const { userId } = lease.payer
    const ofUser = leasesOf.get(userId)
    ofUser?.delete(lease)
    if (ofUser?.size === 0) leasesOf.delete(userId)
  }

  /** Takes a call out of its lease. What the balance paid for it the next batch that names the lease takes off its row. */
  const free = (id: string, call: OpenCall, quota = 0): void => {
    forget(id, call)
    const { lease } = call
    if (!lease) return
    lease.reserved -= call.part
    lease.amount -= spentOf(call, quota)
    lease.calls -= 1
    if (lease.closing) giveBack(call.payer.userId)
  }

  const look = (): void => {
    const now = performance.now()
    for (const payer of payers.values()) {
      payer.callsBefore = payer.calls
      payer.calls = 0
      if (payer.current && now - payer.current.usedAt > (deps.idleMs ?? leaseIdleMs)) {
        close(payer)
        giveBack(payer.userId)
      }
      const isIdle = payer.callsBefore === 0 && payer.underWay <= 0 && now > payer.notBefore
      if (isIdle && !payer.current && !payer.taking) payers.delete(payer.tokenId)
    }
  }
  const looking = setInterval(look, lookEveryMs)
  looking.unref()

  /** Of the payers of a user, a token, or all: nothing is set aside in memory from now on, and for a while. */
  const returnLeases = (which: { userId: number } | { tokenId: number } | 'all'): void => {
    const notBefore = performance.now() + leasePauseMs
    const giving = new Set<number>()
    const concerned =
      which !== 'all' && 'tokenId' in which
        ? [payers.get(which.tokenId)].filter((payer) => payer !== undefined)
        : [...payers.values()].filter((payer) => which === 'all' || payer.userId === which.userId)
    for (const payer of concerned) {
      payer.notBefore = notBefore
      if (close(payer)) giving.add(payer.userId)
    }
    if (which === 'all') for (const userId of asked) giving.add(userId)
    else if ('userId' in which && asked.has(which.userId)) giving.add(which.userId)
    for (const userId of giving) giveBack(userId)
  }

  /** Whoever has less than what is leased here is not to be trusted with it, however that came about. */
  const lookAtBalances = (balances: ReadonlyMap<number, Committed>): void => {
    for (const [userId, { userQuota }] of balances) {
      let leased = 0
      for (const lease of leasesOf.get(userId) ?? []) if (!lease.closing) leased += lease.amount
      if (leased > userQuota) returnLeases({ userId })
    }
  }

  const plan = (ends: readonly EndOfHold[], returned: ReadonlySet<number>): LeasePlan => {
    const uses = new Map<Lease, Use>()
    const ended: { id: string; call: OpenCall; quota: number | null }[] = []
    for (const end of ends) {
      const call = calls.get(end.id)
      if (!call) continue
      const quota = 'release' in end ? null : end.quota
      ended.push({ id: end.id, call, quota })
      if (!call.lease) continue
      const use = uses.get(call.lease) ?? { spent: 0, freed: 0, calls: 0 }
      // A charge that was given up may have been committed after all, and the row lowered by it.
      use.spent += 'release' in end && end.voids ? call.part : spentOf(call, quota ?? 0)
      use.freed += call.part
      use.calls += 1
      uses.set(call.lease, use)
    }
    const known: number[] = []
    for (const userId of returned) {
      waiting.delete(userId)
      for (const lease of leasesOf.get(userId) ?? []) {
        known.push(lease.id)
        if (lease.closing && !uses.has(lease)) uses.set(lease, { spent: 0, freed: 0, calls: 0 })
      }
    }
    const changes = [...uses].map(([lease, use]) => ({
      lease,
      use,
      closing: lease.closing,
      keep: Math.max(0, lease.closing ? lease.reserved - use.freed : lease.amount - use.spent),
    }))
    const named = changes.filter(({ lease, closing, use }) => !lease.lost && (closing || use.spent > 0))
    return {
      named: named.map(({ lease, keep, closing }) => ({ id: lease.id, keep, closing })),
      known,
      rows: named.map(({ lease: { payer } }) => payer),
      committed: (balances, found) => {
        for (const { id, call, quota } of ended) {
          if (calls.get(id) !== call) continue
          forget(id, call)
          if (quota !== null) learnCost(call.payer, quota)
        }
        for (const { lease, use, closing, keep } of changes) {
          lease.reserved -= use.freed
          lease.calls -= use.calls
          lease.amount = closing ? Math.min(lease.amount, keep) : lease.amount - use.spent
          if (closing && lease.calls === 0) forgetLease(lease)
        }
        // One that is gone although it should keep something was given back by others: nothing of it can be relied on.
        for (const { lease, keep } of named) if (keep > 0 && !found.has(lease.id)) loseLease(lease)
        lookAtBalances(balances)
      },
    }
  }

  const loseLease = (lease: Lease): void => {
    const { payer } = lease
    lease.closing = true
    lease.lost = true
    forgetLease(lease)
    if (payer.current === lease) payer.current = null
    payer.notBefore = performance.now() + leasePauseMs
    giveBack(payer.userId)
  }

  return {
    /** Sets aside from a lease, or raises what was; null: the database has to be asked. */
    reserve: (request: ReserveRequest): ReserveResult | null => {
      const known = calls.get(request.id)
      if (known) return raise(known, request.amount)
      if (request.tokenId === 0) return null
      const payer = payerOf(request)
      payer.calls += 1
      const lease = usable(payer, request.amount)
      if (!lease) {
        ask(payer)
        return null
      }
      lease.reserved += request.amount
      lease.calls += 1
      payer.underWay += request.amount
      calls.set(request.id, { payer, lease, part: request.amount, held: 0, asked: false })
      if (roomOf(lease) < lease.size * lowWater) ask(payer)
      return verdictOf(lease)
    },
    /** What the database is to be asked for: what does not stand in the lease. */
    asking: (request: ReserveRequest): ReserveRequest => {
      const call = calls.get(request.id)
      if (!call) return request
      call.asked = true
      return { ...request, amount: request.amount - call.part }
    },
    /** The database has set it aside. */
    held: ({ id, userId, tokenId, amount }: ReserveRequest): void => {
      if (tokenId === 0) return
      const call = calls.get(id) ?? {
        payer: payerOf({ id, userId, tokenId, amount }),
        lease: null,
        part: 0,
        held: 0,
        asked: true,
      }
      calls.set(id, call)
      call.payer.underWay += amount - call.held
      call.held = amount
    },
    isLeased: (id: string): boolean => calls.get(id)?.lease != null,
    /** Ends a call that the database knows nothing of; false where it has to be asked. */
    release: (id: string): boolean => {
      const call = calls.get(id)
      if (!call?.lease || call.asked) return false
      free(id, call)
      return true
    },
    /** The call came to its end outside the batches, at this cost. */
    drop: ({ id, quota }: { id: string; quota: number }): void => {
      const call = calls.get(id)
      if (call) free(id, call, quota)
    },
    plan,
    returnLeases,
    /** Resolves when everything that was to be given back is, but for what waits for a row that somebody keeps locked. */
    returned: async (holdsUp: (rows: RowsOfItem) => boolean = () => false): Promise<void> => {
      const due = [...pending.keys()]
      const isDue = (work: Promise<unknown>): boolean => {
        const rows = pending.get(work)
        return rows !== undefined && !holdsUp(rows)
      }
      for (let left = due.filter(isDue); left.length > 0; left = left.filter(isDue))
        await Promise.race([Promise.all(left), delay(lookForLocksEveryMs)])
    },
    stop: (): void => {
      stopped = true
      clearInterval(looking)
      returnLeases('all')
    },
  }
}
