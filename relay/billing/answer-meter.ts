import { setTimeout as delay } from 'node:timers/promises'
import { type AnswerTerms, answerTokensFor, costOfAnswer } from '#core/pricing/estimate.ts'
import { normaliseUsage } from '#core/usage.ts'
import { hasOwnEncoder } from '#relay/counting/count-text.ts'
import { countDelivered } from '#relay/counting/estimate-usage.ts'
import type { WireEvent } from '#relay/transport/framing.ts'
import type { AttemptContext } from '#relay/attempt/attempt-context.ts'
import { payerOf } from './answer-lengths.ts'
import { createWaitLimit } from '#core/wait-limit.ts'
import type { StreamWriter } from '#relay/response/stream-writer.ts'

/** `limit`: there is nothing left to pay for more; `unbooked`: nothing can be booked now. */
export type MayGoOn = 'yes' | 'limit' | 'unbooked'

/** Keeps the hold of a streamed answer ahead of what is delivered. */
export type AnswerMeter = {
  /** Takes note of an event that is about to leave. False: nothing may follow it before `more` says so. */
  note: (event: WireEvent) => boolean
  /** Resolves once the hold covers what was delivered and a piece more, or cannot. */
  more: () => Promise<MayGoOn>
}

/** The hold is raised once so much of it is used up, at first by a rough count. */
const raiseAt = 0.6
const leastRaise = 256
/** A remainder that buys fewer tokens is taken whole. */
const smallRemainder = 16
/** After so many events one can tell how good the rough count is. */
const eventsBeforeScale = 8
/** Events are mostly envelope; so many bytes count as that until a shorter event has shown more. */
const envelopeBytes = 600
const bytesPerToken = 3
/** An event that may carry more is looked into: it may be a copy of what came before, sources, or sealed reasoning. */
const ordinaryTokens = 256

/** Other calls of the same user give back what they did not need, for which a caller waits so long. */
const longestWaitMs = 5000
const longestOutageMs = 10_000
const pauseMs = 200

/**
 * How much more an answer that heeds its limit may be counted as here. The older encoder takes four times as many tokens as others do
 * for the scripts of India, and nobody who heeds a limit may be cut.
 */
const mostHeeded = { own: 1.05, foreign: 5 }

/**
 * Nothing for an answer that is paid for whatever its length. While the hold covers the answer's own limit, or that which was sent for
 * it, nothing more is asked for; an upstream that does not heed the limit is metered from there on like one without.
 */
