import { sum, type Answer, type Finish, type Usage } from '../answer.ts'
import {
  asNumber,
  asObject,
  asObjects,
  asText,
  asTexts,
  charactersOf,
  refuse,
  type Json,
  type Prompt,
} from '../prompt.ts'
import { signatureOf } from '../gemini/signatures.ts'
import { checkStrictly } from '../strict/index.ts'
import { json, type Call, type ChatOperation, type StreamEvent } from '../types.ts'
import { readMessages } from './read-messages.ts'

export function toolChoiceOf(value: unknown): Prompt['toolChoice'] {
  if (value === 'none' || value === 'required' || value === 'auto') return { mode: value }
  const choice = asObject(value)
  const name = asText(asObject(choice['function'] ?? choice['custom'])['name'] ?? choice['name'])
  return name ? { mode: 'required', name } : { mode: 'auto' }
}

export function formatOf(format: Json): Json | undefined {
  if (format['type'] === 'json_object') return {}
  if (format['type'] !== 'json_schema') return undefined
  return asObject(asObject(format['json_schema'])['schema'] ?? format['schema'])
}

function read(call: Call): Prompt {
  const { body } = call
  if (!body['model']) refuse('you must provide a model parameter')
  checkStrictly('chat', call)
  return {
    model: asText(body['model']),
    stream: body['stream'] === true,
    ...readMessages(body['messages']),
    tools: asObjects(body['tools']).map((tool) => {
      const definition = asObject(tool['function'] ?? tool['custom'])
      return { name: asText(definition['name']), schema: asObject(definition['parameters']) }
    }),
    toolChoice: toolChoiceOf(body['tool_choice']),
    thinking: body['reasoning_effort'] !== undefined && body['reasoning_effort'] !== 'none',
    json: formatOf(asObject(body['response_format'])),
    maxTokens: asNumber(body['max_completion_tokens'] ?? body['max_tokens']),
    stop: asTexts(body['stop']),
    choices: asNumber(body['n']) ?? 1,
    characters: charactersOf(body['messages']) + charactersOf(body['tools']),
  }
}

const finishWords: Record<Finish, string> = {
  stop: 'stop',
  length: 'length',
  'tool-calls': 'tool_calls',
  'content-filter': 'content_filter',
}

export const usageBody = (usage: Usage, choices: number) => {
  const completion = typeof usage.completion === 'number' ? usage.completion * choices : usage.completion
  return {
    prompt_tokens: usage.prompt,
    completion_tokens: completion,
    total_tokens: sum(usage.prompt, completion),
    prompt_tokens_details: {
      cached_tokens: usage.cached,
      audio_tokens: 0,
      ...(usage.cacheWrite === 0 ? {} : { cache_write_tokens: usage.cacheWrite }),
    },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoning,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  }
}

const isCustom = (call: Call, name: string) =>
  asObjects(call.body['tools']).some((tool) => tool['type'] === 'custom' && asObject(tool['custom'])['name'] === name)

/** Google's models prove the first call of a step in this form too: https://ai.google.dev/gemini-api/docs/thought-signatures. */
const proofOf = (name: string, index: number, { body }: Call): Json =>
  index === 0 && asText(body['model']).startsWith('gemini-')
    ? { extra_content: { google: { thought_signature: signatureOf(name) } } }
    : {}

const toolCallBodies = (answer: Answer, call: Call) =>
  answer.toolCalls.map((each, index) =>
    isCustom(call, each.name)
      ? { id: call.nextId('call_'), type: 'custom', custom: { name: each.name, input: each.arguments } }
      : {
          id: call.nextId('call_'),
          type: 'function',
          function: { name: each.name, arguments: each.arguments },
          ...proofOf(each.name, index, call),
        },
  )

