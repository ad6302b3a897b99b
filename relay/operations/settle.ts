import { DomainError } from '#core/errors.ts'
import type { ReportedUsage } from '#core/usage.ts'
import { SettleFailed } from '#features/ledger/service.ts'
import { AttemptFailed, failureOfDomainError } from '#relay/attempt/failure.ts'
import { attemptRecord } from '#relay/billing/log-row.ts'
import { asSent } from './as-sent.ts'
import { plainChargeRow, type PlainEnd, plainUsage } from './bill.ts'
import { drawsImages } from './images.ts'
import type { Try } from './send.ts'
import type { PlainCall } from './types.ts'

/** The call as it is sent, which is what is charged. */
export const sentBy = ({ services, call, attempt }: Try): PlainCall => asSent(services, call, attempt.channel)

/** Of an operation that draws. */
export const imagesAsked = ({ asked }: PlainCall, { mostImages }: Try): number =>
  drawsImages(asked) ? Math.min(asked.count, mostImages ?? Infinity) : 0

type Drawn = {
  /** Those that came. */
  images: number
  /** Those of which the upstream says that they did not. */
  failed: number
}

/**
 * The call that is charged. Vendors have words of their own for the number of images, so where more came than were asked for, those
 * that came count; of an answer that broke off, or says itself that some failed, they alone do.
 */
function charged(current: Try, { drawn = { images: 0, failed: 0 }, end }: Pick<Reported, 'drawn' | 'end'>): PlainCall {
  const sent = sentBy(current)
  if (!drawsImages(sent.asked)) return sent
  const { images, failed } = drawn
  // For one who has left the upstream may draw on.
  const due = end === 'hung-up' || failed === 0 ? imagesAsked(sent, current) - failed : 0
  const count = end === 'failed' ? images : Math.max(due, images)
  return { ...sent, asked: { ...sent.asked, count } }
}

type Reported = {
  usage?: ReportedUsage | undefined
  seconds?: number | undefined
  drawn?: Drawn | undefined
  end?: PlainEnd['end'] | undefined
}

export const usedBy = (current: Try, { usage, seconds, drawn, end }: Reported) =>
  plainUsage(
    charged(current, { drawn, end }),
    { upstreamModel: current.attempt.upstreamModel, terms: current.plan.terms, count: current.services.counter.count },
    { usage, seconds },
  )

export type End = {
  used: PlainEnd['used']
  /** Images that came, of an operation that draws. */
  drawn?: Drawn | undefined
  firstByteMs: number | null
  end: PlainEnd['end']
}

/** Charges an operation that has ended. */
export async function settle(current: Try, { used, drawn, firstByteMs, end }: End): Promise<void> {
  const { services, call, plan, attempt, sentAt } = current
  const upstreamMs = performance.now() - sentAt
  plan.attempts.push(attemptRecord(attempt, { status: end === 'failed' ? 500 : 200, ms: upstreamMs }))
  // Read to its end for somebody who had left.
  const isForNobody = end === 'complete' && call.callerAborted.signal.aborted
  const row = plainChargeRow(services, charged(current, { drawn, end }), {
    plan,
    end: { used, firstByteMs, upstreamMs, end: isForNobody ? 'hung-up' : end, losses: current.losses },
  })
  try {
    await services.ledger.settle(row, call.res.headersSent ? 'go-on' : 'give-up')
  } catch (error) {
    if (!(error instanceof SettleFailed)) throw error
    throw new AttemptFailed(failureOfDomainError(new DomainError('relay.unavailable')), { local: true, cause: error })
  }
}
