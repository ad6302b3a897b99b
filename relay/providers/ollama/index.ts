import { MalformedUpstream } from '#relay/chat/events.ts'
import type { ChatRequest } from '#relay/chat/request.ts'
import { bearer } from '../openai-compatible/address.ts'
import { openAiCompatible } from '../openai-compatible/index.ts'
import { effortOf, toOpenAiRequest } from '../openai-compatible/request.ts'
import type { OpenAiStyle } from '../openai-compatible/style.ts'
import type { Provider, ProviderCall, UpstreamRequest } from '../types.ts'
import { createJsonLineReader } from '../shared/json-lines.ts'
import { type Json, recordOf, recordsOf } from '../shared/json.ts'
import { unplaced } from '../shared/unsupported-fields.ts'
import { nativeUrl, serverOf } from './address.ts'
import { ollamaEmbeddings } from './embeddings.ts'
import { createOllamaDecoder, fromNativeAnswer } from './native-answer.ts'
import { imageUrlOf, needsNative, toNativeBody, wantsNative } from './native-request.ts'

const lineType = 'application/x-ndjson'

const levels: Readonly<Record<string, string>> = { minimal: 'low', xhigh: 'high', max: 'high' }

function reasoning(body: Json, request: ChatRequest): void {
  const effort = effortOf(request)
  if (effort !== undefined) body['reasoning_effort'] = levels[effort] ?? effort
}

/** The server's OpenAI surface. It fetches no images. */
const style: OpenAiStyle = {
  id: 'ollama',
  label: 'Ollama',
  channelTypes: [4],
  inlineImages: true,
  takesTopK: true,
  ignoresSearches: true,
  carriesReasoning: 'content',
  reasoning,
  url: ({ channel }) => `${serverOf(channel)}/v1/chat/completions`,
  modelsUrl: (channel) => nativeUrl(channel, '/tags'),
}

/** Images that have to be fetched before they are sent. */
const hasImageAddress = (body: Json): boolean =>
  recordsOf(body['messages'])
    .flatMap(({ content }) => recordsOf(content))
    .some((part) => part['type'] === 'image_url' && !imageUrlOf(part).startsWith('data:'))

const surface = openAiCompatible(style)

function toRequest(request: ChatRequest, call: ProviderCall): UpstreamRequest {
  const written = toOpenAiRequest(style)(request, call)
  if (!wantsNative(request, call.channel)) return written
  const { body, losses } = toNativeBody(recordOf(written.body) ?? {}, call.stream)
  return {
    method: 'POST',
    url: nativeUrl(call.channel, '/chat'),
    headers: {
      'content-type': 'application/json',
      accept: call.stream ? lineType : 'application/json',
      ...bearer(call.channel.key),
    },
    body,
    losses: [...(written.losses ?? []), ...losses, ...unplaced(request)],
  }
}

/** Two surfaces of one server: the OpenAI one, and its own for calls with fields that only that one supports. */
export const ollama: Provider = {
  ...surface,
  framing: { contentType: lineType, reader: createJsonLineReader },
  plain: { embeddings: ollamaEmbeddings },
  chat: {
    ...surface.chat,
    request: toRequest,
    response(json, call) {
      const answer = recordOf(json)
      if (!answer) throw new MalformedUpstream('the answer is not a JSON object')
      return fromNativeAnswer(style, answer, call)
    },
    stream: (call) => createOllamaDecoder(style, call),
  },
  native: {
    ...surface.native,
    ...(surface.native['openai-chat']
      ? {
          'openai-chat': {
            ...surface.native['openai-chat'],
            // "image URLs are not currently supported, please use base64 encoded data instead"
            accepts: (body: Json, { channel }: ProviderCall) => !needsNative(body, channel) && !hasImageAddress(body),
          },
        }
      : {}),
  },
}
