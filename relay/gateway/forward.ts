import type { CallPrice } from './price-call.ts'
import { defaultBaseUrlOf } from '#core/channel-types/index.ts'
import { DomainError } from '#core/errors.ts'
import { lossesTowards, untranslatable } from '#relay/chat/losses.ts'
import type { DialectId } from '#relay/chat/request.ts'
import { providerFor } from '#relay/providers/registry.ts'
import type { NativeDialect, Provider, ProviderCall, UpstreamRequest } from '#relay/providers/types.ts'
import { inlineMedia } from '#relay/upstream/inline-media.ts'
import { retryAfterMs } from '#relay/upstream/retry-after.ts'
import type { UpstreamReply } from '#relay/upstream/send.ts'
import { InvalidRequest } from '#relay/dialects/types.ts'
import { asAttemptFailure, masked, nothingDelivered } from './answer.ts'
import { answerStream } from './answer-stream.ts'
import { answerWhole } from './answer-whole.ts'
import type { Attempt, AttemptRecord, Call, RelayServices } from './call.ts'
import { AttemptFailed, failureOfDomainError } from './failure.ts'
import { type ChannelRequest, forChannel } from './channel-body.ts'
import { sentBody } from './sent-body.ts'
import { finishHungUp, isUnbooked } from './settle.ts'
import { shapeFailure } from './shape-failure.ts'
import { timeoutsOf } from './timeouts.ts'

/** Everything one try needs and everything its bill needs. */
export type Forwarding = {
  services: RelayServices
  call: Call
  attempt: Attempt
  attempts: AttemptRecord[]
  terms: CallPrice
  provider: Provider
  providerCall: ProviderCall
  /** The request as this channel sends it. */
  sent: ChannelRequest
  /** Set when the upstream speaks the caller's dialect: the answer comes back as received. */
  native: NativeDialect | null
  /** Priced by the Claude formula. */
  claude: boolean
  losses: string[]
  sentAt: number
}

/**
 * One try on one channel, to the settled answer. Returns when the call is over (answered, or the caller hung up).
 * @throws {AttemptFailed} when nothing has reached the caller and another channel may be tried.
 */
export async function forward(
  services: RelayServices,
  call: Call,
  plan: { attempt: Attempt; attempts: AttemptRecord[]; terms: CallPrice },
): Promise<void> {
  const provider = providerFor(plan.attempt.channel.type)
  const sent = forChannel(services, call, plan.attempt)
  const providerCall = toProviderCall(services, call, { attempt: plan.attempt, stream: sent.request.stream })
  const native = call.dialect.id === 'openai-completions' ? null : (provider.native[call.dialect.id] ?? null)
  const forwarding: Forwarding = {
    services,
    call,
    ...plan,
    provider,
    providerCall,
    sent,
    native,
    claude: call.dialect.id === 'claude' || provider.native.claude !== undefined,
    losses: [],
    sentAt: performance.now(),
  }
  try {
    const request = await buildRequest(forwarding)
    forwarding.losses = native ? [] : lossesOf(forwarding, request)
    const reply = await send(forwarding, request)
    await answer(forwarding, reply)
  } catch (error) {
    if (isUnbooked(error)) throw error
    if (call.gone.signal.aborted) return finishHungUp(forwarding, nothingDelivered)
    if (call.halt.signal.aborted) throw new DomainError('relay.stopping', {}, { cause: error })
    const failed = asAttemptFailure(error)
    const secrets = [plan.attempt.key.value, providerCall.channel.baseUrl]
    throw new AttemptFailed(masked(failed.failure, secrets), {
      local: failed.local,
      connection: failed.connection,
      retryAfterMs: failed.retryAfterMs,
      cause: failed.cause,
    })
  }
}

