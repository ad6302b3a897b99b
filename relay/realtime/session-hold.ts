import { setTimeout as delay } from 'node:timers/promises'
import { DomainError } from '#core/errors.ts'
import { ceilingOf } from '#core/pricing/charge.ts'
import type { Usage } from '#core/usage.ts'
import type { ReserveResult } from '#features/ledger/charge-row.ts'
import { payerOf } from '#relay/billing/answer-lengths.ts'
import { mostReadAt } from '#relay/billing/most-read.ts'
import { createWaitLimit } from '#core/wait-limit.ts'
import { availableIn, isInsufficient, refusalOfReserve, reserveOnce } from '#relay/billing/reserve.ts'
import type { Session } from './call.ts'
import type { Meter } from './meter-type.ts'

/** What is set aside for the response under way or the next one. */
export type SessionHold = {
  id: string
  amount: number
  /** Something is set aside: while a charge is under way, or once the session has been refused more, for other responses alone. */
  held: boolean
  /** Why nothing more is set aside. */
  refusal: DomainError | null
}

/** A response was asked for, one has begun, or more is said. */
export type Followed = 'asked' | 'begun' | 'more'

/** What there has to be and what is asked for; `looks`: also refused where more was charged since than anybody had. */
type Raise = { least: number; wanted: number; looks: boolean }

/** More is asked for once so much is used up of what is set aside for answers. */
const raiseAt = 0.6
/** Tokens of an answer that are paid for ahead of it, and with which one may begin. */
const leastAhead = 64
const leastAnswer = 16
const maxAttempts = 6
const longestOutageMs = 10_000
const pauseMs = 200

/** With room for more of the answers only: what is read before them is known, and may cost far more than they do. */
const withRoom = (usage: Usage): Usage => ({
  ...usage,
  completionTokens: Math.ceil(usage.completionTokens / raiseAt),
  audioOutputTokens: Math.ceil(usage.audioOutputTokens / raiseAt),
})

const leftOf = (result: ReserveResult): number => Math.max(0, availableIn(result))

/** Keeps the hold of a session ahead of what is said in it. */
export function createHoldRaiser(
  session: Session,
  meter: Meter,
  { hold, usual }: { hold: SessionHold; usual: number },
) {
  const { services, call, plan } = session
  let refusedAt = -1

  const isPerCall = plan.terms.price.kind === 'call'
  const isFixed = (isPerCall && !session.transcribes) || plan.terms.groupRatio === 0
  const costOf = (usage: Usage, ahead: number): number => {
    const cost = ceilingOf({
      formula: 'audio',
      ...plan.terms,
      usage: {
        ...usage,
        completionTokens: usage.completionTokens + ahead,
        audioOutputTokens: usage.audioOutputTokens + (meter.outputsAudio ? ahead : 0),
      },
    })
    // Each transcription is a call.
    return isPerCall ? cost * meter.readers.all : cost
  }
  const isCovered = (usage: Usage): boolean =>
    costOf(refusedAt === hold.amount ? usage : withRoom(usage), 0) <= hold.amount
  const ask = (amount: number): Promise<ReserveResult> => reserveOnce(services, { ...call, id: hold.id }, { amount })

  /** Resolves with why nothing more may be said. */
  const raise = async ({ least, wanted, looks }: Raise): Promise<DomainError | null> => {
    let target = Math.max(wanted, hold.amount + 1)
    for (let attempts = 1; ; attempts += 1) {
      const result = await ask(target)
      if (result.verdict === 'ok') {
        hold.amount = target
        return null
      }
      // What is set aside is no longer there where more was charged since than anybody had.
      if (looks && (!isInsufficient(result) || availableIn(result) < 0))
        return refusalOfReserve(services, call, { result, amount: least })
      const there = hold.amount + leftOf(result)
      if (there < least || attempts >= maxAttempts) {
        refusedAt = hold.amount
        return least <= hold.amount ? null : refusalOfReserve(services, call, { result, amount: least })
      }
      // Others find something, too, as long as it is enough.
      target = Math.max(least, hold.amount + Math.ceil(leftOf(result) / 2))
      if (target <= hold.amount) {
        refusedAt = hold.amount
        return null
      }
    }
  }

  const keepTrying = async (asked: Raise): Promise<DomainError | null> => {
    const waited = createWaitLimit(longestOutageMs, () => performance.now())
    for (;;) {
      try {
        return await raise(asked)
      } catch (error) {
        if (asked.least <= hold.amount) return null
        if (waited() || call.upstreamAbort.signal.aborted) {
          return error instanceof DomainError ? error : new DomainError('relay.unavailable', {}, { cause: error })
        }
        await delay(pauseMs)
      }
    }
  }

  const expected = (): number =>
    services.holds.lengths.expect(payerOf(call), plan.attempt.upstreamModel).tokens ?? leastAhead
  const mostRead = mostReadAt(plan.terms, plan.attempt.upstreamModel)
  /** For what nobody has counted the most that may be. */
  const soFar = (): Usage => {
    const usage = meter.soFar()
    return { ...usage, promptTokens: usage.promptTokens + meter.unseen * mostRead }
  }
  /** For each that has said nothing the beginning of an answer, and for each at least what is usually set aside for one. */
  const leastFor = (silent: number): number =>
    // Transcriptions are as long as their sound, which is counted.
    Math.max(costOf(soFar(), leastAnswer * silent), session.transcribes ? 0 : meter.readers.all * usual)

  return {
    /** What has to be set aside for all that is under way or asked for, or may begin by itself. */
    due: (): number => (isFixed || (!meter.responding && meter.unseen === 0) ? 0 : leastFor(meter.readers.silent)),
    /** Whether what was said so far is paid for, with room for more. */
    isAhead: (): boolean => isFixed || (hold.held && isCovered(soFar())),
    /**
     * Sets aside what was said so far and a piece more; for a response that begins, what one usually comes to, and not without a look
     * at what is left.
     */
    follow: async (what: Followed): Promise<DomainError | null> => {
      const begins = what !== 'more'
      // One that was asked for has had its look then.
      const looks = what === 'asked' || (what === 'begun' && !meter.isOpenAsked)
      // Nothing more is sent to the upstream while the session is about to end.
      if (hold.refusal || !hold.held) return begins ? hold.refusal : null
      if (isFixed) return null
      const usage = soFar()
      if (!begins && isCovered(usage)) return null
      const silent = begins ? Math.max(1, meter.readers.silent) : 0
      const least = begins ? leastFor(silent) : costOf(usage, 0)
      const ahead = begins ? expected() * silent : Math.max(leastAhead, usage.completionTokens)
      const wanted = Math.max(least, costOf(usage, ahead))
      return wanted <= hold.amount && !looks ? null : keepTrying({ least, wanted, looks })
    },
  }
}
