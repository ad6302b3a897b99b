import type { ChatRequest } from '#relay/chat/request.ts'
import { openAiCompatible } from '../openai-compatible/index.ts'
import { toOpenAiRequest } from '../openai-compatible/request.ts'
import type { OpenAiStyle } from '../openai-compatible/style.ts'
import type { Provider, ProviderCall, ProviderChannel, UpstreamRequest } from '../types.ts'
import { createJsonLineReader } from '../shared/json-lines.ts'
import { type Json, recordOf, recordsOf } from '../shared/json.ts'
import { unplaced } from '../shared/unsupported-fields.ts'
import { createFrameDecoder, isLastFrame, refusal } from './frames.ts'
import { readSparkKey, signSocket } from './sign.ts'
import { toSocketBody } from './socket-body.ts'
import { domainOf, surfaceOf, takesInstructions, versionOf } from './versions.ts'

const host = 'https://spark-api-open.xf-yun.com'
const socketHost = 'wss://spark-api.xf-yun.com'

/** Keys with pipes belong to the socket, unless the channel's address is the HTTP surface itself. */
const socketKey = ({ key, baseUrl }: ProviderChannel) =>
  /^https?:\/\/spark-api-open/i.test(baseUrl) ? undefined : readSparkKey(key)

const modelOf = (call: ProviderCall): string => {
  if (!call.model.toLowerCase().startsWith('sparkdesk')) return call.model
  const version = versionOf(call)
  return domainOf(version) ?? version
}

/** The password of the HTTP surface is made of the socket's key. */
function tokenOf({ key }: ProviderChannel): string {
  const parts = readSparkKey(key)
  return parts ? `${parts.apiKey}:${parts.apiSecret}` : key
}

/** Early models take instructions only as something the user said and they agreed to. */
function withInstructionsAsTurns(messages: unknown): Json[] {
  return recordsOf(messages).flatMap((message) =>
    message['role'] === 'system'
      ? [
          { ...message, role: 'user' },
          { role: 'assistant', content: 'Okay' },
        ]
      : [message],
  )
}

const instructed = new Set(['generalv3.5', '4.0Ultra', 'max-32k', 'pro-128k', 'generalv3', 'x1', 'spark-x'])

/** These are served apart, in a later version of the surface. */
const thinks = (model: string): boolean => /^(x1|spark-x$)/.test(model)

function adjust(body: Json, call: ProviderCall): void {
  const model = modelOf(call)
  body['model'] = model
  // Without it a call comes as one object in place of a list.
  if (!thinks(model) && recordsOf(body['tools']).length > 0) body['tool_calls_switch'] ??= true
  const hasInstructions = recordsOf(body['messages']).some((message) => message['role'] === 'system')
  if (hasInstructions && !instructed.has(model)) body['messages'] = withInstructionsAsTurns(body['messages'])
}

const shared = { id: 'xunfei', label: 'iFlytek Spark', channelTypes: [18], streamUsage: false, refusal }

/** The HTTP surface of the vendor, whose version is part of the model's name. */
const surface = openAiCompatible({
  ...shared,
  url: (call) => {
    const base = call.channel.baseUrl || host
    return `${base}${thinks(modelOf(call)) ? '/v2' : '/v1'}/chat/completions`
  },
  headers: (channel) => ({ authorization: `Bearer ${tokenOf(channel)}` }),
  modelsUrl: (channel) => `${channel.baseUrl || host}/v1/models`,
  adjust,
})

const socketStyle: OpenAiStyle = { ...shared, takesTopK: true }

function toRequest(request: ChatRequest, call: ProviderCall): UpstreamRequest {
  const key = socketKey(call.channel)
  if (!key) return surface.chat.request(request, call)
  const written = toOpenAiRequest(socketStyle)(request, call)
  const version = versionOf(call)
  const { path, domain } = surfaceOf(version)
  const { body, losses } = toSocketBody(recordOf(written.body) ?? {}, {
    appId: key.appId,
    domain,
    takesInstructions: takesInstructions(version),
  })
  return {
    method: 'POST',
    url: `${(call.channel.baseUrl || socketHost).replace(/^http/i, 'ws')}${path}`,
    headers: {},
    body,
    isLastFrame,
    losses: [...new Set([...(written.losses ?? []), ...losses, ...unplaced(request)])],
  }
}

const nativeChat = surface.native['openai-chat']

/** Two surfaces of one vendor: the signed socket, and one in the OpenAI form for keys that are not made of three parts. */
export const xunfei: Provider = {
  ...surface,
  framing: { contentType: 'application/x-ndjson', reader: createJsonLineReader },
  afterOverride: (body, call) => (socketKey(call.channel) ? undefined : surface.afterOverride?.(body, call)),
  chat: {
    ...surface.chat,
    request: toRequest,
    stream: (call) => (socketKey(call.channel) ? createFrameDecoder(socketStyle, call) : surface.chat.stream(call)),
  },
  native: nativeChat
    ? {
        'openai-chat': {
          ...nativeChat,
          accepts: (body, call) => !socketKey(call.channel) && (nativeChat.accepts?.(body, call) ?? true),
        },
      }
    : {},
  sign(request, { channel, ambient }) {
    const key = request.url.startsWith('ws') ? socketKey(channel) : undefined
    return key ? { ...request, url: signSocket(request.url, key, ambient.now()) } : request
  },
}
