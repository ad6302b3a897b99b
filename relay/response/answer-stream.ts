import { DomainError } from '#core/errors.ts'
import type { WireEvent } from '#relay/transport/framing.ts'
import type { UpstreamFailure } from '#relay/chat/events.ts'
import type { UpstreamReply } from '#relay/transport/send.ts'
import { measureUsage } from '#relay/billing/measure-usage.ts'
import { attemptSecrets } from '#relay/attempt/upstream-channel.ts'
import { type CallerStream, openCallerStream } from './caller-stream.ts'
import { asAttemptFailure, AttemptFailed, failureOfDomainError, maskedFailure } from '#relay/attempt/failure.ts'
import type { AttemptContext } from '#relay/attempt/attempt-context.ts'
import { type AnswerMeter, createAnswerMeter, type MayGoOn } from '#relay/billing/answer-meter.ts'
import { bookingFailure, finishHungUp, settle, SettleFailed } from '#relay/billing/settle.ts'
import { withStoredAnswer } from './store-answer.ts'
import { passthroughStream } from './passthrough-stream.ts'
import type { StreamWriter } from './stream-writer.ts'
import { shapeFailure } from '#relay/attempt/shape-failure.ts'
import { timeoutsOf } from '#relay/upstream-call/timeouts.ts'
import { createEndLimit, createOpeningLimit } from '#relay/transport/limits.ts'
import { createEventReader } from '#relay/transport/event-reader.ts'
import { isSilence } from '#relay/transport/transport-error.ts'
import { isPing } from '#relay/chat/choice-ends.ts'
import { translatedStream } from './translated-stream.ts'

/** Streams an answer through; whatever happens after its first content ends here, settled. */
export async function answerStream(context: AttemptContext, reply: UpstreamReply): Promise<void> {
  const { call } = context
  const writer = context.listens ? passthroughStream(context) : translatedStream(context)
  const asJsonArray = call.asJsonArray
  const caller = openCallerStream(call, {
    contentType: call.dialect.streamContentType({ asJsonArray }),
    losses: context.losses,
  })
  const progress = { firstTokenMs: null as number | null, isStream: true }
  const broken = await pump(context, { reply, writer, caller, progress })
  // Somebody who left but is paid for to the end is not sent failures; what was delivered is charged all the same.
  if (call.callerAborted.signal.aborted && (call.upstreamAbort.signal.aborted || !broken || broken === 'unpaid')) {
    const answered = { usage: writer.usage(), delivered: writer.delivered }
    await finishHungUp(context, answered, { ...progress, cut: broken === 'unpaid' })
  } else if (broken === 'unpaid') {
    await endUnpaid(context, { writer, caller, progress })
  } else if (broken) {
    await endFailed(context, { writer, caller, progress, broken })
  } else {
    await endComplete(context, { writer, caller, progress })
  }
}

type Run = {
  writer: StreamWriter
  caller: CallerStream
  progress: { firstTokenMs: number | null; isStream: boolean }
}

/** How a stream failed; `connection`: by no word of the upstream's. */
type Broken = { failure: UpstreamFailure; connection: boolean }

const worded = (failure: UpstreamFailure): Broken => ({ failure, connection: false })

/**
 * Moves events until the upstream ends, fails or nobody listens, and no further than is paid for. Resolves with the failure,
 * if there was one.
 */
async function pump(
  context: AttemptContext,
  run: Run & { reply: UpstreamReply },
): Promise<Broken | 'unpaid' | undefined> {
  const { call } = context
  const { writer, caller, progress, reply } = run
  const meter = createAnswerMeter(context, writer)
  const { idleTimeoutMs } = timeoutsOf(context.attempt.channel.setting, 'stream')
  const endLimit = createEndLimit(reply, { idleTimeoutMs, choices: context.answers })
  let text = ''
  let hasBegun = false
  let arrived: WireEvent[] = []
  const parser = createEventReader(context.provider, reply, (event) => {
    arrived.push(event)
  })
  const opening = createOpeningLimit(() => void flush())
  /** What only opens the answer waits for its first content, for until then another channel may answer. */
  const flush = (): Promise<void> | undefined => {
    if (text === '') return undefined
    if (hasBegun) progress.firstTokenMs ??= performance.now() - call.startedAt
    else if (opening.holds(text)) return undefined
    const due = text
    text = ''
    return caller.write(due)
  }
  /** Says why nothing more may leave, if so. While it waits, which is rare, nothing more is read. */
  const take = (): MayGoOn | Promise<MayGoOn> => {
    const events = arrived
    arrived = []
    for (const [index, event] of events.entries()) {
      if (writer.failure()) break
      text += writer.push(event)
      hasBegun ||= writer.begun()
      if (meter !== null && !meter.note(event)) return takeOnceCovered(meter, events.slice(index + 1))
    }
    return flush()?.then(() => 'yes') ?? 'yes'
  }
  const takeOnceCovered = async (counted: AnswerMeter, rest: WireEvent[]): Promise<MayGoOn> => {
    await flush()
    const verdict = await counted.more()
    if (verdict !== 'yes' || call.upstreamAbort.signal.aborted) return verdict
    arrived = rest
    return take()
  }
  const flushEnd = async (): Promise<void> => {
    text += writer.end()
    hasBegun ||= writer.begun()
    if (writer.complete()) opening.end()
    await flush()
  }
  const unpaid = async (): Promise<'unpaid'> => {
    opening.end()
    await flush()
    return 'unpaid'
  }
  try {
    for await (const chunk of reply.body) {
      parser.push(chunk)
      const events = arrived
      const taking = take()
      const verdict = typeof taking === 'string' ? taking : await taking
      if (verdict === 'limit') return await unpaid()
      if (verdict === 'unbooked') return worded(bookingFailure())
      if (writer.failure() || call.upstreamAbort.signal.aborted) break
      // What was read on for has come.
      if (call.callerAborted.signal.aborted && awaitsPromptAlone(context) && (writer.usage()?.promptTokens ?? 0) > 0) {
        call.upstreamAbort.abort()
        break
      }
      if (writer.isEnding()) {
        const count = events.filter((event) => !isPing(event)).length
        endLimit.note({ bytes: chunk.length, events: count, continued: writer.continued() })
      } else endLimit.resume()
    }
    if (!writer.failure() && !call.upstreamAbort.signal.aborted) {
      parser.end()
      if ((await take()) === 'limit') return await unpaid()
      await flushEnd()
    }
  } catch (error) {
    if (call.upstreamAbort.signal.aborted) {
      return call.callerAborted.signal.aborted
        ? undefined
        : worded(failureOfDomainError(new DomainError('relay.stopping')))
    }
    const { failure, connection } = asAttemptFailure(error)
    const isOver = writer.complete() || (isSilence(error) && writer.isEnding())
    if (!isOver) return { failure, connection }
    // What broke after the end of the answer took nothing from it.
    await flushEnd()
  } finally {
    opening.end()
    endLimit.clear()
    reply.cancel()
  }
  const failure = writer.failure()
  if (failure) return worded(failure)
  return writer.complete() ? undefined : worded(cutFailure)
}

