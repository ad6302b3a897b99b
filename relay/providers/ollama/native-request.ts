import { DomainError } from '#core/errors.ts'
import { parseDataUrl } from '#relay/chat/media.ts'
import type { ChatRequest } from '#relay/chat/request.ts'
import { type Json, recordOf, recordsOf, textOf, withoutAbsent, wordOf } from '../shared/json.ts'
import { isDefaultValue } from '../shared/default-values.ts'
import { argumentsObject } from '../shared/tool-arguments.ts'
import type { ProviderChannel } from '../types.ts'

/** Fields that only the server's own call knows. */
const ownFields = ['options', 'keep_alive', 'think', 'format']

/** Options of the model that callers may also write at the top, as other servers take them. */
const topOptions = ['num_ctx', 'min_p', 'repeat_penalty', 'repeat_last_n', 'mirostat', 'mirostat_eta', 'mirostat_tau']

/** An address that ends in the native path asks for the native call always. */
const isNativeBase = (baseUrl: string): boolean => baseUrl.endsWith('/api')

/** Whether a body in the OpenAI form has fields that the server's OpenAI surface does not support. */
export const needsNative = (body: Json, channel: ProviderChannel): boolean =>
  isNativeBase(channel.baseUrl) ||
  body['top_k'] !== undefined ||
  [...ownFields, ...topOptions].some((name) => body[name] !== undefined)

/** The same question before the body is written. */
export const wantsNative = (request: ChatRequest, channel: ProviderChannel): boolean =>
  needsNative(
    { ...(request.extra.dialect === 'openai-chat' ? request.extra.fields : {}), top_k: request.topK },
    channel,
  )

export function imageUrlOf(part: Json): string {
  const image = part['image_url']
  return textOf(image) ?? textOf(recordOf(image)?.['url']) ?? ''
}

function imageOf(part: Json): string {
  const inline = parseDataUrl(imageUrlOf(part))
  if (!inline) throw new DomainError('unsupported.image_address')
  return inline.data
}

/** Text and images stand apart here, and the images are bytes without a head. */
function contentOf(content: unknown, losses: Set<string>): { content: string; images?: string[] } {
  if (!Array.isArray(content)) return { content: textOf(content) ?? '' }
  const parts = recordsOf(content)
  const images = parts.filter((part) => part['type'] === 'image_url').map(imageOf)
  for (const part of parts) {
    if (part['type'] !== 'image_url' && part['type'] !== 'text') losses.add(textOf(part['type']) ?? 'messages.content')
  }
  const text = parts.flatMap((part) => (part['type'] === 'text' ? (textOf(part['text']) ?? []) : [])).join('\n')
  return { content: text, ...(images.length > 0 ? { images } : {}) }
}

function toolNames(messages: readonly Json[]): Map<string, string> {
  const names = new Map<string, string>()
  for (const message of messages) {
    for (const call of recordsOf(message['tool_calls'])) {
      names.set(textOf(call['id']) ?? '', textOf(recordOf(call['function'])?.['name']) ?? '')
    }
  }
  return names
}

function messagesOf(value: unknown, losses: Set<string>): Json[] {
  const messages = recordsOf(value)
  const names = toolNames(messages)
  return messages.map((message) => {
    const calls = recordsOf(message['tool_calls']).map((call) => {
      const fn = recordOf(call['function']) ?? {}
      return { function: { name: fn['name'], arguments: argumentsObject(textOf(fn['arguments']) ?? '') } }
    })
    return withoutAbsent({
      role: message['role'] === 'developer' ? 'system' : message['role'],
      ...contentOf(message['content'], losses),
      thinking: wordOf(message['reasoning_content']),
      tool_calls: calls.length > 0 ? calls : undefined,
      tool_name: message['role'] === 'tool' ? wordOf(names.get(textOf(message['tool_call_id']) ?? '')) : undefined,
    })
  })
}

function optionsOf(body: Json): Json {
  const { stop } = body
  return withoutAbsent({
    num_predict: body['max_tokens'] ?? body['max_completion_tokens'],
    temperature: body['temperature'],
    top_p: body['top_p'],
    top_k: body['top_k'],
    seed: body['seed'],
    stop: typeof stop === 'string' ? [stop] : stop,
    presence_penalty: body['presence_penalty'],
    frequency_penalty: body['frequency_penalty'],
    ...Object.fromEntries(topOptions.map((name) => [name, body[name]])),
    ...recordOf(body['options']),
  })
}

function formatOf(body: Json): unknown {
  const format = recordOf(body['response_format'])
  if (format?.['type'] === 'json_object') return 'json'
  return format?.['type'] === 'json_schema' ? recordOf(format['json_schema'])?.['schema'] : undefined
}

function thinkOf(effort: unknown): unknown {
  if (effort === undefined) return undefined
  if (effort === 'none') return false
  return effort === 'minimal' ? 'low' : effort === 'xhigh' || effort === 'max' ? 'high' : effort
}

/** Only `auto` is a choice here: what forbids takes the tools away. */
function toolsOf(body: Json, losses: Set<string>): unknown {
  const choice = body['tool_choice']
  if (choice === 'none') return undefined
  if (choice !== undefined && choice !== 'auto') losses.add('tool_choice')
  return body['tools']
}

const common =
  'model messages stream stream_options tools tool_choice response_format reasoning_effort max_tokens ' +
  'max_completion_tokens temperature top_p top_k seed stop presence_penalty frequency_penalty logprobs top_logprobs'
const written = new Set([...ownFields, ...topOptions, ...common.split(' ')])

/** A body of the OpenAI form as the server's own call. */
export function toNativeBody(body: Json, stream: boolean): { body: Json; losses: string[] } {
  const losses = new Set(
    Object.entries(body).flatMap(([name, value]) => (written.has(name) || isDefaultValue(name, value) ? [] : [name])),
  )
  const options = optionsOf(body)
  const native = withoutAbsent({
    model: body['model'],
    messages: messagesOf(body['messages'], losses),
    tools: toolsOf(body, losses),
    // A call that does not say so is streamed here.
    stream,
    format: body['format'] ?? formatOf(body),
    think: body['think'] ?? thinkOf(body['reasoning_effort']),
    keep_alive: body['keep_alive'],
    logprobs: body['logprobs'],
    top_logprobs: body['top_logprobs'],
    options: Object.keys(options).length > 0 ? options : undefined,
  })
  return { body: native, losses: [...losses] }
}
