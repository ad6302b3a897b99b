import type { ReserveResult } from '#features/ledger/charge-row.ts'
import type { CallCore, RelayServices } from '#relay/request/call.ts'
import { type HoldFacts, type HoldPlan, leastHold, planHold } from './hold-plan.ts'
import { refusalOfReserve, reserveOnce } from './reserve.ts'
import { costOfAnswer } from '#core/pricing/estimate.ts'

/** The money set aside for one chat call through all its attempts. It only grows; settling gives back what was too much. */
export type Hold = {
  /** What is set aside; 0 before anything was. */
  readonly amount: number
  readonly taken: boolean
  /** Other calls of the same user are under way here, so that something may soon come back. */
  readonly crowded: boolean
  /** Sets aside what an attempt needs, or what of it can be had. @throws {DomainError} when the call cannot be paid. */
  take: (facts: HoldFacts) => Promise<HoldPlan>
  /** Asks for more; one asking at a time. */
  raise: (amount: number) => Promise<Raise>
  /** Resolves once no asking is under way. */
  idle: () => Promise<void>
  /** No more is asked for from here on. What is being asked for still, the ledger waits for before it settles or releases. */
  finish: () => void
  /** The call is over. */
  close: () => void
}

/** `left`: what is there beyond the hold. */
type Raise = { outcome: 'raised' } | { outcome: 'refused'; left: number } | { outcome: 'failed' }

const mostKept = 20_000
/** Others take from the same balance at the same time, so what was told may be gone a moment later. */
const mostTries = 6

export const payerOf = ({ caller }: Pick<CallCore, 'caller'>): string => `${caller.user.id}:${caller.token?.id ?? 0}`

const left = ({ userQuota, tokenQuota }: ReserveResult): number => Math.min(userQuota, tokenQuota ?? userQuota)
const isShort = ({ verdict }: ReserveResult): boolean =>
  verdict === 'user_insufficient' || verdict === 'token_insufficient'

export function openHold(services: RelayServices, call: CallCore): Hold {
  const { holds } = services
  const userId = call.caller.user.id
  const payer = payerOf(call)
  let amount = 0
  let taken = false
  let finished = false
  let asking: Promise<Raise> | null = null
  holds.open.set(userId, (holds.open.get(userId) ?? 0) + 1)

  const remember = (available: number): void => {
    holds.lastSeen.delete(payer)
    holds.lastSeen.set(payer, available)
    if (holds.lastSeen.size > mostKept) holds.lastSeen.delete(holds.lastSeen.keys().next().value as string)
  }
  const callsNow = (): number => holds.open.get(userId) ?? 1

  const idle = async (): Promise<void> => {
    while (asking) await asking
  }

  const take = async (facts: HoldFacts): Promise<HoldPlan> => {
    await idle()
    const least = leastHold(facts)
    const planFor = (available: number): HoldPlan | null => planHold(facts, available, callsNow())
    const isFixed = (): boolean => costOfAnswer(facts.terms, 1e6) === costOfAnswer(facts.terms, 0)
    let available = facts.grows || isFixed() ? Infinity : (holds.lastSeen.get(payer) ?? Infinity)
    let best: HoldPlan | null = null
    for (let tries = 1; ; tries += 1) {
      const plan = planFor(available) ?? planFor(least)
      if (!plan) throw new Error('the least hold has a plan')
      const result = await reserveOnce(services, call, plan.amount)
      available = left(result) + amount
      if (result.verdict === 'ok') {
        taken = true
        amount = Math.max(amount, plan.amount)
        best = plan
      } else if (!isShort(result)) throw refusalOfReserve(services, call, { result, amount: plan.amount })
      if (!facts.grows) remember(available)
      const better = planFor(available)
      if (best && (!better || better.answerTokens <= best.answerTokens || tries >= mostTries)) return best
      if (!better || tries >= mostTries) throw refusalOfReserve(services, call, { result, amount: least })
    }
  }

  const ask = async (wanted: number): Promise<Raise> => {
    const { token, user } = call.caller
    try {
      const result = await services.ledger.reserve({
        id: call.id,
        userId: user.id,
        tokenId: token?.id ?? 0,
        amount: wanted,
      })
      if (result.verdict === 'ok') {
        amount = Math.max(amount, wanted)
        return { outcome: 'raised' }
      }
      return { outcome: 'refused', left: isShort(result) ? Math.max(0, left(result)) : 0 }
    } catch (error) {
      services.log.warn({ err: error, requestId: call.id }, 'a hold could not be raised')
      return { outcome: 'failed' }
    }
  }

  return {
    get amount() {
      return amount
    },
    get taken() {
      return taken
    },
    get crowded() {
      return callsNow() > 1
    },
    take,
    raise: (wanted) => {
      if (finished) return Promise.resolve({ outcome: 'refused', left: 0 })
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
      const others = (holds.open.get(userId) ?? 1) - 1
      if (others > 0) holds.open.set(userId, others)
      else holds.open.delete(userId)
    },
  }
}
