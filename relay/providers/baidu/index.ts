import { createHash } from 'node:crypto'
import { toOpenAiRequest } from '../openai-compatible/request.ts'
import { reshapedReading } from '../openai-compatible/reshaped.ts'
import type { OpenAiStyle } from '../openai-compatible/style.ts'
import { type KeyExchange, type Provider, type ProviderCall, type UpstreamRequest, UpstreamRefusal } from '../types.ts'
import { failureOf, readFailure } from '../shared/failures.ts'
import { renderFormat } from '../openai-compatible/format-instruction.ts'
import { type Json, numberOf, recordOf, recordsOf, textOf, tryRecord, withoutAbsent, wordOf } from '../shared/json.ts'
import { unplaced } from '../shared/unsupported-fields.ts'
import { baiduEmbeddings } from './embeddings.ts'
import { refusalIn } from './failure.ts'
import { toBaiduMessages } from './messages.ts'

const paths: Readonly<Record<string, string>> = {
  'ERNIE-4.0-8K': 'completions_pro',
  'ERNIE-4.0': 'completions_pro',
  'ERNIE-Bot-4': 'completions_pro',
  'ERNIE-3.5-8K': 'completions',
  'ERNIE-Bot': 'completions',
  'ERNIE-Bot-8K': 'ernie_bot_8k',
  'ERNIE-Bot-turbo': 'eb-instant',
  'ERNIE-Lite-8K-0922': 'eb-instant',
  'ERNIE-Lite-8K-0308': 'ernie-lite-8k',
  'ERNIE-Speed-8K': 'ernie_speed',
  'ERNIE-Speed': 'ernie_speed',
  'ERNIE-Speed-128K': 'ernie-speed-128k',
  'ERNIE-Tiny-8K': 'ernie-tiny-8k',
  'BLOOMZ-7B': 'bloomz_7b1',
}

const pathOf = (model: string): string =>
  Object.hasOwn(paths, model) ? (paths[model] as string) : encodeURIComponent(model.toLowerCase())

const style: OpenAiStyle = {
  id: 'baidu',
  label: 'Baidu Qianfan',
  channelTypes: [15],
  streamUsage: false,
  refusal: { mark: '"error_code"', read: refusalIn },
}

const reasonOf = (answer: Json): string => {
  const reason = textOf(answer['finish_reason'])
  if (reason !== undefined && reason !== 'normal' && reason !== '') return reason
  return answer['is_truncated'] === true ? 'length' : 'stop'
}

/** What an answer or a chunk says, as the message of the OpenAI form. */
const messageOf = (answer: Json): Json => {
  const call = recordOf(answer['function_call'])
  return withoutAbsent({ role: 'assistant', content: answer['result'], function_call: call })
}

const reading = reshapedReading(style, {
  answer: (json) =>
    json['error_code'] === undefined && json['result'] === undefined && json['function_call'] === undefined
      ? json
      : { ...json, choices: [{ index: 0, message: messageOf(json), finish_reason: reasonOf(json) }] },
  chunk: (json) => ({
    ...json,
    choices: [{ index: 0, delta: messageOf(json), finish_reason: json['is_end'] === true ? reasonOf(json) : null }],
  }),
})

const clamp = (value: number | undefined, least: number, most: number): number | undefined =>
  value === undefined ? undefined : Math.min(Math.max(value, least), most)

const carried = new Set([
  'model',
  'messages',
  'stream',
  'temperature',
  'top_p',
  'stop',
  'max_tokens',
  'user',
  'tools',
  'tool_choice',
  'frequency_penalty',
  'response_format',
])

/** One function by its name is all that can be demanded: any of several cannot. */
function choiceOf(choice: unknown, functions: readonly Json[], losses: Set<string>): Json | undefined {
  const named = recordOf(recordOf(choice)?.['function'])?.['name']
  const name = choice === 'required' && functions.length === 1 ? functions[0]?.['name'] : named
  if (name !== undefined) return { type: 'function', function: { name } }
  if (choice !== undefined && choice !== 'auto' && choice !== 'none') losses.add('tool_choice')
  return undefined
}

