import { DomainError } from '#core/errors.ts'
import { toOpenAiRequest } from '../openai-compatible/request.ts'
import type { OpenAiStyle } from '../openai-compatible/style.ts'
import { wantsThinking } from '../openai-compatible/thinking-switch.ts'
import type { ChatRequest } from '#relay/chat/request.ts'
import { isDefaultValue } from '../shared/default-values.ts'
import type { ProviderCall, UpstreamRequest } from '../types.ts'
import { unplaced } from '../shared/unsupported-fields.ts'
import { joinPath } from '../shared/join-path.ts'
import { type Json, listOf, numberOf, recordOf, recordsOf, textOf } from '../shared/json.ts'

const mostStops = 5

const taken = new Set([
  'model',
  'messages',
  'tools',
  'strict_tools',
  'tool_choice',
  'documents',
  'citation_options',
  'response_format',
  'safety_mode',
  'max_tokens',
  'stop_sequences',
  'temperature',
  'seed',
  'frequency_penalty',
  'presence_penalty',
  'k',
  'p',
  'logprobs',
  'thinking',
  'stream',
])
/** Fields that go under another name. */
const renamed = new Set(['top_p', 'top_k', 'stop'])

const clamp = (value: unknown, least: number, most: number): number | undefined => {
  const number = numberOf(value)
  return number === undefined ? undefined : Math.min(Math.max(number, least), most)
}

function set(body: Json, name: string, value: unknown): void {
  if (value !== undefined) body[name] = value
}

/** What a call planned is reported beside its text, and a message always has content. */
function message(given: Json): Json {
  const calls = recordsOf(given['tool_calls'])
  const { content, name: _, refusal: __, ...rest } = given
  // https://docs.cohere.com/reference/chat, `messages`: text and images.
  if (recordsOf(content).some((part) => part['type'] === 'file')) throw new DomainError('unsupported.files')
  if (calls.length === 0) return { ...rest, content: content ?? '' }
  const plan = textOf(content)
  return { ...rest, ...(plan === undefined || plan === '' ? {} : { tool_plan: plan }) }
}

function toolChoice(choice: unknown): string | undefined {
  if (choice === 'none') return 'NONE'
  return choice === 'required' || recordOf(choice) ? 'REQUIRED' : undefined
}

/** A forced tool is one that is offered alone. */
function offered(tools: unknown, choice: unknown): unknown {
  const named = recordOf(recordOf(choice)?.['function'])?.['name']
  if (named === undefined) return tools
  return recordsOf(tools).filter((tool) => recordOf(tool['function'])?.['name'] === named)
}

/** What every function says of itself is said once here. */
function checkExclusive(body: Json): void {
  const tools = recordsOf(body['tools'])
  const functions = tools.map((tool) => recordOf(tool['function']) ?? {})
  if (functions.every((fn) => fn['strict'] === true)) body['strict_tools'] ??= true
  body['tools'] = tools.map((tool, index) => {
    const { strict: _, ...rest } = functions[index] ?? {}
    return { ...tool, function: rest }
  })
}

/** All tools or none are held to their schemas. */
function onlySomeStrict(tools: unknown): boolean {
  const strict = recordsOf(tools).map((tool) => recordOf(tool['function'])?.['strict'] === true)
  return strict.includes(true) && strict.includes(false)
}

function format(given: unknown): unknown {
  const schema = recordOf(recordOf(given)?.['json_schema'])?.['schema']
  return schema === undefined ? given : { type: 'json_object', json_schema: schema }
}

function adjust(body: Json): string[] {
  const stop = typeof body['stop'] === 'string' ? [body['stop']] : listOf(body['stop'])
  if (stop.length > 0) body['stop_sequences'] = stop.slice(0, mostStops)
  set(body, 'p', clamp(body['top_p'], 0.01, 0.99))
  const topK = numberOf(body['top_k']) ?? 0
  set(body, 'k', topK > 0 ? topK : undefined)
  for (const name of ['frequency_penalty', 'presence_penalty']) set(body, name, clamp(body[name], 0, 1))
  const unstrict = onlySomeStrict(body['tools']) ? ['tools.strict'] : []
  if (body['tools'] !== undefined) {
    body['tools'] = offered(body['tools'], body['tool_choice'])
    checkExclusive(body)
  }
  const choice = toolChoice(body['tool_choice'])
  delete body['tool_choice']
  set(body, 'tool_choice', choice)
  if (body['response_format'] !== undefined) body['response_format'] = format(body['response_format'])
  body['messages'] = recordsOf(body['messages']).map(message)
  const left = Object.entries(body).filter(([name]) => !taken.has(name))
  for (const [name] of left) delete body[name]
  return [
    ...unstrict,
    ...left.flatMap(([name, value]) => (renamed.has(name) || isDefaultValue(name, value) ? [] : [name])),
  ]
}

function reasoning(body: Json, { reasoning: input }: ChatRequest): void {
  const wanted = wantsThinking(input)
  if (wanted === undefined || !/reasoning|command-a-plus/.test(String(body['model']))) return
  const budget = input?.budgetTokens
  body['thinking'] = wanted
    ? { type: 'enabled', ...(budget !== undefined && budget > 0 ? { token_budget: budget } : {}) }
    : { type: 'disabled' }
}

const style: OpenAiStyle = {
  id: 'cohere',
  label: 'Cohere',
  channelTypes: [34],
  url: ({ channel }) => joinPath(channel.baseUrl.replace(/\/v[12]$/, ''), '/v2', '/chat'),
  streamUsage: false,
  takesTopK: true,
  reasoning,
  adjust,
}

/** The second version of the vendor's chat call, which is close to the OpenAI form. */
export function toCohereRequest(request: ChatRequest, call: ProviderCall): UpstreamRequest {
  const written = toOpenAiRequest(style)(request, call)
  return { ...written, losses: [...(written.losses ?? []), ...unplaced(request).filter((name) => name !== 'detail')] }
}
