import type { UpstreamFailure } from '#relay/chat/events.ts'
import type { ChatRequest } from '#relay/chat/request.ts'
import { bearer } from '../openai-compatible/address.ts'
import { toOpenAiRequest } from '../openai-compatible/request.ts'
import { reshapedReading } from '../openai-compatible/reshaped.ts'
import type { OpenAiStyle } from '../openai-compatible/style.ts'
import { renderFormat } from '../openai-compatible/format-instruction.ts'
import { enableThinking, thinkingType } from '../openai-compatible/thinking-switch.ts'
import type { Provider, ProviderCall, ProviderChannel, UpstreamRequest } from '../types.ts'
import { readFailure } from '../shared/failures.ts'
import { type Json, recordOf, recordsOf, textOf, tryRecord, wordOf } from '../shared/json.ts'
import { tencentEmbeddings } from './embeddings.ts'
import { signTc3 } from './sign-tc3.ts'
import { toSnakeNames, toTencentBody } from './body.ts'
import { unplaced } from '../shared/unsupported-fields.ts'

/** Announced to end on 2026-09-30, as was the older OpenAI surface: https://cloud.tencent.com/document/product/1729/131925 */
const signedSurface = 'https://hunyuan.tencentcloudapi.com'
/** Where the vendor's models went: https://cloud.tencent.com/document/product/1823/132252 */
const tokenHub = 'https://tokenhub.tencentmaas.com'

type Key = { kind: 'signing'; secretId: string; secretKey: string } | { kind: 'bearer'; token: string }

/** `appId|secretId|secretKey`, or a single key of the vendor's OpenAI surface. */
function readKey(key: string): Key {
  const [first = '', secretId = '', secretKey = ''] = key.split('|').map((part) => part.trim())
  return secretKey === '' ? { kind: 'bearer', token: first } : { kind: 'signing', secretId, secretKey }
}

const isOpen = (channel: ProviderChannel): boolean => readKey(channel.key).kind === 'bearer'

/** Of any region; its address goes without a version like those of other vendors, while another server's is taken as it stands. */
const isTokenHub = (baseUrl: string): boolean => /^https:\/\/tokenhub[\w.-]*$/.test(baseUrl)

/** A single key is one of TokenHub, unless the channel names another server. */
function openBase({ baseUrl }: ProviderChannel): string {
  const base = baseUrl === '' || baseUrl === signedSurface ? tokenHub : baseUrl
  return isTokenHub(base) ? `${base}/v1` : base
}

/** And a key of three parts one of the API that is signed for. */
const signedBase = ({ baseUrl }: ProviderChannel): string =>
  baseUrl === '' || baseUrl === tokenHub ? signedSurface : baseUrl

/** https://github.com/TencentCloud/tencentcloud-sdk-go, `hunyuan/v20230901/errors.go`, and the codes that all its services share. */
const statuses: readonly [RegExp, number][] = [
  [/^AuthFailure/, 401],
  [/^UnauthorizedOperation/, 403],
  [/LimitExceeded/, 429],
  [/LowBalance|Arrears|ResourcePackExhausted|ChargeResourceExhaust/, 402],
  [/^(InvalidParameter|MissingParameter|UnknownParameter|UnsupportedOperation)/, 400],
  [/EngineRequestTimeout|^4001$/, 504],
  [/IllegalDetected/, 400],
]

const statusOf = (code: string): number => statuses.find(([pattern]) => pattern.test(code))?.[1] ?? 500

/** The vendor's error object, wherever an answer or a chunk has it. */
function errorIn(answer: Json): UpstreamFailure | undefined {
  const error = recordOf(answer['error']) ?? recordOf(answer['error_msg'])
  const given = error?.['code']
  // In a stream it is a number: 4000, and 4001 for a model that took too long.
  const code = typeof given === 'number' ? String(given) : wordOf(given)
  if (!error || code === undefined) return undefined
  const message = wordOf(error['message']) ?? wordOf(error['msg']) ?? code
  const type = code.includes('IllegalDetected') ? 'content_filter' : 'upstream_error'
  return { status: statusOf(code), type, code, message, param: null }
}

