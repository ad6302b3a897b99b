import type { StreamDecoder, UpstreamFailure } from '#relay/chat/events.ts'
import { toOpenAiRequest } from '../openai-compatible/request.ts'
import { reshapedReading } from '../openai-compatible/reshaped.ts'
import { createOpenAiDecoder } from '../openai-compatible/stream.ts'
import type { OpenAiStyle } from '../openai-compatible/style.ts'
import type { Provider, ProviderCall, UpstreamRequest } from '../types.ts'
import { readFailure } from '../shared/failures.ts'
import {
  countOf,
  type Json,
  numberOf,
  parseRecord,
  recordOf,
  recordsOf,
  textOf,
  tryRecord,
  withoutAbsent,
  wordOf,
} from '../shared/json.ts'
import { isDefaultValue } from '../shared/default-values.ts'
import { unplaced } from '../shared/unsupported-fields.ts'
import { createMetaReader } from './lines.ts'
import { zhipuToken } from './sign.ts'

const dayMs = 24 * 60 * 60 * 1000

function refusal(answer: Json): UpstreamFailure | undefined {
  const code = countOf(answer['code'])
  if (answer['success'] !== false && (code === undefined || code === 200)) return undefined
  const message = wordOf(answer['msg']) ?? `upstream code ${String(code)}`
  const status = code !== undefined && code >= 1000 && code <= 1004 ? 401 : 400
  return { status, type: 'upstream_error', code: code ?? null, message, param: null }
}

const style: OpenAiStyle = {
  id: 'zhipu-v3',
  label: 'Zhipu, version 3',
  channelTypes: [16],
  streamUsage: false,
  plainText: true,
  refusal: { mark: '"success"', read: refusal },
}

/** Texts come as JSON strings inside their field. */
const unquoted = (text: string): string => {
  const trimmed = text.trim()
  return trimmed.startsWith('"') && trimmed.endsWith('"') && trimmed.length > 1 ? trimmed.slice(1, -1) : trimmed
}

const plainOf = (content: unknown): string =>
  textOf(content) ??
  recordsOf(content)
    .map((part) => textOf(part['text']) ?? '')
    .join('\n')

/** Instructions are something the user said and the model agreed to. */
const promptOf = (messages: unknown): Json[] =>
  recordsOf(messages).flatMap((message) => {
    const content = plainOf(message['content'])
    if (message['role'] === 'system')
      return [
        { role: 'system', content },
        { role: 'user', content: 'Okay' },
      ]
    return [{ role: message['role'] === 'assistant' ? 'assistant' : 'user', content }]
  })

const carried = new Set(['model', 'messages', 'temperature', 'top_p', 'stream'])

const lostOf = (body: Json): string[] =>
  Object.entries(body).flatMap(([name, value]) => (carried.has(name) || isDefaultValue(name, value) ? [] : [name]))

function toRequest(request: Parameters<Provider['chat']['request']>[0], call: ProviderCall): UpstreamRequest {
  const written = toOpenAiRequest(style)(request, call)
  const body = recordOf(written.body) ?? {}
  const { channel, model, stream, ambient } = call
  const topP = numberOf(body['top_p'])
  const operation = stream ? 'sse-invoke' : 'invoke'
  return {
    method: 'POST',
    url: `${channel.baseUrl}/api/paas/v3/model-api/${encodeURIComponent(model)}/${operation}`,
    headers: {
      'content-type': 'application/json',
      accept: stream ? 'text/event-stream' : 'application/json',
      // Without the word Bearer.
      authorization: zhipuToken(channel.key, { issuedAt: ambient.now().getTime(), lifetimeMs: dayMs }),
    },
    body: withoutAbsent({
      prompt: promptOf(body['messages']),
      temperature: body['temperature'],
      top_p: topP === undefined ? undefined : Math.min(topP, 0.99),
      incremental: stream,
    }),
    losses: [...(written.losses ?? []), ...lostOf(body), ...unplaced(request)],
  }
}

const { response } = reshapedReading(style, {
  answer: (json) => {
    const data = recordOf(json['data'])
    if (!data) return json
    const choices = recordsOf(data['choices']).map((choice, index) => ({
      index,
      message: { role: 'assistant', content: unquoted(textOf(choice['content']) ?? '') },
      finish_reason: 'stop',
    }))
    return { id: data['task_id'] ?? data['request_id'], choices, usage: data['usage'] }
  },
  chunk: (json) => json,
})

const stopped: UpstreamFailure = {
  status: 500,
  type: 'upstream_error',
  code: null,
  message: 'the upstream stopped its answer',
}

/** A line of an answer is its text as it is; the last one brings the figures beside it, in a field of its own. */
function createDecoder(call: ProviderCall): StreamDecoder {
  const decoder = createOpenAiDecoder(style, call)
  const say = (content: string, finish: string | null, usage?: unknown) =>
    decoder.pushChunk({
      choices: [{ index: 0, delta: { content }, finish_reason: finish }],
      ...(usage ? { usage } : {}),
    })
  return {
    push({ event, data }) {
      if (event === 'add') return say(data, null)
      const meta = data === '' ? {} : parseRecord(data)
      const failed = event === 'error' || event === 'interrupted'
      const failure =
        refusal(meta) ?? (failed ? { ...stopped, message: wordOf(meta['msg']) ?? stopped.message } : undefined)
      if (failure) return [{ type: 'error', error: failure }]
      return event === 'finish' ? say('', 'stop', recordOf(meta['usage'])) : []
    },
    end: () => decoder.end(),
  }
}

/** The third version of the vendor's calls, which it has ended; the fourth is another number. */
export const zhipuV3: Provider = {
  id: style.id,
  label: style.label,
  channelTypes: style.channelTypes,
  framing: { contentType: 'text/event-stream', reader: createMetaReader },
  chat: { request: toRequest, response, stream: createDecoder, media: 'as-given' },
  native: {},
  error: (status, body) => refusal(tryRecord(body) ?? {}) ?? readFailure(status, body),
  models: {
    request: (channel) => ({ method: 'GET', url: `${channel.baseUrl}/api/paas/v3/model-api`, headers: {} }),
    read: () => [],
  },
}
