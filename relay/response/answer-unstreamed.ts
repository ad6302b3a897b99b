import type { IncomingHttpHeaders } from 'node:http'
import { type Delivered, deliveredBy, isNothing } from '#relay/chat/delivered.ts'
import { nameLosses } from '#relay/chat/losses.ts'
import type { ChatEvent, ChatResponse } from '#relay/chat/events.ts'
import { createChoiceEnds, isEndMark, isPing } from '#relay/chat/choice-ends.ts'
import { StreamFailed, createCollector, replayResponse } from '#relay/chat/collect.ts'
import { moveReasoningOf } from '#relay/chat/reasoning.ts'
import type { CallerDialect, EncodeContext } from '#relay/dialects/types.ts'
import { UpstreamRefusal } from '#relay/providers/types.ts'
import type { UpstreamReply } from '#relay/transport/send.ts'
import { isSilence, TransportError } from '#relay/transport/transport-error.ts'
import { measureUsage } from '#relay/billing/measure-usage.ts'
import { openCallerStream } from './caller-stream.ts'
import { asAttemptFailure, AttemptFailed, failureOfDomainError } from '#relay/attempt/failure.ts'
import type { AttemptContext } from '#relay/attempt/attempt-context.ts'
import { bookingFailure, finishHungUp, settle, SettleFailed } from '#relay/billing/settle.ts'
import { timeoutsOf } from '#relay/upstream-call/timeouts.ts'
import { createEndLimit } from '#relay/transport/limits.ts'
import { createEventReader } from '#relay/transport/event-reader.ts'
import { withOpenAiUsage } from '#relay/dialects/openai-chat/missing-usage.ts'
import { instructionsSetter } from './own-instructions.ts'
import { askedOf, withStoredAnswer } from './store-answer.ts'
import { withTextAt } from '#relay/chat/text-at.ts'
import { passHeaders } from './upstream-headers.ts'
import { shapeFailure } from '#relay/attempt/shape-failure.ts'
import { DomainError } from '#core/errors.ts'
import { parseExactly } from '#core/exact-json.ts'
import type { ReportedUsage, Usage } from '#core/usage.ts'

const largestAnswer = 128 * 1024 * 1024

type UnstreamedAnswer = {
  usage: ReportedUsage | undefined
  delivered: () => Delivered
  empty: boolean
  /** The answer in the hub format, decoded only when somebody needs it. */
  response: () => ChatResponse
  keeps?: readonly string[] | undefined
  /** The upstream's own text, when it goes out as it came. */
  asReceived: string | null
  /** Of an answer that goes out as it came. */
  headers?: IncomingHttpHeaders | undefined
}

/**
 * Reads a complete answer, puts it in the caller's words, settles it, and only then lets it out: what cannot be written is not
 * charged.
 */
export async function answerUnstreamed(
  attemptContext: AttemptContext,
  reply: UpstreamReply,
  isEventStream: boolean,
): Promise<void> {
  const { call, services } = attemptContext
  const read = isEventStream ? await collectStream(attemptContext, reply) : await readJson(attemptContext, reply)
  const finish = () => finishUnstreamed(attemptContext, read)
  const isRetried = read.empty && !call.stream && services.options.get('global.auto_retry_enabled')
  if (!isRetried || call.callerAborted.signal.aborted) return finish()
  const failure = failureOfDomainError(new DomainError('relay.reply_empty'))
  throw new AttemptFailed(failure, { local: false, deliver: finish, usage: read.usage })
}

