import { mayOffer, supportsOperation } from '#core/channel-types/index.ts'
import { DomainError } from '#core/errors.ts'
import type { Held } from '#relay/billing/hold.ts'
import { loweredHeader, withLoweredLimit } from '#relay/billing/lowered-limit.ts'
import { nothingDelivered } from '#relay/billing/measure-usage.ts'
import type { CallPrice } from '#relay/billing/price-call.ts'
import { finishHungUp, isUnbooked } from '#relay/billing/settle.ts'
import { takesNames } from '#relay/chat/fit/fit-request.ts'
import { openAiProfile } from '#relay/chat/fit/profile.ts'
import { lossNames } from '#relay/chat/losses.ts'
import { isPricedAsClaude, providerFor } from '#relay/providers/registry.ts'
import type { NativeDialect, Provider, ProviderCall } from '#relay/providers/types.ts'
import type { Attempt, AttemptRecord, Call, RelayServices } from '#relay/request/call.ts'
import { isTimedOut } from '#relay/request/caller-timeout.ts'
import { answerStream } from '#relay/response/answer-stream.ts'
import { answerUnstreamed } from '#relay/response/answer-unstreamed.ts'
import { pingUntilAnswered } from '#relay/response/caller-stream.ts'
import { isEventStream } from '#relay/transport/event-reader.ts'
import { passesThrough } from '#relay/upstream-call/channel.ts'
import type { AttemptContext } from './attempt-context.ts'
import { withToken } from './attempt-token.ts'
import { buildRequest } from './build-request.ts'
import { answerSettings, type ChannelRequest, forChannel } from './channel-body.ts'
import { unsupportedHere } from './failure.ts'
import { estimateOf, withSentParts } from './native-only.ts'
import {
  acceptedForm,
  type AskedForm,
  instead,
  isTranslatable,
  refusedForm,
  refusesCall,
  rememberRefused,
  type Went,
} from './refused-forms.ts'
import { attemptFailureAt } from './shape-failure.ts'
import { type AttemptProofs, proofsOf } from '#relay/chat/seals/refused-proofs.ts'
import { sendRequest } from './send-request.ts'
import { providerCallOf } from './upstream-channel.ts'

/**
 * One attempt on one channel, to the settled answer. Returns when the call is over (answered, or the caller hung up).
 * @throws {AttemptFailed} when nothing has reached the caller and another channel may be tried.
 */
export async function forward(services: RelayServices, call: Call, given: ForwardPlan): Promise<void> {
  const { attempt } = given
  // A body that passes through goes out as it came, whatever is refused of it.
  const passes = (): boolean => passesThrough(attempt.channel.setting, services)
  const known = !given.isRepeat && !passes() ? services.refusedForms.get(attempt.channel) : undefined
  const remembered = known && acceptedForm(known, call, attempt)
  const plan = { ...given, ...remembered, isRepeat: true }
  const proofs = plan.withoutProofs
    ? { isRefused: () => true, refuse: () => false }
    : proofsOf(services.refusedProofs, placeOf(attempt))
  const went: Went = { native: null }
  try {
    await forwardOnce(services, call, { ...plan, proofs, went })
  } catch (error) {
    const refused = passes() ? null : refusedForm(call, plan, { error, proofs, ...went })
    if (!refused) {
      if (!remembered || !refusesCall(error)) throw error
      // Calls that are named alike may differ: this one is sent as if nothing were known.
      services.refusedForms.delete(attempt.channel)
      return forward(services, call, { ...given, isRepeat: true })
    }
    await forward(services, call, { ...plan, ...instead[refused] })
    // A caller who left before the end proves nothing.
    if (!call.callerAborted.signal.aborted) rememberRefused(services.refusedForms, call, { attempt, refused })
  }
}

const placeOf = ({ channel, key }: Attempt): string => `${channel.id} ${key.value}`

type ForwardPlan = AskedForm & {
  attempt: Attempt
  attempts: AttemptRecord[]
  terms: CallPrice
  held: Held
  /** The same attempt went out before: what is known of the place was weighed then. */
  isRepeat?: boolean
}

