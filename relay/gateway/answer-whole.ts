import type { ChatResponse } from '#relay/chat/events.ts'
import { collectEvents, replayResponse } from '#relay/chat/collect.ts'
import { deliveredBy } from '#relay/counting/estimate-usage.ts'
import { UpstreamRefusal } from '#relay/providers/types.ts'
import type { UpstreamReply } from '#relay/upstream/send.ts'
import { asAttemptFailure, type Delivered, measure } from './answer.ts'
import { openCallerStream } from './caller-stream.ts'
import { AttemptFailed, failureOfDomainError } from './failure.ts'
import type { Forwarding } from './forward.ts'
import { bookingFailure, finishHungUp, settle, SettleFailed } from './settle.ts'
import { createEventReader } from './event-reader.ts'
import { withOpenAiUsage } from './missing-usage.ts'
import { shapeFailure } from './shape-failure.ts'
import type { ChatEvent } from '#relay/chat/events.ts'
import { DomainError } from '#core/errors.ts'
import type { ReportedUsage, Usage } from '#core/usage.ts'

const largestAnswer = 128 * 1024 * 1024

type WholeAnswer = {
  usage: ReportedUsage | undefined
  delivered: () => Delivered
  empty: boolean
  /** The answer in the hub format, decoded only when somebody needs it. */
  response: () => ChatResponse
  /** The upstream's own text, when it goes out as it came. */
  asReceived: string | null
}

/** Reads a whole answer, settles it, and only then lets it out. */
export async function answerWhole(forwarding: Forwarding, reply: UpstreamReply, isEventStream: boolean): Promise<void> {
  const { call, attempt } = forwarding
  const read = isEventStream ? await collectStream(forwarding, reply) : await readJson(forwarding, reply)
  if (call.gone.signal.aborted) return finishHungUp(forwarding, read)
  const measured = await measure(call, attempt.upstreamModel, read)
  const isStream = call.request.stream
  const firstTokenMs = performance.now() - call.startedAt
  try {
    const { empty, delivered } = read
    await settle(forwarding, { measured, firstTokenMs, isStream, end: 'complete', empty, delivered }, 'give-up')
  } catch (error) {
    if (!(error instanceof SettleFailed)) throw error
    throw new AttemptFailed(bookingFailure(), { local: true, cause: error })
  }
  // What was counted here is told like what the upstream reports.
  const told = read.usage ? read : withUsage(read, measured.usage)
  await (isStream ? sendAsStream(forwarding, told.response()) : sendWhole(forwarding, told))
}

function withUsage(read: WholeAnswer, usage: Usage): WholeAnswer {
  const asReceived = read.asReceived === null ? null : withOpenAiUsage(read.asReceived, usage)
  return { ...read, asReceived, response: () => ({ ...read.response(), usage }) }
}

async function readJson(forwarding: Forwarding, reply: UpstreamReply): Promise<WholeAnswer> {
  const { native, provider, providerCall } = forwarding
  const text = await reply.text(largestAnswer)
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (error) {
    throw new AttemptFailed(failureOfDomainError(new DomainError('relay.reply_malformed')), {
      local: false,
      cause: error,
    })
  }
  try {
    if (native) {
      const seen = native.inspect(json)
      if (seen.failure) throw new UpstreamRefusal(seen.failure)
      return {
        usage: seen.usage,
        delivered: seen.delivered,
        empty: seen.empty,
        response: () => provider.chat.response(json, providerCall),
        asReceived: text,
      }
    }
    return fromResponse(provider.chat.response(json, providerCall))
  } catch (error) {
    if (error instanceof UpstreamRefusal) {
      throw new AttemptFailed(shapeFailure(forwarding.services, forwarding.attempt.channel, error.failure), {
        local: false,
        cause: error,
      })
    }
    throw asAttemptFailure(error)
  }
}

/** An upstream that streams although nobody asked is collected into the one answer the caller wants. */
async function collectStream(forwarding: Forwarding, reply: UpstreamReply): Promise<WholeAnswer> {
  const decoder = forwarding.provider.chat.stream(forwarding.providerCall)
  const events: ChatEvent[] = []
  const parser = createEventReader(forwarding.provider, reply, (event) => events.push(...decoder.push(event)))
  try {
    for await (const chunk of reply.body) parser.push(chunk)
    parser.end()
    events.push(...decoder.end())
  } catch (error) {
    throw asAttemptFailure(error)
  }
  const failed = events.find((event) => event.type === 'error')
  if (failed)
    throw new AttemptFailed(shapeFailure(forwarding.services, forwarding.attempt.channel, failed.error), {
      local: false,
    })
  if (!events.some((event) => event.type === 'finish')) {
    throw new AttemptFailed(failureOfDomainError(new DomainError('relay.stream_failed')), { local: false })
  }
  return fromResponse(collectEvents(events))
}

function fromResponse(response: ChatResponse): WholeAnswer {
  const delivered = deliveredBy(response)
  return {
    usage: response.usage,
    delivered: () => delivered,
    empty: delivered.text.trim() === '' && delivered.toolCalls === 0 && (delivered.pictures ?? 0) === 0,
    response: () => response,
    asReceived: null,
  }
}

async function sendWhole({ call, services, losses }: Forwarding, read: WholeAnswer): Promise<void> {
  const { res } = call
  if (losses.length > 0) res.setHeader('x-translation-loss', losses.join(','))
  res.status(200).setHeader('content-type', 'application/json; charset=utf-8')
  if (read.asReceived !== null) {
    res.end(read.asReceived)
    return
  }
  const body = call.dialect.encode(read.response(), {
    model: call.request.model,
    includeUsage: true,
    estimatedPromptTokens: call.estimate.promptTokens,
    ambient: services.ambient,
    callerBody: call.body.json,
  })
  res.end(JSON.stringify(body))
}

/** The caller asked for a stream and the upstream has none: the answer is played back as one. */
async function sendAsStream(forwarding: Forwarding, response: ChatResponse): Promise<void> {
  const { call, services, losses } = forwarding
  const { asJsonArray } = call
  const caller = openCallerStream(call, { contentType: call.dialect.streamContentType({ asJsonArray }), losses })
  const encoder = call.dialect.stream({
    model: call.request.model,
    includeUsage: call.request.includeUsage,
    estimatedPromptTokens: call.estimate.promptTokens,
    ambient: services.ambient,
    asJsonArray,
    callerBody: call.body.json,
  })
  let text = ''
  for (const event of replayResponse(response)) {
    text += encoder.push(event)
  }
  await caller.end(text + encoder.close())
}