async function finishUnstreamed(attemptContext: AttemptContext, read: UnstreamedAnswer): Promise<void> {
  const { call } = attemptContext
  if (call.callerAborted.signal.aborted) return finishHungUp(attemptContext, read)
  const measured = await measureUsage(attemptContext, read)
  const isStream = call.request.stream
  // What is charged is what is shown, but in an answer that goes out as it came, or has nothing in it.
  const isShown = countsTokens(read.usage) && (read.empty || (read.asReceived !== null && !isStream))
  const complete = isShown ? read : withUsage(read, measured.usage)
  const text = isStream ? streamText(attemptContext, complete.response()) : unstreamedText(attemptContext, complete)
  const firstTokenMs = performance.now() - call.startedAt
  try {
    const { empty, delivered, keeps } = read
    await settle(
      attemptContext,
      { measured, firstTokenMs, isStream, end: 'complete', empty, delivered, keeps },
      'give-up',
    )
  } catch (error) {
    if (!(error instanceof SettleFailed)) throw error
    throw new AttemptFailed(bookingFailure(), { local: true, cause: error })
  }
  const closing = await withStoredAnswer(attemptContext, text)
  await (isStream
    ? sendStream(attemptContext, closing)
    : sendUnstreamed(attemptContext, { text: closing, headers: read.headers }))
}

/** Or there are at most the tools that ran. */
const countsTokens = (usage: ReportedUsage | undefined): boolean =>
  usage?.promptTokens !== undefined || usage?.completionTokens !== undefined

function withUsage(read: UnstreamedAnswer, usage: Usage): UnstreamedAnswer {
  const asReceived = read.asReceived === null ? null : withOpenAiUsage(read.asReceived, usage)
  return { ...read, asReceived, response: () => ({ ...read.response(), usage }) }
}

async function readJson(attemptContext: AttemptContext, reply: UpstreamReply): Promise<UnstreamedAnswer> {
  const { listens, provider, providerCall } = attemptContext
  const text = await reply.text(largestAnswer)
  let json: unknown
  try {
    json = parseExactly(text)
  } catch (error) {
    throw new AttemptFailed(failureOfDomainError(new DomainError('relay.reply_malformed')), {
      local: false,
      cause: error,
    })
  }
  let usage: ReportedUsage | undefined
  try {
    if (listens) {
      const seen = listens.inspect(json)
      usage = seen.usage
      if (seen.failure) throw new UpstreamRefusal(seen.failure)
      return {
        usage: seen.usage,
        delivered: seen.delivered,
        empty: seen.empty,
        keeps: seen.keeps,
        response: () => moveReasoningOf(provider.chat.response(json, providerCall), attemptContext.reasoning),
        asReceived: text,
        headers: reply.headers,
      }
    }
    return fromResponse(moveReasoningOf(provider.chat.response(json, providerCall), attemptContext.reasoning))
  } catch (error) {
    if (error instanceof UpstreamRefusal) {
      throw new AttemptFailed(shapeFailure(attemptContext.services, attemptContext.attempt.channel, error.failure), {
        local: false,
        cause: error,
        usage: usage ?? error.usage,
      })
    }
    throw asAttemptFailure(error)
  }
}