const switchOlder = enableThinking(/^hunyuan-(a13b|t1|2)/)
/** Its own models there and those of others that can be switched: https://cloud.tencent.com/document/product/1823/131208 */
const switchNewer = thinkingType(/^(hy\d|deepseek-v(3\.2|4)|glm-5(?!\.[3-9])|kimi-k2\.[56])/)

function reasoning(body: Json, request: ChatRequest): void {
  switchOlder(body, request)
  switchNewer(body, request)
}

const style: OpenAiStyle = {
  id: 'tencent',
  label: 'Tencent Hunyuan',
  channelTypes: [23],
  url: ({ channel }) => (isOpen(channel) ? `${openBase(channel)}/chat/completions` : `${signedBase(channel)}/`),
  reasoning,
  refusal: { mark: '', read: errorIn },
}

const reading = reshapedReading(style, {
  answer: (json) => toSnakeNames(recordOf(json['Response']) ?? json) as Json,
  chunk: (json) => toSnakeNames(recordOf(json['Response']) ?? json) as Json,
})

const actionHeaders = (action: string): Record<string, string> => ({
  'content-type': 'application/json',
  'x-tc-action': action,
  'x-tc-version': '2023-09-01',
})

const embeddings = tencentEmbeddings({
  signedBase,
  headers: actionHeaders,
  failure: (answer) => errorIn(toSnakeNames(answer) as Json),
  open: ({ channel }, body) => {
    const key = readKey(channel.key)
    if (key.kind !== 'bearer') return undefined
    const headers = { 'content-type': 'application/json', ...bearer(key.token) }
    return { method: 'POST', url: `${openBase(channel)}/embeddings`, headers, body }
  },
})

function toRequest(request: Parameters<Provider['chat']['request']>[0], call: ProviderCall): UpstreamRequest {
  const written = toOpenAiRequest(style)(request, call)
  const key = readKey(call.channel.key)
  if (key.kind === 'bearer') {
    // Unasked it counts no tokens in streams.
    const asksForUsage = call.stream && openBase(call.channel).startsWith('https://tokenhub')
    const body = { ...recordOf(written.body), ...(asksForUsage ? { stream_options: { include_usage: true } } : {}) }
    return { ...written, headers: { ...written.headers, ...bearer(key.token) }, body }
  }
  const plain: Json = { ...recordOf(written.body) }
  renderFormat(plain)
  const { body, losses } = toTencentBody(plain)
  return {
    ...written,
    headers: { ...actionHeaders('ChatCompletions'), accept: call.stream ? 'text/event-stream' : 'application/json' },
    body,
    losses: [...(written.losses ?? []), ...losses, ...unplaced(request)],
  }
}

const bodyText = (body: unknown): string | Uint8Array =>
  typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body ?? {})

/** The error of a reply, also where it comes wrapped. */
function readError(status: number, body: string): UpstreamFailure {
  const json = tryRecord(body)
  const answer = json && (toSnakeNames(recordOf(json['Response']) ?? recordOf(json['response']) ?? json) as Json)
  return (
    (answer && textOf(recordOf(answer['error'])?.['type']) === undefined && errorIn(answer)) ||
    readFailure(status, body)
  )
}

export const tencent: Provider = {
  id: style.id,
  label: style.label,
  channelTypes: style.channelTypes,
  framing: 'sse',
  chat: { request: toRequest, ...reading, media: 'inline', keepsAddress: (part) => part.type === 'image' },
  plain: { embeddings },
  native: {},
  sign(request, { channel, ambient }) {
    const key = readKey(channel.key)
    if (key.kind === 'bearer') return request
    const body = bodyText(request.body)
    const action = request.headers['x-tc-action'] ?? ''
    const signature = signTc3({ host: new URL(request.url).host, action, body, now: ambient.now() }, key)
    return { ...request, body, headers: { ...request.headers, ...signature } }
  },
  error: readError,
  models: {
    request: (channel) => {
      const key = readKey(channel.key)
      return {
        method: 'GET',
        url: `${openBase(channel)}/models`,
        headers: bearer(key.kind === 'bearer' ? key.token : ''),
      }
    },
    read: (json) => recordsOf(recordOf(json)?.['data']).flatMap((row) => wordOf(row['id']) ?? []),
  },
}
