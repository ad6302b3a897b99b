import type { AttemptContext, Held } from './attempt-context.ts'
import type { CallPrice } from '#relay/billing/price-call.ts'
import { mayOffer, supportsOperation } from '#core/channel-types/index.ts'
import { DomainError } from '#core/errors.ts'
import { untranslatable } from '#relay/chat/losses.ts'
import { lossNames } from '#relay/response/loss-names.ts'
import type { ChatRequest } from '#relay/chat/request.ts'
import { isPricedAsClaude, nativeDialectOf, providerFor } from '#relay/providers/registry.ts'
import { loweredHeader, withinLimit, withLoweredLimit } from '#relay/billing/lowered-limit.ts'
import { customToolNames } from '#relay/providers/shared/custom-tools.ts'
import type { NativeDialect, Provider, ProviderCall, UpstreamRequest } from '#relay/providers/types.ts'
import { inlineMedia } from './inline-media.ts'
import type { UpstreamReply } from '#relay/transport/send.ts'
import { InvalidRequest } from '#relay/chat/invalid-request.ts'
import { asAttemptFailure, isUnsent, nothingDelivered } from '#relay/response/answer.ts'
import { attemptSecrets, upstreamChannelOf, providerCallOf } from './upstream-channel.ts'
import { answerStream } from '#relay/response/answer-stream.ts'
import { answerWhole } from '#relay/response/answer-whole.ts'
import type { Attempt, AttemptRecord, Call, RelayServices } from '#relay/request/call.ts'
import type { ChannelRow } from '#relay/routing/channel-table.ts'
import { AttemptFailed, failureOfDomainError, maskedFailure } from './failure.ts'
import {
  answerSettings,
  bodyAsCame,
  type ChannelRequest,
  forChannel,
  overridden,
  passesThrough,
} from './channel-body.ts'
import { checkImages } from './image-limit.ts'
import { isEventStream } from '#relay/transport/event-reader.ts'
import { withToken } from './attempt-token.ts'
import { finishHungUp, isUnbooked } from '#relay/billing/settle.ts'
import { failedReply } from './failed-reply.ts'
import { isGood, sendToUpstream } from '#relay/upstream-call/send.ts'
import { timeoutsOf } from '#relay/upstream-call/timeouts.ts'
import { uploadMedia } from './upload-media.ts'
import { tellWaiting } from '#relay/response/caller-stream.ts'

/**
 * One try on one channel, to the settled answer. Returns when the call is over (answered, or the caller hung up).
 * @throws {AttemptFailed} when nothing has reached the caller and another channel may be tried.
 */
export async function forward(
  services: RelayServices,
  call: Call,
  plan: { attempt: Attempt; attempts: AttemptRecord[]; terms: CallPrice; held: Held },
): Promise<void> {
  const provider = providerFor(plan.attempt.channel.type)
  checkOffer(call, plan.attempt)
  const { lowered } = plan.held.plan
  const own = forChannel(services, call, plan.attempt)
  const { rewrites, reasoning } = answerSettings(plan.attempt.channel.setting, call.dialect)
  const sent = lowered === undefined ? own : withLoweredLimit(call, own, lowered)
  const providerCall = providerCallOf(services, call, { attempt: plan.attempt, stream: sent.request.stream })
  const native = nativeFor(call, { provider, sent, providerCall })
  const context: AttemptContext = {
    services,
    call,
    ...plan,
    provider,
    providerCall,
    sent,
    native,
    listens: rewrites ? null : native,
    reasoning,
    claude: call.dialect.pricedAsClaude || isPricedAsClaude(plan.attempt.channel.type, plan.attempt.upstreamModel),
    losses: [],
    sentAt: performance.now(),
    asked: false,
  }
  try {
    context.providerCall = await withToken(services, plan.attempt, providerCall)
    const request = await buildRequest(context)
    context.losses = lossNames(request.losses ?? [])
    const quiet = call.stream && !sent.request.stream ? tellWaiting(call, context.losses) : undefined
    try {
      await answer(context, await send(context, request))
    } finally {
      quiet?.()
    }
  } catch (error) {
    if (isUnbooked(error)) throw error
    // Before anything was asked upstream a caller who leaves owes nothing.
    if (call.callerAborted.signal.aborted && call.upstreamAbort.signal.aborted && context.asked) {
      return finishHungUp(context, nothingDelivered)
    }
    if (call.upstreamAbort.signal.aborted) throw new DomainError('relay.stopping', {}, { cause: error })
    throw maskedFailure(asAttemptFailure(error), attemptSecrets(plan.attempt, context.providerCall))
  }
}

/** Some upstreams only draw, rank or embed; the next channel gets its chance. */
function checkOffer({ dialect }: Call, { channel }: Attempt): void {
  const answers = dialect.operation ? supportsOperation(channel.type, dialect.operation) : false
  if (answers || mayOffer(channel.type, 'chat')) return
  const refusal = failureOfDomainError(new DomainError('relay.operation_unsupported'))
  throw new AttemptFailed(refusal, { local: true, elsewhere: true })
}