async function forwardOnce(
  services: RelayServices,
  call: Call,
  { proofs, went, ...plan }: ForwardPlan & { proofs: AttemptProofs; went: Went },
): Promise<void> {
  const { attempt } = plan
  const { facts, plan: held } = plan.held
  const { lowered } = held
  checkOffer(call, attempt)
  const provider = providerFor(attempt.channel.type)
  const own = forChannel(services, call, attempt)
  const { rewrites, reasoning } = answerSettings(attempt.channel.setting, call.dialect, call.request)
  const { withoutSummary, withoutThinking = false } = plan
  const limited = lowered === undefined ? own : withLoweredLimit(call, own, lowered)
  const asked = withoutThinking ? unthinking(limited) : limited
  const known = providerCallOf(services, call, { attempt, stream: asked.request.stream })
  const largestOwnLimit = facts.grows || facts.limit > 0 ? undefined : Math.floor(held.answerTokens / facts.choices)
  const needsLimit = !facts.grows
  const providerCall = { ...known, isRefusedProof: proofs.isRefused, largestOwnLimit, needsLimit, withoutSummary }
  const passes = passesThrough(attempt.channel.setting, services)
  const native = plan.translates ? null : nativeFor(call, { provider, sent: asked, providerCall, passes })
  went.native = native
  const { nativeOnly } = asked.request
  const sent = nativeOnly
    ? { ...asked, request: withSentParts(asked.request, { passes, native, providerCall }) }
    : asked
  const context: AttemptContext = {
    services,
    call,
    ...plan,
    provider,
    providerCall,
    sent,
    promptTokens: (nativeOnly ? estimateOf(call, sent.request) : call.estimate).promptTokens,
    native,
    listens: rewrites ? null : native,
    reasoning,
    claude: call.dialect.pricedAsClaude || isPricedAsClaude(attempt.channel.type, attempt.upstreamModel),
    losses: [],
    answers: 1,
    searches: 0,
    sentAt: performance.now(),
    asked: false,
    answered: false,
  }
  let stopPings: (() => void) | undefined
  try {
    context.providerCall = await withToken(services, attempt, providerCall)
    const request = await buildRequest(context)
    context.losses = lossNames([
      ...(call.dropped ?? []),
      ...(request.losses ?? []),
      ...(withoutThinking ? ['reasoning_effort'] : []),
    ])
    context.answers = context.losses.includes('n') ? 1 : facts.choices
    context.searches = request.searches ?? 0
    if (call.stream && !sent.request.stream) stopPings = pingUntilAnswered(call, context.losses)
    context.sentAt = performance.now()
    // Nobody pays for an upstream that let the caller's own time run out without a word.
    if (call.unseen)
      call.hangUp.readsOn = () => context.asked && (context.answered || !isTimedOut(call, context.sentAt))
    const reply = await sendRequest(context, request, context.providerCall.stream ? 'stream' : 'unstreamed')
    const streams = isEventStream(provider, reply)
    if (lowered !== undefined && !call.res.headersSent) call.res.setHeader(loweredHeader, String(lowered))
    await (streams && call.stream ? answerStream(context, reply) : answerUnstreamed(context, reply, streams))
  } catch (error) {
    if (isUnbooked(error)) throw error
    // What was read on for somebody who has left is asked of nobody else.
    if (call.hangUp.readsOn && call.callerAborted.signal.aborted) call.upstreamAbort.abort()
    // Before anything was asked upstream a caller who leaves owes nothing.
    if (call.callerAborted.signal.aborted && call.upstreamAbort.signal.aborted && context.asked) {
      // Nobody pays for an upstream that let the caller's own time run out without a word.
      if (!context.answered && isTimedOut(call, context.sentAt))
        throw new DomainError('relay.timeout', {}, { cause: error })
      return await finishHungUp(context, nothingDelivered)
    }
    if (call.upstreamAbort.signal.aborted) throw new DomainError('relay.stopping', {}, { cause: error })
    throw attemptFailureAt(services, { place: attempt, token: context.providerCall.token }, error)
  } finally {
    call.hangUp.readsOn = undefined
    stopPings?.()
    context.fileMemory?.release()
  }
}

const unthinking = ({ request, ...sent }: ChannelRequest): ChannelRequest => ({
  ...sent,
  request: { ...request, reasoning: { includeThoughts: request.reasoning?.includeThoughts } },
})

/** Some upstreams only draw, rank or embed. */
function checkOffer({ dialect }: Call, { channel }: Attempt): void {
  const answers = dialect.operation ? supportsOperation(channel.type, dialect.operation) : false
  if (!answers && !mayOffer(channel.type, 'chat')) throw unsupportedHere(new DomainError('relay.operation_unsupported'))
}

type Forwarded = {
  provider: Provider
  sent: ChannelRequest
  providerCall: ProviderCall
  /** The channel sends bodies as they come. */
  passes: boolean
}

/** The upstream's own form of the caller's dialect, unless it takes this very call in another form only. */
function nativeFor({ dialect }: Call, { provider, sent, providerCall, passes }: Forwarded): NativeDialect | null {
  const native = dialect.native && provider.native[dialect.native]
  // Chat models are better asked in a chat, which the body of a completion is not where it passes through.
  const isChat = dialect.withSystemPrompt !== null
  const mayRefuse = isChat || !passes
  if (!native || (mayRefuse && native.accepts?.(sent.body.json, providerCall) === false)) return null
  if (passes) return native
  // Names that the upstream would refuse go to it under others, of which the answer has to be freed again.
  const misses =
    native.missesTools?.(sent.body.json, providerCall) === true ||
    !takesNames(sent.request, provider.chat.profile?.(providerCall) ?? openAiProfile)
  return misses && isTranslatable(sent.request, provider) ? null : native
}