function toBody(body: Json): { body: Json; losses: string[] } {
  const losses = new Set(Object.keys(body).filter((name) => !carried.has(name)))
  const offered = body['tool_choice'] === 'none' ? [] : recordsOf(body['tools'])
  const functions = offered.flatMap((tool) => {
    const fn = recordOf(tool['function'])
    return fn
      ? [
          withoutAbsent({
            name: fn['name'],
            description: fn['description'],
            parameters: fn['parameters'] ?? { type: 'object', properties: {} },
          }),
        ]
      : []
  })
  if (offered.some((tool) => recordOf(tool['function'])?.['strict'] === true)) losses.add('tools.strict')
  const penalty = numberOf(body['frequency_penalty'])
  const { system, messages } = toBaiduMessages(recordsOf(body['messages']), losses)
  const stop = body['stop']
  return {
    body: withoutAbsent({
      messages,
      system,
      stream: body['stream'] === true,
      temperature: clamp(numberOf(body['temperature']), 0.01, 1),
      top_p: body['top_p'],
      penalty_score: clamp(penalty, 1, 2),
      max_output_tokens: clamp(numberOf(body['max_tokens']), 2, Number.MAX_SAFE_INTEGER),
      stop: typeof stop === 'string' ? [stop] : stop,
      user_id: body['user'],
      functions: functions.length > 0 ? functions : undefined,
      tool_choice: choiceOf(body['tool_choice'], functions, losses),
      response_format: formatOf(body),
      disable_search: false,
    }),
    losses: [...losses],
  }
}

/** An object can be enforced; which one, only said. */
function formatOf(body: Json): string | undefined {
  const type = textOf(recordOf(body['response_format'])?.['type'])
  return type === 'json_schema' ? 'json_object' : type
}

function toRequest(request: Parameters<Provider['chat']['request']>[0], call: ProviderCall): UpstreamRequest {
  const written = toOpenAiRequest(style)(request, call)
  const plain: Json = { ...recordOf(written.body) }
  renderFormat(plain)
  const { body, losses } = toBody(plain)
  const path = `/rpc/2.0/ai_custom/v1/wenxinworkshop/chat/${pathOf(call.model)}`
  return {
    method: 'POST',
    url: `${call.channel.baseUrl}${path}?access_token=${encodeURIComponent(call.token ?? '')}`,
    headers: { 'content-type': 'application/json', accept: call.stream ? 'text/event-stream' : 'application/json' },
    body,
    losses: [...(written.losses ?? []), ...losses, ...unplaced(request)],
  }
}

/** Tokens live a month and are renewed an hour before their end. */
const renewedBeforeSeconds = 3600

function exchangeOf(key: string): KeyExchange {
  const [id = '', secret = ''] = key.split('|').map((part) => part.trim())
  const query = new URLSearchParams({ grant_type: 'client_credentials', client_id: id, client_secret: secret })
  return {
    cacheKey: createHash('sha256').update(key).digest('hex'),
    request: () => ({
      method: 'POST',
      url: `https://aip.baidubce.com/oauth/2.0/token?${query}`,
      headers: { 'content-type': 'application/json', accept: 'application/json' },
    }),
    read(json) {
      const answer = recordOf(json) ?? {}
      const token = wordOf(answer['access_token'])
      if (token === undefined) {
        throw new UpstreamRefusal(failureOf(401, { message: answer['error_description'] ?? answer['error'] }))
      }
      return { token, ttlSeconds: Math.max(0, (numberOf(answer['expires_in']) ?? 0) - renewedBeforeSeconds) }
    },
  }
}

export const baidu: Provider = {
  id: style.id,
  label: style.label,
  channelTypes: style.channelTypes,
  framing: 'sse',
  chat: { request: toRequest, ...reading, media: 'inline' },
  plain: { embeddings: baiduEmbeddings },
  native: {},
  exchange: (channel) => exchangeOf(channel.key),
  error: (status, body) => refusalIn(tryRecord(body) ?? {}) ?? readFailure(status, body),
  models: {
    // The vendor lists no models on this surface; the address answers nothing usable and the reader says so.
    request: (channel, token) => ({
      method: 'GET',
      url: `${channel.baseUrl}/rpc/2.0/ai_custom/v1/wenxinworkshop/models?access_token=${encodeURIComponent(token ?? '')}`,
      headers: {},
    }),
    read: () => [],
  },
}
