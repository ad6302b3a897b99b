import { DomainError } from '#core/errors.ts'
import { SettleFailed } from '#features/ledger/service.ts'
import type { UpstreamFailure } from '#relay/chat/events.ts'
import type { AttemptContext } from '#relay/attempt/attempt-context.ts'
import { payerOf } from './answer-lengths.ts'
import { failureOfDomainError } from '#relay/attempt/failure.ts'
import { isHeld } from '#relay/providers/shared/held-objects.ts'
import { rememberStored } from '#relay/routing/stored-responses.ts'
import { chargeRowOf, type Ending, isFree } from './charge-row.ts'
import { attemptRecord } from './log-row.ts'
import { type Answered, type AnswerUsage, measureUsage } from './measure-usage.ts'
import { mostReadAt } from './most-read.ts'

export type EndOfCall = Omit<Ending, 'upstreamMs' | 'losses'>

/** Charges the call and writes its log row in one commit. @throws {SettleFailed} when it could not be committed in time. */
export async function settle(
  context: AttemptContext,
  end: EndOfCall,
  afterwards: 'give-up' | 'go-on' = 'go-on',
): Promise<void> {
  const { services, call, attempt, attempts, terms, claude, losses, sent } = context
  context.held.hold.finish()
  const upstreamMs = performance.now() - context.sentAt
  const ending: Ending = { ...end, upstreamMs, losses }
  // That nothing is left to pay for more is no failure of the channel.
  const outcome =
    end.end === 'failed'
      ? { status: 500, reason: end.upstreamMessage ?? end.failure, refusal: end.refusal }
      : { status: 200 }
  attempts.push(attemptRecord(attempt, { ...outcome, ms: upstreamMs }))
  const { keeps = [], measured } = end
  const { containers } = measured.usage
  // Whoever left before the end may name them, too.
  const ids = containers ? [...keeps, ...containers.map(({ id }) => id).filter(isHeld)] : keeps
  const items = { ids, most: () => mostReadAt(terms, attempt.upstreamModel) }
  const remembering = rememberStored(services, call, { attempt, items, usage: measured.usage })
  const row = chargeRowOf(services, call, {
    attempt,
    attempts,
    terms,
    ending: containers ? { ...ending, measured: withNewContainers(measured, await remembering) } : ending,
    claude,
    sent,
    lowered: context.held.plan.lowered,
  })
  await services.ledger.settle(row, afterwards)
  if (end.end === 'complete' && isInformative(end)) learn(context, end)
  await remembering
}

/** A container is charged with the answer that it was made for, not with those that go on in it. */
function withNewContainers(measured: AnswerUsage, made: readonly string[] | undefined): AnswerUsage {
  if (!made) return measured
  const { containers = [], ...usage } = measured.usage
  const charged = containers.filter(({ id }) => !isHeld(id) || made.includes(id))
  return { ...measured, usage: charged.length > 0 ? { ...usage, containers: charged } : usage }
}

/** Whoever reports what cannot be is not believed in the rest either. */
const isInformative = (end: EndOfCall): boolean =>
  end.measured.source !== 'none' && !end.measured.corrected && !isFree(end)

/** What a complete answer says of the next one's length. */
function learn(
  { services, call, attempt, promptTokens: cheapPromptTokens }: AttemptContext,
  { measured, countedTokens }: EndOfCall,
): void {
  const { completionTokens, promptTokens } = measured.usage
  services.holds.lengths.learn(payerOf(call), attempt.upstreamModel, {
    completionTokens,
    choices: call.request.choiceCount ?? 1,
    // What the upstream read as well was not counted here.
    promptTokens:
      measured.source === 'upstream' && !call.storedAt?.conversationTokens && call.unseen === undefined
        ? promptTokens
        : 0,
    cheapPromptTokens,
    countedTokens,
  })
}

/** The caller hung up: the prompt and what was delivered are charged, counted here where no usage came. */
export async function finishHungUp(
  context: AttemptContext,
  answer: Answered,
  progress: { firstTokenMs: number | null; isStream: boolean; cut?: boolean } = {
    firstTokenMs: null,
    isStream: context.call.stream,
  },
): Promise<void> {
  const { call } = context
  const { usage, delivered } = answer
  const measured = await measureUsage(context, {
    usage,
    delivered,
    cut: call.upstreamAbort.signal.aborted || progress.cut === true,
  })
  const { firstTokenMs, isStream } = progress
  await settle(context, { measured, firstTokenMs, isStream, end: 'hung-up', empty: false, delivered })
}

/** What a caller reads when an answer was there but could not be booked. */
export const bookingFailure = (): UpstreamFailure => failureOfDomainError(new DomainError('relay.unavailable'))

/** The charge is made or given up elsewhere from here on: it is neither to be sent again nor to be released. */
export const isUnbooked = (error: unknown): boolean =>
  error instanceof SettleFailed || (error instanceof Error && error.cause instanceof SettleFailed)

export { SettleFailed }
