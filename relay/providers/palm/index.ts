import { toOpenAiRequest } from '../openai-compatible/request.ts'
import { reshapedReading } from '../openai-compatible/reshaped.ts'
import type { OpenAiStyle } from '../openai-compatible/style.ts'
import { readGeminiFailure } from '../gemini/failure.ts'
import type { Provider, ProviderCall, UpstreamRequest } from '../types.ts'
import { isDefaultValue } from '../shared/default-values.ts'
import { unplaced } from '../shared/unsupported-fields.ts'
import { recordOf, recordsOf, textOf, withoutAbsent, wordOf, type Json } from '../shared/json.ts'

const style: OpenAiStyle = {
  id: 'palm',
  label: 'Google PaLM',
  channelTypes: [11],
  streamUsage: false,
  plainText: true,
  takesTopK: true,
  refusal: {
    mark: '"filters"',
    read: (answer) => {
      if (!('candidates' in answer) && !('filters' in answer)) return undefined
      if (recordsOf(answer['candidates']).length > 0) return undefined
      const [filter] = recordsOf(answer['filters'])
      const message = wordOf(filter?.['message']) ?? wordOf(filter?.['reason']) ?? 'the upstream gave no answer'
      return { status: 400, type: 'upstream_error', code: 'content_filter', message }
    },
  },
}

const plainOf = (content: unknown): string =>
  textOf(content) ??
  recordsOf(content)
    .map((part) => textOf(part['text']) ?? '')
    .join('\n')

const carried = new Set(['model', 'messages', 'temperature', 'top_p', 'top_k', 'n', 'stream'])

const lostOf = (body: Json): string[] =>
  Object.entries(body).flatMap(([name, value]) => (carried.has(name) || isDefaultValue(name, value) ? [] : [name]))

function toRequest(request: Parameters<Provider['chat']['request']>[0], call: ProviderCall): UpstreamRequest {
  const written = toOpenAiRequest(style)(request, call)
  const body = recordOf(written.body) ?? {}
  return {
    method: 'POST',
    url: `${call.channel.baseUrl}/v1beta2/models/chat-bison-001:generateMessage`,
    headers: { 'content-type': 'application/json', 'x-goog-api-key': call.channel.key },
    body: withoutAbsent({
      prompt: {
        // The user is 0 and the model 1.
        messages: recordsOf(body['messages']).map((message) => ({
          author: message['role'] === 'assistant' ? '1' : '0',
          content: plainOf(message['content']),
        })),
      },
      temperature: body['temperature'],
      candidateCount: body['n'],
      topP: body['top_p'],
      topK: body['top_k'],
    }),
    losses: [...(written.losses ?? []), ...lostOf(body), ...unplaced(request)],
  }
}

const complete = (json: Json): Json => {
  const candidates = recordsOf(json['candidates'])
  if (candidates.length === 0) return json
  const choices = candidates.map((candidate, index) => ({
    index,
    message: { role: 'assistant', content: candidate['content'] },
    finish_reason: 'stop',
  }))
  return { choices }
}

/** A service that has ended. It never streamed, so callers who want a stream get its complete answer as one. */
export const palm: Provider = {
  id: style.id,
  label: style.label,
  channelTypes: style.channelTypes,
  framing: 'sse',
  chat: { request: toRequest, ...reshapedReading(style, { answer: complete, chunk: complete }), media: 'as-given' },
  native: {},
  error: readGeminiFailure,
  models: {
    request: ({ baseUrl, key }) => ({
      method: 'GET',
      url: `${baseUrl}/v1beta2/models`,
      headers: { 'x-goog-api-key': key },
    }),
    read: (json) =>
      recordsOf(recordOf(json)?.['models']).flatMap((row) => wordOf(row['name'])?.replace(/^models\//, '') ?? []),
  },
}
