import { costOfAnswer } from '#core/pricing/estimate.ts'
import type { Writable } from '#core/writable.ts'
import type { Attempt, Call, RelayServices } from '#relay/request/call.ts'
import { holdFactsOf } from './hold-facts.ts'
import { type Beside, type HoldFacts, type HoldPlan, leastHold, planHold } from './hold-plan.ts'
import { payerOf } from './answer-lengths.ts'
import type { CallPrice } from './price-call.ts'
import { availableIn, isInsufficient, refusalOfReserve, reserveOnce } from './reserve.ts'

/** The money set aside for one chat call through all its attempts. It only grows; settling gives back what was too much. */
export type Hold = {
  /** What is set aside; 0 before anything was. */
  readonly amount: number
  readonly taken: boolean
  /** Other calls of the same user are under way here, so that something may soon come back. */
  crowded: () => boolean
  /** Sets aside what an attempt needs, or what of it can be had. @throws {DomainError} when the call cannot be paid. */
  take: (attempt: { attempt: Attempt; terms: CallPrice }) => Promise<void>
  /** What the latest attempt needs and what of it is set aside. */
  held: () => Held
  /** Asks for more; one asking at a time. */
  raise: (amount: number) => Promise<Raise>
  /** Resolves once no asking is under way. */
  idle: () => Promise<void>
  /** No more is asked for from here on. What is being asked for still, the ledger waits for before it settles or releases. */
  finish: () => void
  /** The call is over. */
  close: () => void
}

/** What is set aside for an attempt, and why so much. */
export type Held = { hold: Hold; facts: HoldFacts; plan: HoldPlan }

/** `available`: what is there beyond the hold. */
type Raise = { outcome: 'raised' } | { outcome: 'refused'; available: number } | { outcome: 'failed' }

const mostEntries = 20_000
/** Others take from the same balance at the same time, so what was read may be gone a moment later. */
const maxAttempts = 6

function add(counts: Map<number, number>, userId: number, change: 1 | -1): void {
  const count = (counts.get(userId) ?? 0) + change
  if (count > 0) counts.set(userId, count)
  else counts.delete(userId)
}

export function openHold(services: RelayServices, call: Call): Hold {
  const { holds } = services
  const userId = call.caller.user.id
  let latest: { facts: HoldFacts; plan: HoldPlan } | null = null
  let finished = false
  let asking: Promise<Raise> | null = null
  let isReading = false
  add(holds.open, userId, 1)

  const remember = (available: number): void => {
    const payer = payerOf(call)
    holds.lastSeen.delete(payer)
    holds.lastSeen.set(payer, available)
    if (holds.lastSeen.size > mostEntries) holds.lastSeen.delete(holds.lastSeen.keys().next().value as string)
  }
  const callsNow = (): number => holds.open.get(userId) ?? 1
  const beside = (): Beside => ({
    calls: callsNow(),
    reading: (holds.reading.get(userId) ?? 0) - (isReading ? 1 : 0),
  })
  const setReading = (reads: boolean): void => {
    if (reads !== isReading) add(holds.reading, userId, reads ? 1 : -1)
    isReading = reads
  }

  const idle = async (): Promise<void> => {
    while (asking) await asking
  }

  const reserveFor = async (facts: HoldFacts): Promise<HoldPlan> => {
    const isFixed = (): boolean => costOfAnswer(facts.terms, 1e6) === costOfAnswer(facts.terms, 0)
    let available = facts.grows || isFixed() ? Infinity : (holds.lastSeen.get(payerOf(call)) ?? Infinity)
    let best: HoldPlan | null = null
    for (let attempts = 1; ; attempts += 1) {
      const now = beside()
      const least = leastHold(facts, now)
      const planFor = (left: number): HoldPlan | null => planHold(facts, left, now)
      const plan = planFor(available) ?? planFor(least)
      if (!plan) throw new Error('the least hold has a plan')
      // Of several that come at once one may begin without what it may read.
      if (facts.unseen && plan.unseen === undefined) setReading(true)
      const result = await reserveOnce(services, call, { amount: plan.amount })
      available = availableIn(result) + hold.amount
      if (result.verdict === 'ok') {
        hold.taken = true
        hold.amount = Math.max(hold.amount, plan.amount)
        best = plan
        if (plan.unseen !== undefined) setReading(false)
      } else if (!isInsufficient(result)) throw refusalOfReserve(services, call, { result, amount: plan.amount })
      if (!facts.grows) remember(available)
      const better = planFor(available)
      const isMore =
        better && best && (better.answerTokens > best.answerTokens || (better.unseen ?? 0) > (best.unseen ?? 0))
      if (best && (!isMore || attempts >= maxAttempts)) return best
      if (!better || attempts >= maxAttempts) throw refusalOfReserve(services, call, { result, amount: least })
    }
  }

  const ask = async (wanted: number): Promise<Raise> => {
    try {
      const result = await reserveOnce(services, call, { amount: wanted })
      if (result.verdict === 'ok') {
        hold.amount = Math.max(hold.amount, wanted)
        return { outcome: 'raised' }
      }
      return { outcome: 'refused', available: isInsufficient(result) ? Math.max(0, availableIn(result)) : 0 }
    } catch (error) {
      if (!finished) services.log.warn({ err: error, requestId: call.id }, 'a hold could not be raised')
      return { outcome: 'failed' }
    }
  }

  const hold: Writable<Hold> = {
    amount: 0,
    taken: false,
    crowded: () => callsNow() > 1,
    take: async (attempt) => {
      const facts = holdFactsOf(services, call, attempt)
      await idle()
      latest = { facts, plan: await reserveFor(facts) }
    },
    held: () => {
      if (!latest) throw new Error('nothing is set aside yet')
      return { hold, ...latest }
    },
    raise: (wanted) => {
      if (finished) return Promise.resolve({ outcome: 'refused', available: 0 })
      asking ??= ask(wanted).finally(() => {
        asking = null
      })
      return asking
    },
    idle,
    finish: () => {
      finished = true
    },
    close: () => {
      add(holds.open, userId, -1)
      setReading(false)
    },
  }
  return hold
}