function toProviderCall(
  services: RelayServices,
  call: Call,
  { attempt, stream }: { attempt: Attempt; stream: boolean },
): ProviderCall {
  const { channel, key } = attempt
  const { options } = services
  const { headers, query } = call.req
  return {
    channel: {
      id: channel.id,
      type: channel.type,
      baseUrl: channel.baseUrl || defaultBaseUrlOf(channel.type),
      key: key.value,
      other: channel.other,
      organization: channel.openaiOrganization,
      createdAt: channel.createdAt,
    },
    model: attempt.upstreamModel,
    originalModel: call.request.model,
    stream,
    options: {
      'claude.default_max_tokens': options.get('claude.default_max_tokens'),
      'claude.model_headers_settings': options.get('claude.model_headers_settings'),
      'claude.thinking_adapter_enabled': options.get('claude.thinking_adapter_enabled'),
      'claude.thinking_adapter_budget_tokens_percentage': options.get(
        'claude.thinking_adapter_budget_tokens_percentage',
      ),
      'gemini.safety_settings': options.get('gemini.safety_settings'),
      'gemini.version_settings': options.get('gemini.version_settings'),
      'gemini.supported_imagine_models': options.get('gemini.supported_imagine_models'),
      'gemini.models_supported_thinking_budget': options.get('gemini.models_supported_thinking_budget'),
      'gemini.thinking_adapter_enabled': options.get('gemini.thinking_adapter_enabled'),
      'gemini.thinking_adapter_budget_tokens_percentage': options.get(
        'gemini.thinking_adapter_budget_tokens_percentage',
      ),
    },
    ambient: services.ambient,
    callerHeaders: {
      'anthropic-version': headerText(headers['anthropic-version']),
      'anthropic-beta': headerText(headers['anthropic-beta']),
    },
    query: Object.fromEntries(Object.entries(query).filter(([, value]) => typeof value === 'string')) as Record<
      string,
      string
    >,
  }
}

const headerText = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value.join(',') : value

async function buildRequest(forwarding: Forwarding): Promise<UpstreamRequest> {
  const { native, provider, providerCall, call, services, sent } = forwarding
  try {
    if (native) return sentBody(forwarding, native.request(sent.body, providerCall))
    const stuck = untranslatable(sent.request, dialectOfProvider(provider))
    if (stuck !== undefined)
      throw new InvalidRequest('convert_request_failed', `${stuck} is not supported by this model`)
    const request =
      provider.chat.media === 'inline'
        ? await inlineMedia(sent.request, {
            fetchMedia: services.media,
            keepsAddress: provider.chat.keepsAddress,
            signal: call.halt.signal,
          })
        : sent.request
    return sentBody(forwarding, provider.chat.request(request, providerCall))
  } catch (error) {
    // What this upstream cannot express, another one may: the next channel gets its chance.
    if (error instanceof InvalidRequest) {
      const failure = { status: 400, type: 'gateway_error', code: error.code, message: error.message }
      throw new AttemptFailed(failure, { local: true, cause: error })
    }
    if (error instanceof AttemptFailed) throw error
    if (error instanceof DomainError)
      throw new AttemptFailed(failureOfDomainError(error), { local: true, cause: error })
    throw error
  }
}

async function send(forwarding: Forwarding, request: UpstreamRequest): Promise<UpstreamReply> {
  const { services, call, attempt } = forwarding
  const { setting } = attempt.channel
  forwarding.sentAt = performance.now()
  return services.transport.send({
    method: request.method,
    url: request.url,
    headers: request.headers,
    body: bodyBytes(request.body),
    signal: call.halt.signal,
    proxy: typeof setting['proxy'] === 'string' && setting['proxy'] !== '' ? setting['proxy'] : undefined,
    ...timeoutsOf(setting, forwarding.providerCall.stream),
  })
}

/** Every field that does not reach the upstream, by name. */
const lossesOf = ({ call, provider }: Forwarding, request: UpstreamRequest): string[] => [
  ...new Set([...lossesTowards(call.request, dialectOfProvider(provider)), ...(request.losses ?? [])]),
]

/** The dialect a provider speaks natively is the one whose own fields it understands. */
const dialectOfProvider = (provider: Provider): DialectId =>
  (Object.keys(provider.native)[0] as DialectId | undefined) ?? 'openai-chat'

const bodyBytes = (body: unknown): string | Uint8Array | undefined =>
  body === undefined || typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body)

const largestErrorBody = 1024 * 1024

async function answer(forwarding: Forwarding, reply: UpstreamReply): Promise<void> {
  if (reply.status >= 200 && reply.status < 300) {
    const isEventStream = headerText(reply.headers['content-type'])?.includes('text/event-stream') === true
    return isEventStream && forwarding.call.request.stream
      ? answerStream(forwarding, reply)
      : answerWhole(forwarding, reply, isEventStream)
  }
  const text = await reply.text(largestErrorBody)
  throw new AttemptFailed(shapeFailure(forwarding, forwarding.provider.error(reply.status, text)), {
    local: false,
    retryAfterMs: retryAfterMs(reply.headers, forwarding.services.ambient.now().getTime()) ?? null,
  })
}