/** An upstream that streams although the caller did not ask is collected into the one answer the caller wants. */
async function collectStream(attemptContext: AttemptContext, reply: UpstreamReply): Promise<UnstreamedAnswer> {
  const { provider, providerCall, services, attempt, reasoning } = attemptContext
  const decoder = provider.chat.stream(providerCall)
  const collector = createCollector()
  const ends = createChoiceEnds(attemptContext.answers, { resumes: provider.chat.resumes })
  let received = 0
  let usage: ReportedUsage | undefined
  const take = (events: ChatEvent[]): void => {
    for (const event of events) {
      ends.note(event)
      if (event.type === 'usage') usage = event.usage
      collector.push(event)
    }
  }
  const listener = attemptContext.listens?.listen({ includeUsage: true })
  const { idleTimeoutMs } = timeoutsOf(attempt.channel.setting, 'unstreamed')
  const endLimit = createEndLimit(reply, { idleTimeoutMs, choices: attemptContext.answers })
  const isComplete = (): boolean => ends.areComplete() || decoder.standing?.() === 'ended'
  const isEnding = (): boolean => isComplete() || decoder.standing?.() === 'ending'
  let events = 0
  const parser = createEventReader(provider, reply, (event) => {
    if (!isPing(event)) events += 1
    listener?.push(event)
    if (isEndMark(event)) ends.close()
    take(decoder.push(event))
  })
  const read = async (): Promise<void> => {
    try {
      for await (const chunk of reply.body) {
        received += chunk.length
        if (received > largestAnswer) throw new TransportError('too-large', { sent: true })
        events = 0
        parser.push(chunk)
        if (isEnding()) endLimit.note({ bytes: chunk.length, events, continued: ends.continued() })
        else endLimit.resume()
      }
      parser.end()
      ends.close()
    } catch (error) {
      // What broke after the end of the answer took nothing from it.
      const isOver = isComplete() || (isSilence(error) && isEnding())
      if (!isOver || attemptContext.call.upstreamAbort.signal.aborted) throw error
    } finally {
      endLimit.clear()
    }
    take(decoder.end())
  }
  try {
    await read()
    const response = collector.response()
    if (ends.areComplete()) return { ...fromResponse(moveReasoningOf(response, reasoning)), keeps: listener?.keeps }
  } catch (error) {
    if (error instanceof StreamFailed)
      throw new AttemptFailed(shapeFailure(services, attempt.channel, error.failure), { local: false, usage })
    const failed = asAttemptFailure(error)
    throw new AttemptFailed(failed.failure, { ...failed, usage, cause: failed.cause })
  }
  throw new AttemptFailed(failureOfDomainError(new DomainError('relay.stream_failed')), { local: false, usage })
}

function fromResponse(response: ChatResponse): UnstreamedAnswer {
  const delivered = deliveredBy(response)
  return {
    usage: response.usage,
    delivered: () => delivered,
    empty: isNothing(delivered),
    response: () => response,
    asReceived: null,
  }
}

const contextOf = (attemptContext: AttemptContext) => ({
  model: attemptContext.call.request.model,
  includeThoughts: attemptContext.call.request.reasoning?.includeThoughts,
  estimatedPromptTokens: attemptContext.promptTokens,
  ambient: attemptContext.services.ambient,
  ...askedOf(attemptContext),
})

function unstreamedText(attemptContext: AttemptContext, read: UnstreamedAnswer): string {
  if (read.asReceived !== null) {
    const {
      call: { dialect, request },
      sent,
    } = attemptContext
    const withOwn = sent.hidesInstructions ? instructionsSetter(attemptContext) : undefined
    const text = withOwn?.(read.asReceived, 'unstreamed') ?? read.asReceived
    return dialect.modelPlace ? withTextAt(text, dialect.modelPlace.unstreamed, request.model) : text
  }
  const context = { ...contextOf(attemptContext), includeUsage: true }
  return JSON.stringify(attemptContext.call.dialect.encode(read.response(), context))
}

/** The caller asked for a stream and the upstream has none: the answer is played back as one. */
function streamText(attemptContext: AttemptContext, response: ChatResponse): string {
  const { asJsonArray, dialect, request } = attemptContext.call
  return replayIn(dialect, response, { ...contextOf(attemptContext), includeUsage: request.includeUsage, asJsonArray })
}

type Sent = { text: string; headers: IncomingHttpHeaders | undefined }

async function sendUnstreamed({ call, losses }: AttemptContext, { text, headers }: Sent): Promise<void> {
  const { res } = call
  passHeaders(res, headers)
  nameLosses(res, losses)
  res.status(200).setHeader('content-type', 'application/json; charset=utf-8')
  res.end(text)
}

async function sendStream({ call, losses }: AttemptContext, text: string): Promise<void> {
  const { asJsonArray, dialect } = call
  const caller = openCallerStream(call, { contentType: dialect.streamContentType({ asJsonArray }), losses })
  await caller.end(text)
}

/** A complete answer as a stream of the dialect: in one piece where the dialect knows how, else in one piece per part. */
function replayIn(dialect: CallerDialect, response: ChatResponse, context: EncodeContext): string {
  if (dialect.replay) return dialect.replay(response, context)
  const encoder = dialect.stream(context)
  return replayResponse(response).map(encoder.push).join('') + encoder.close()
}
