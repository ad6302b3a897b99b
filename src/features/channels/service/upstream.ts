import { readObject } from '#core/json-object.ts'
import { proxyOf } from '#core/proxy-setting.ts'
import { withoutTrailingSlashes } from '#core/trailing.ts'
import { splitKeys } from '#core/channel-types/split-keys.ts'
import { maskSecrets } from '#core/masking/mask-secrets.ts'
import type { ChannelSecrets } from '#core/masking/secret-parts.ts'
import { channelTypeOf, defaultBaseUrlOf } from '#core/channel-types/index.ts'
import { DomainError } from '#core/errors.ts'
import type { Channel } from '#db/entities/channel.ts'
import type { Deps, UserDeps } from '#features/deps.ts'
import { providerFor } from '#relay/providers/registry.ts'
import {
  type ProviderCall,
  type ProviderChannel,
  type ReplyHeaders,
  UpstreamRefusal,
  type UpstreamRequest,
} from '#relay/providers/types.ts'
import { TransportError, type UpstreamReply } from '#relay/transport/send.ts'
import { toColumns } from '../rules.ts'
import { findChannel, readKeys } from './store.ts'

/** A person waits for these calls, so they wait less long than a caller of the relay would. */
const timeoutSeconds = 60
const largestReply = 8 * 1_048_576

/** What an upstream's own words may quote of what it was sent. People of the console know the address. */
export const heldBy = (
  { type, key }: Pick<ProviderChannel, 'type' | 'key'>,
  setting: string,
  token?: string,
): ChannelSecrets => ({ type, key, token, proxy: proxyOf(setting) })

/** The channel as its provider sees it, with the first of its keys. */
export function toProviderChannel(channel: Channel, secrets: Deps['secrets']): ProviderChannel {
  const [key = ''] = splitKeys(channel.type, secrets.decrypt(channel.keyEncrypted))
  return {
    id: channel.id,
    type: channel.type,
    baseUrl: withoutTrailingSlashes(channel.baseUrl) || defaultBaseUrlOf(channel.type),
    key,
    other: channel.other,
    organization: channel.openaiOrganization,
    createdAt: channel.createdAt,
  }
}

const providerOptions = [
  'claude.default_max_tokens',
  'claude.model_headers_settings',
  'claude.thinking_adapter_enabled',
  'claude.thinking_adapter_budget_tokens_percentage',
  'gemini.safety_settings',
  'gemini.version_settings',
  'gemini.supported_imagine_models',
  'gemini.models_supported_thinking_budget',
  'gemini.thinking_adapter_enabled',
  'gemini.thinking_adapter_budget_tokens_percentage',
] as const satisfies readonly (keyof ProviderCall['options'])[]

export const toProviderCall = (
  deps: Pick<Deps, 'options' | 'ambient'>,
  channel: ProviderChannel,
  models: { asked: string; sent: string },
): ProviderCall => ({
  channel,
  model: models.sent,
  originalModel: models.asked,
  stream: false,
  options: Object.fromEntries(providerOptions.map((key) => [key, deps.options.get(key)])) as ProviderCall['options'],
  ambient: deps.ambient,
  site: { name: deps.options.get('SystemName'), url: deps.options.get('ServerAddress') },
  callerHeaders: {},
  query: {},
})

/** What came back, or why nothing did. `retryable`: the same call may succeed in a moment. */
export type Refused = {
  ok: false
  status: number | null
  text: string
  headers?: ReplyHeaders
  retryable: boolean
}
export type Answer = { ok: true; text: string; bytes: Buffer; headers: UpstreamReply['headers'] } | Refused

export type AskDeps = Pick<Deps, 'transport'> & { signal?: AbortSignal }