/** The upstream's own form of the caller's dialect, unless it takes this very call in another form only. */
function nativeFor(
  { dialect }: Call,
  { provider, sent, providerCall }: { provider: Provider; sent: ChannelRequest; providerCall: ProviderCall },
): NativeDialect | null {
  const native = dialect.native && provider.native[dialect.native]
  return native && (native.accepts?.(sent.body.json, providerCall) ?? true) ? native : null
}

async function buildRequest(context: AttemptContext): Promise<UpstreamRequest> {
  const { native, provider, providerCall, call, services, sent } = context
  const { channel, upstreamModel } = context.attempt
  const target = { channel, provider, call: providerCall }
  const passes = passesThrough(channel.setting, services)
  try {
    checkLength(call, channel)
    if (passes) {
      const made = native?.request(sent.body, providerCall) ?? provider.chat.request(sent.request, providerCall)
      return { ...made, body: bodyAsCame(sent.body, upstreamModel), losses: [] }
    }
    const overruled = (request: UpstreamRequest): UpstreamRequest =>
      withinLimit(overridden(services, target, request), channel, context.held.plan.lowered)
    if (native) return overruled(native.request(sent.body, providerCall))
    const stuck = untranslatable(sent.request, nativeDialectOf(provider))
    if (stuck !== undefined)
      throw new InvalidRequest('convert_request_failed', `${stuck} is not supported by this model`)
    checkImages(sent.request, provider.chat.mostImages?.(providerCall))
    const request = await withMedia(context)
    const named = { ...providerCall, customTools: customToolNames(request.tools) }
    context.providerCall = named
    return overruled(provider.chat.request(request, named))
  } catch (error) {
    // What this upstream cannot express, another one may: the next channel gets its chance.
    if (error instanceof InvalidRequest) {
      const failure = { status: 400, type: 'gateway_error', code: error.code, message: error.message }
      throw new AttemptFailed(failure, { local: true, elsewhere: true, cause: error })
    }
    if (error instanceof AttemptFailed) throw error
    if (error instanceof DomainError)
      throw new AttemptFailed(failureOfDomainError(error), { local: true, elsewhere: true, cause: error })
    throw error
  }
}

const largestUploadAnswer = 1024 * 1024

/** The request with its pictures and files where the upstream wants them: inside, or sent before it. */
async function withMedia(context: AttemptContext): Promise<ChatRequest> {
  const { provider, providerCall, call, services, sent } = context
  const { media, keepsAddress, uploads } = provider.chat
  if (uploads) {
    const post = (request: UpstreamRequest) => uploadOne(context, request)
    return uploadMedia(sent.request, { uploads, call: providerCall, post })
  }
  if (media !== 'inline') return sent.request
  return inlineMedia(sent.request, { fetchMedia: services.media, keepsAddress, signal: call.upstreamAbort.signal })
}

async function uploadOne(context: AttemptContext, request: UpstreamRequest) {
  const reply = await toUpstream(context, request, 'whole')
  if (!isGood(reply)) throw await failedReply(context.services, context, reply)
  const text = await reply.text(largestUploadAnswer)
  try {
    return JSON.parse(text) as unknown
  } catch (cause) {
    throw new AttemptFailed(failureOfDomainError(new DomainError('relay.reply_malformed')), { local: false, cause })
  }
}

const toUpstream = (
  { services, call, attempt }: AttemptContext,
  request: UpstreamRequest,
  kind: 'stream' | 'whole',
): Promise<UpstreamReply> =>
  sendToUpstream(services, upstreamChannelOf(attempt), {
    request,
    limits: timeoutsOf(attempt.channel.setting, kind),
    signal: call.upstreamAbort.signal,
  })

/** A channel may take short prompts only. */
function checkLength({ estimate }: Call, { maxInputTokens: limit }: ChannelRow): void {
  const tokens = estimate.promptTokens
  if (limit > 0 && tokens > limit) throw new DomainError('relay.prompt_too_long', { tokens, limit })
}

async function send(context: AttemptContext, request: UpstreamRequest): Promise<UpstreamReply> {
  context.sentAt = performance.now()
  context.asked = true
  try {
    return await toUpstream(context, request, context.providerCall.stream ? 'stream' : 'whole')
  } catch (error) {
    if (isUnsent(error)) context.asked = false
    throw error
  }
}

async function answer(context: AttemptContext, reply: UpstreamReply): Promise<void> {
  if (!isGood(reply)) throw await failedReply(context.services, context, reply)
  const streams = isEventStream(context.provider, reply)
  const { lowered } = context.held.plan
  if (lowered !== undefined && !context.call.res.headersSent) context.call.res.setHeader(loweredHeader, String(lowered))
  return streams && context.call.request.stream ? answerStream(context, reply) : answerWhole(context, reply, streams)
}