export function createAnswerMeter(context: AttemptContext, writer: StreamWriter): AnswerMeter | null {
  const { call, held, services, attempt } = context
  const { hold, facts, plan } = held
  const heeded = hasOwnEncoder(attempt.upstreamModel) ? mostHeeded.own : mostHeeded.foreign
  let most = Number.POSITIVE_INFINITY
  if (!facts.grows) most = plan.answerTokens
  else if (facts.limit > 0) most = facts.limit * facts.choices
  let terms: AnswerTerms = facts.terms
  let unseen = plan.unseen ?? 0
  if (answerTokensFor(terms, hold.amount - unseen) >= 1e9) return null

  /** Tokens of the upstream's for one of those counted here. */
  let ratio = services.holds.lengths.expect(payerOf(call), attempt.upstreamModel).answerRatio
  let counted = 0
  let rough = 0
  /** The same since the scale was last found out, and what was counted then. */
  let usual = 0
  let countedBefore = 0
  /** What the rough count makes of a token, found out whenever it is counted better; until then every byte counts. */
  let scale = 1
  let isScaleKnown = false
  let shortest = envelopeBytes
  let covered = 0
  /** The hold covers the limit, which nothing has gone beyond yet. */
  let coversLimit = false
  let nextRaise = 0
  /** The largest event of the answer so far: the next one may be as large, and has to be covered before it comes. */
  let largest = 0
  /** The same before what arrived since the last count was counted: much of an event may be no answer at all. */
  let largestCounted = 0
  /** Since the last count came an event that may be more than text. */
  let extraordinary = false
  let refused = false
  let raisesAhead = false
  let recountedAt = 0

  const cover = (): void => {
    const tokens = answerTokensFor(terms, hold.amount - unseen)
    coversLimit = Number.isFinite(most) && hold.amount - unseen >= costOfAnswer(terms, most)
    covered = tokens / ratio
    if (coversLimit) covered = Math.max(covered, most * Math.max(mostHeeded.own / ratio, heeded) + smallRemainder)
    // What the upstream counts is looked at once in a while.
    if (coversLimit) nextRaise = Math.min(covered, Math.max(most / ratio, counted * 1.25))
    else nextRaise = refused ? covered - largest * scale : covered * raiseAt
  }
  const recount = (): void => {
    const before = counted
    counted = writer.written().tokens
    if (usual >= eventsBeforeScale) {
      const found = (counted - countedBefore) / usual
      // Events that carry little or nothing of the answer tell nothing of those that do.
      if (found >= 0.5) {
        scale = found * 1.1
        isScaleKnown = true
      }
      usual = 0
      countedBefore = counted
    }
    rough = 0
    extraordinary = false
    // Some vendors begin with a copy of the request, tools and all.
    largestCounted = Math.max(largestCounted, Math.min(largest, Math.max(0, counted - before) / scale))
    largest = largestCounted
    // What the upstream reports on its way is believed where it is more, and where it would be charged.
    const { promptTokens, completionTokens } = normaliseUsage(writer.usage() ?? {}).usage
    if (completionTokens > 0) counted = Math.max(counted, completionTokens / ratio)
    // An upstream's own count needs no room for another encoder.
    if (completionTokens > most * mostHeeded.own) most = Number.POSITIVE_INFINITY
    if (promptTokens > terms.promptTokens) terms = { ...terms, promptTokens }
    // What tools read comes while the answer is written.
    if (promptTokens > 0 && call.unseen === 'parts') unseen = 0
    cover()
  }
  // Of an answer that heeds its limit nothing larger follows.
  const isCovered = (): boolean => counted + rough + (coversLimit ? 0 : largest * scale) < covered
  const raise = async (last: boolean): Promise<'raised' | 'refused' | 'failed'> => {
    const target = Math.min(Math.max((counted + rough) * 2, covered * 1.5, covered + leastRaise) * ratio, most)
    const asked = await hold.raise(Math.max(costOfAnswer(terms, target) + unseen, hold.amount + 1))
    if (asked.outcome !== 'refused' || asked.available === 0) return asked.outcome
    const isSmall = asked.available < costOfAnswer(terms, smallRemainder) - costOfAnswer(terms, 0)
    const part = last || isSmall ? asked.available : Math.ceil(asked.available / 2)
    return (await hold.raise(hold.amount + part)).outcome
  }
  const raiseAhead = async (): Promise<void> => {
    if (raisesAhead) return
    raisesAhead = true
    refused = (await raise(false)) !== 'raised'
    raisesAhead = false
    // From here on it matters how much it is.
    if (refused) recount()
    else cover()
  }
  /** By the real encoder, before anybody is cut off: the count by bytes is on the long side. */
  const countExactly = async (): Promise<void> => {
    recountedAt = counted
    const exact = await countDelivered(writer.written(), attempt.upstreamModel, services.counter.count)
    if (counted > 0) ratio = Math.max(exact / counted, 0.1)
    cover()
  }

  const wait = (ms: number): Promise<unknown> =>
    delay(ms, undefined, { signal: call.upstreamAbort.signal }).catch(() => undefined)
  const aborted = new Promise<void>((resolve) => {
    if (call.upstreamAbort.signal.aborted) resolve()
    else call.upstreamAbort.signal.addEventListener('abort', () => resolve(), { once: true })
  })

  const settled = async (): Promise<MayGoOn> => {
    const waitedForOthers = createWaitLimit(longestWaitMs, () => performance.now())
    const waitedForDatabase = createWaitLimit(longestOutageMs, () => performance.now())
    for (;;) {
      await hold.idle()
      recount()
      if (isCovered() || call.upstreamAbort.signal.aborted) return 'yes'
      if (coversLimit) {
        if (counted > recountedAt * 1.1) {
          await countExactly()
          continue
        }
        // Beyond its limit it is an answer without one.
        most = Number.POSITIVE_INFINITY
        cover()
        continue
      }
      const outcome = await raise(true)
      refused = outcome !== 'raised'
      cover()
      if (isCovered() || call.upstreamAbort.signal.aborted) return 'yes'
      if (outcome === 'raised') continue
      if (outcome === 'failed') {
        if (waitedForDatabase()) return 'unbooked'
        await wait(pauseMs)
        continue
      }
      if (counted > recountedAt * 1.1) {
        await countExactly()
        continue
      }
      if (!hold.crowded() || waitedForOthers()) return 'limit'
      await wait(pauseMs)
    }
  }

  cover()
  return {
    note: (event) => {
      const bytes = Buffer.byteLength(event.data)
      if (bytes < shortest && bytes > 2 * bytesPerToken) shortest = bytes
      const tokens = 1 + Math.max(0, bytes - shortest) / bytesPerToken
      usual += tokens
      rough += isScaleKnown ? tokens * scale : bytes / bytesPerToken
      if (tokens > largest) largest = tokens
      if (tokens > ordinaryTokens) extraordinary = true
      if (counted + rough < nextRaise) return true
      // One of several answers may end before the others, and one that went on after its end may do so again.
      if (writer.complete() && facts.choices === 1 && !writer.continued()) return true
      // Counting reads every event, so the rough count of plain text is believed as long as there is more to be had.
      if (!coversLimit && isScaleKnown && !refused && !extraordinary && isCovered()) {
        void raiseAhead()
        return true
      }
      recount()
      if (!coversLimit && counted >= nextRaise && !refused && isCovered()) void raiseAhead()
      return isCovered()
    },
    // A caller who leaves is not waited for; whoever settles waits for what is asked.
    more: () => Promise.race([settled(), aborted.then((): MayGoOn => 'yes')]),
  }
}