/** One call to an upstream through the channel's own proxy and time limits. */
export async function ask(deps: AskDeps, request: UpstreamRequest, setting: string): Promise<Answer> {
  const settings = readObject(setting) ?? {}
  const milliseconds = (name: string, presetSeconds: number): number => {
    const value = settings[name]
    return (typeof value === 'number' && value > 0 ? value : presetSeconds) * 1000
  }
  try {
    const reply = await deps.transport.send({
      method: request.method,
      url: request.url,
      headers: request.headers,
      body: bodyOf(request.body),
      isLastFrame: request.isLastFrame,
      proxy: proxyOf(setting) || undefined,
      connectTimeoutMs: milliseconds('connect_timeout', 10),
      firstByteTimeoutMs: milliseconds('first_byte_timeout', timeoutSeconds),
      idleTimeoutMs: milliseconds('idle_timeout', timeoutSeconds),
      signal: deps.signal,
    })
    const bytes = await reply.bytes(largestReply)
    const text = bytes.toString('utf8')
    const { status, headers } = reply
    if (status >= 200 && status < 300) return { ok: true, text, bytes, headers }
    return { ok: false, status, text, headers, retryable: status === 429 || status >= 500 }
  } catch (error) {
    if (!(error instanceof TransportError)) throw error
    const retryable = error.kind !== 'bad-url' && error.kind !== 'bad-request'
    return { ok: false, status: null, text: error.message, retryable }
  }
}

const bodyOf = (body: unknown): string | Uint8Array | undefined =>
  body === undefined || typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body)

/** The message of an answer that is none, safe to show. */
export function failureText(answer: Refused, held: ChannelSecrets): string {
  if (answer.status === null) return answer.text
  const { message } = providerFor(held.type).error(answer.status, answer.text, answer.headers)
  return maskSecrets(`status code ${answer.status}: ${message}`, held)
}

/** What the upstream itself lists, by a stored channel's own key and address. */
export async function fetchModelsOf(deps: ModelsDeps & Pick<Deps, 'em'>, { id }: { id: number }): Promise<string[]> {
  return fetchModelsOfRow(deps, await findChannel(deps, id))
}

export const fetchModelsOfRow = (deps: ModelsDeps, channel: Channel): Promise<string[]> =>
  askForModels(deps, toProviderChannel(channel, deps.secrets), channel.setting)

type ModelsDeps = AskDeps & Pick<Deps, 'ambient' | 'secrets'>

/** The same before there is a channel. */
export async function fetchModels(
  deps: UserDeps,
  input: { type: number; baseUrl: string; key: string; other: string },
): Promise<string[]> {
  const { baseUrl = '' } = toColumns({ baseUrl: input.baseUrl }, null)
  const [key = ''] = readKeys(input.type, input.key)
  const channel: ProviderChannel = {
    id: 0,
    type: input.type,
    baseUrl: baseUrl || defaultBaseUrlOf(input.type),
    key,
    other: input.other,
    organization: '',
    createdAt: deps.ambient.now(),
  }
  return askForModels(deps, channel, '')
}

async function askForModels(deps: ModelsDeps, channel: ProviderChannel, setting: string): Promise<string[]> {
  if (!channelTypeOf(channel.type)?.modelsEndpoint) throw new DomainError('channel.fetch_models_unsupported')
  const provider = providerFor(channel.type)
  const held = heldBy(channel, setting)
  const failed = (detail: string, cause?: unknown) =>
    new DomainError('channel.fetch_models_failed', { detail }, cause === undefined ? undefined : { cause })
  try {
    const exchanged = await exchangeKey(deps, channel, setting)
    if (!exchanged.ok) throw failed(failureText(exchanged, held))
    held.token = exchanged.token
    const answer = await ask(deps, provider.models.request(channel, exchanged.token), setting)
    if (!answer.ok) throw failed(failureText(answer, held))
    return [...new Set(provider.models.read(JSON.parse(answer.text)))]
  } catch (error) {
    if (error instanceof DomainError) throw error
    if (error instanceof UpstreamRefusal) throw failed(maskSecrets(error.failure.message, held), error)
    throw failed('invalid JSON', error)
  }
}

/**
 * The token that stands for a key which is not used as it is; none for any other.
 * @throws {UpstreamRefusal} when the key was refused in an answer that calls itself good.
 */
export async function exchangeKey(
  deps: AskDeps & Pick<Deps, 'ambient'>,
  channel: ProviderChannel,
  setting: string,
): Promise<{ ok: true; token: string | undefined } | Refused> {
  const exchange = providerFor(channel.type).exchange?.(channel, deps.ambient)
  if (!exchange) return { ok: true, token: undefined }
  const answer = await ask(deps, exchange.request, setting)
  if (answer.ok) return { ok: true, token: exchange.read(JSON.parse(answer.text)).token }
  // A refused key is the credential's fault, whatever status the vendor's login server uses for it.
  return { ...answer, status: answer.status !== null && answer.status < 500 ? 401 : answer.status }
}