function unstreamed(prompt: Prompt, answer: Answer, call: Call) {
  const choices = Array.from({ length: prompt.choices }, (_, index) => {
    const toolCalls = toolCallBodies(answer, call)
    return {
      index,
      message: {
        role: 'assistant',
        content: toolCalls.length > 0 ? null : answer.text.join(''),
        ...(answer.reasoning.length > 0 ? { reasoning_content: answer.reasoning.join('') } : {}),
        ...(toolCalls.length > 0 ? { tool_calls: toolCalls } : {}),
        refusal: null,
        annotations: [],
      },
      logprobs: null,
      finish_reason: finishWords[answer.finish],
    }
  })
  return {
    id: call.nextId('chatcmpl-'),
    object: 'chat.completion',
    created: call.now,
    model: prompt.model,
    choices,
    ...(answer.usage ? { usage: usageBody(answer.usage, prompt.choices) } : {}),
    service_tier: 'default',
    system_fingerprint: 'fp_sim',
  }
}

/** Name first, then the arguments in two halves, as the vendor streams them. */
function toolDeltas(answer: Answer, call: Call): Json[] {
  return answer.toolCalls.flatMap((each, index) => {
    const middle = Math.ceil(each.arguments.length / 2)
    const halves = [each.arguments.slice(0, middle), each.arguments.slice(middle)].filter(Boolean)
    const custom = isCustom(call, each.name)
    const key = custom ? 'custom' : 'function'
    const field = custom ? 'input' : 'arguments'
    const own = { type: key, [key]: { name: each.name, [field]: '' }, ...proofOf(each.name, index, call) }
    const start = { index, id: call.nextId('call_'), ...own }
    return [{ tool_calls: [start] }, ...halves.map((half) => ({ tool_calls: [{ index, [key]: { [field]: half } }] }))]
  })
}

/**
 * Vendors of this form whose streams end with usage although nobody can ask for it: Zhipu
 * (https://docs.bigmodel.cn/api-reference) and Mistral (https://docs.mistral.ai/api, `CompletionChunk.usage`).
 */
const unaskedUsage = /^\/api\/(coding\/)?paas\/v4\/| (mistral|magistral|ministral|codestral|pixtral|devstral)-/

function events(prompt: Prompt, answer: Answer, call: Call): StreamEvent[] {
  const includeUsage = asObject(call.body['stream_options'])['include_usage'] === true
  const countsUnasked = unaskedUsage.test(`${call.path} ${prompt.model}`)
  const at = call.directives['usageat'] ?? (countsUnasked ? 'finish' : 'last')
  const usage = answer.usage ? usageBody(answer.usage, prompt.choices) : undefined
  const frame = {
    id: call.nextId('chatcmpl-'),
    object: 'chat.completion.chunk',
    created: call.now,
    model: prompt.model,
    service_tier: 'default',
    system_fingerprint: 'fp_sim',
  }
  let sent = 0
  const carriesUsage = (finish: boolean) =>
    at === 'each' || (at === 'first' && sent === 1) || (at === 'finish' && finish)
  const chunk = (index: number, delta: Json, finish: string | null = null): StreamEvent => {
    sent += 1
    const shown = usage && carriesUsage(finish !== null) ? { usage } : includeUsage ? { usage: null } : {}
    return {
      data: JSON.stringify({ ...frame, choices: [{ index, delta, logprobs: null, finish_reason: finish }], ...shown }),
    }
  }
  const list: StreamEvent[] = []
  for (let index = 0; index < prompt.choices; index += 1) {
    list.push(chunk(index, { role: 'assistant', content: answer.toolCalls.length > 0 ? null : '', refusal: null }))
    for (const text of answer.reasoning) list.push(chunk(index, { reasoning_content: text }))
    for (const text of answer.text) list.push(chunk(index, { content: text }))
    for (const delta of toolDeltas(answer, call)) list.push(chunk(index, delta))
    list.push(chunk(index, {}, finishWords[answer.finish]))
  }
  if (usage && includeUsage && at === 'last') list.push({ data: JSON.stringify({ ...frame, choices: [], usage }) })
  list.push({ data: '[DONE]' })
  return list
}

export const chatCompletions: ChatOperation = {
  type: 'chat',
  read,
  write: (prompt, answer, call) =>
    prompt.stream ? { type: 'stream', events: events(prompt, answer, call) } : json(unstreamed(prompt, answer, call)),
}