/** Of a caller who has left only what the upstream says of the prompt is waited for. */
const awaitsPromptAlone = ({ services, call }: AttemptContext): boolean =>
  call.unseen === 'parts' && !services.options.get('global.finish_after_hangup_enabled')

const cutFailure: UpstreamFailure = {
  status: 502,
  type: 'upstream_error',
  code: 'stream_response_error',
  message: 'the upstream ended its answer early',
}

/** Counting reads every event of an answer, which is worth while for some only. */
const isSampled = ({ held, services }: AttemptContext): boolean => held.facts.grows && services.ambient.random() < 0.1

async function endComplete(context: AttemptContext, { writer, caller, progress }: Run): Promise<void> {
  const countedTokens = isSampled(context) ? writer.written().tokens : undefined
  const measured = await measureUsage(context, { usage: writer.usage(), delivered: writer.delivered })
  try {
    await settle(context, {
      measured,
      ...progress,
      end: 'complete',
      // Looking reads the answer anew.
      empty: !measured.isReported && writer.isEmpty(),
      delivered: writer.delivered,
      countedTokens,
      keeps: writer.keeps?.(),
    })
  } catch (error) {
    if (!(error instanceof SettleFailed)) throw error
    await caller.end(writer.fail(bookingFailure()))
    return
  }
  const closing = writer.close(measured.usage)
  await caller.end(await withStoredAnswer(context, closing))
}

/**
 * Nothing is left to pay for more: the answer ends as at a reached output limit, with the reason in a comment where the dialect has
 * room for one, and is charged for what was delivered.
 */
async function endUnpaid(context: AttemptContext, { writer, caller, progress }: Run): Promise<void> {
  const { call } = context
  const { delivered } = writer
  const measured = await measureUsage(context, { usage: writer.usage(), delivered, cut: true })
  const reason = 'the balance or the quota of the token is used up'
  try {
    await settle(context, { measured, ...progress, end: 'unpaid', empty: false, failure: reason, delivered })
  } catch (error) {
    if (!(error instanceof SettleFailed)) throw error
    await caller.end(writer.fail(bookingFailure()))
    return
  }
  const hasComments = !call.asJsonArray && call.dialect.refusesComments !== true
  const comment = hasComments ? `: cut short: ${reason} (request id: ${call.id})\n\n` : ''
  const closing = writer.closeCut(measured.usage)
  await caller.end(comment + (await withStoredAnswer(context, closing)))
}

/**
 * Before anything of the answer has left nothing is paid: another channel may answer, or the caller is notified, where it was sent
 * what opens this one. After that it is notified, and pays for what was delivered.
 */
async function endFailed(context: AttemptContext, run: Run & { broken: Broken }): Promise<void> {
  const { attempt, providerCall } = context
  const { writer, caller, progress } = run
  const shaped = shapeFailure(context.services, attempt.channel, run.broken.failure)
  const broken = new AttemptFailed(shaped, {
    local: false,
    connection: run.broken.connection,
    usage: writer.usage(),
  })
  const failed = maskedFailure(broken, attemptSecrets(attempt, providerCall))
  const { failure } = failed
  if (!caller.started()) throw failed
  if (progress.firstTokenMs === null) throw new AttemptFailed(failure, { ...failed, closing: writer.fail(failure) })
  const { delivered } = writer
  const measured = await measureUsage(context, { usage: writer.usage(), delivered, cut: true })
  await settle(context, {
    measured,
    ...progress,
    end: 'failed',
    empty: false,
    failure: failure.message,
    upstreamMessage: failure.original?.message,
    refusal: failure.refusal,
    delivered: writer.delivered,
  }).catch((error: unknown) => {
    if (!(error instanceof SettleFailed)) throw error
  })
  await caller.end(writer.fail(failure))
}
