import { createHash } from 'node:crypto'
import type { ChatRequest } from '#relay/chat/request.ts'
import { type Json, recordOf, recordsOf, textOf, withoutAbsent } from '../../shared/json.ts'
import { isDefaultValue } from '../../shared/default-values.ts'
import { openAiCompatible } from '../index.ts'
import { mistralEmbeddings } from './mistral-embeddings.ts'
import { mistralSpeech } from './mistral-speech.ts'
import { mistralUsage } from './mistral-usage.ts'
import { wantsThinking } from '../thinking-switch.ts'

const taken = new Set([
  'model',
  'messages',
  'temperature',
  'top_p',
  'max_tokens',
  'stream',
  'stop',
  'random_seed',
  'response_format',
  'tools',
  'tool_choice',
  'presence_penalty',
  'frequency_penalty',
  'n',
  'prediction',
  'parallel_tool_calls',
  'prompt_mode',
  'reasoning_effort',
  'safe_prompt',
  'metadata',
])

/** Fields that go under another name. */
const renamed = new Set(['max_completion_tokens', 'seed'])

const ownId = /^[a-zA-Z0-9]{9}$/

/** Ids of other vendors become nine letters or digits, the same ones each time. */
const toOwnId = (id: string): string =>
  ownId.test(id) ? id : createHash('sha256').update(id).digest('hex').slice(0, 9)

function withOwnIds(message: Json): Json {
  const callId = textOf(message['tool_call_id'])
  const calls = message['tool_calls']
  return {
    ...message,
    ...(callId === undefined ? {} : { tool_call_id: toOwnId(callId) }),
    ...(Array.isArray(calls)
      ? { tool_calls: recordsOf(calls).map((call) => ({ ...call, id: toOwnId(textOf(call['id']) ?? '') })) }
      : {}),
  }
}

const hasForeignId = (message: Json): boolean =>
  [message['tool_call_id'], ...recordsOf(message['tool_calls']).map((call) => call['id'])].some(
    (id) => typeof id === 'string' && !ownId.test(id),
  )

/**
 * Between a tool's result and anybody else's words stands the model's: "Unexpected role 'user' after role 'tool'". Instructions stand before
 * the conversation or beside the user's words only, and an answer at the end is one begun:
 * https://github.com/mistralai/mistral-common, `MistralRequestValidator`.
 */
function inOrder(messages: readonly Json[]): Json[] {
  const list: Json[] = []
  for (const message of messages) {
    const before = list.at(-1)?.['role']
    const isOdd = message['role'] === 'system' && (before === 'assistant' || before === 'tool')
    const next = isOdd ? { ...message, role: 'user' } : message
    if (before === 'tool' && next['role'] === 'user') list.push({ role: 'assistant', content: 'Understood.' })
    list.push(next)
  }
  const last = list.at(-1)
  if (last?.['role'] === 'assistant' && last['prefix'] === undefined) list[list.length - 1] = { ...last, prefix: true }
  return list
}

/** https://docs.mistral.ai/api: other names are "Extra inputs are not permitted", the name of a speaker among them. */
const takenOfMessage: Readonly<Record<string, readonly string[]>> = {
  assistant: ['role', 'content', 'tool_calls', 'prefix'],
  tool: ['role', 'content', 'tool_call_id', 'name'],
}

/** A document stands where an image would; one that the vendor keeps is named by its id. */
function asDocument(part: Json): Json {
  const file = recordOf(part['file'])
  if (part['type'] !== 'file' || !file) return part
  if (file['file_data'] === undefined) return { type: 'file', file_id: file['file_id'] }
  return withoutAbsent({ type: 'document_url', document_url: file['file_data'], document_name: file['filename'] })
}

/** A message with the fields that it may have. What it refused is what it said; the names of all else are added to `lost`. */
function ownMessage(message: Json, lost: Set<string>): Json {
  const { content, refusal } = message
  const isRefusal = (content ?? null) === null && typeof refusal === 'string'
  const names = takenOfMessage[String(message['role'])] ?? ['role', 'content']
  for (const [name, value] of Object.entries(message))
    if (!names.includes(name) && (value ?? null) !== null && !(isRefusal && name === 'refusal')) lost.add(name)
  return withoutAbsent({
    ...Object.fromEntries(names.map((name) => [name, message[name]])),
    content: isRefusal ? refusal : Array.isArray(content) ? recordsOf(content).map(asDocument) : content,
  })
}

function rename(body: Json, from: string, to: string): void {
  if (body[from] !== undefined) body[to] ??= body[from]
}

function adjust(body: Json): string[] {
  rename(body, 'seed', 'random_seed')
  rename(body, 'max_completion_tokens', 'max_tokens')
  const left = Object.entries(body).filter(([name]) => !taken.has(name))
  for (const [name] of left) delete body[name]
  const lost = new Set<string>()
  const messages = recordsOf(body['messages']).map((message) => ownMessage(message, lost))
  body['messages'] = inOrder(messages.some(hasForeignId) ? messages.map(withOwnIds) : messages)
  const choice = recordOf(body['tool_choice'])
  if (choice && choice['type'] !== 'function') body['tool_choice'] = 'auto'
  const named = left.filter(([name, value]) => !renamed.has(name) && !isDefaultValue(name, value))
  return [...named.map(([name]) => name), ...lost]
}

/** Models that only think are given an effort; those that can do both take the two ends of the effort. */
function reasoning(body: Json, request: ChatRequest): void {
  const wanted = wantsThinking(request.reasoning)
  const model = String(body['model'])
  if (model.startsWith('magistral')) {
    if (wanted !== false) body['prompt_mode'] ??= 'reasoning'
  } else if (wanted !== undefined && /^mistral-(small-(2603|latest)|medium-(3[.-][5-9]|2604|latest))/.test(model)) {
    body['reasoning_effort'] = wanted ? 'high' : 'none'
  }
}

export const mistral = openAiCompatible({
  id: 'mistral',
  telemetryName: 'mistral_ai',
  label: 'Mistral',
  channelTypes: [42],
  ignoresSearches: true,
  streamUsage: false,
  usage: mistralUsage,
  reasoning,
  adjust,
  plain: { embeddings: mistralEmbeddings, speech: mistralSpeech },
  // Reasoning comes as parts of the content, which callers of the original form cannot read.
  translatesAlways: true,
})
