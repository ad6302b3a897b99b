import { type Fields, isEmptyValue, isObject } from '#relay/chat/json.ts'
import type { ChatRequest, ReasoningInput } from '#relay/chat/request.ts'
import { readResponseFormat } from '../openai-chat/output-settings.ts'
import { defined, isEffort, isVendorEffort, leftOver, readerFor, unreadUser } from '../read.ts'
import { InvalidRequest } from '#relay/chat/invalid-request.ts'
import { flatTools } from './agent-tools.ts'
import { readInput } from './items.ts'
import { readTools, readToolChoice, unreadToolFields } from './tools.ts'

const code = 'invalid_responses_request'
const read = readerFor(code)

const known = new Set([
  'model',
  'input',
  'instructions',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'max_output_tokens',
  'temperature',
  'top_p',
  'top_logprobs',
  'text',
  'reasoning',
  'user',
  'safety_identifier',
  'service_tier',
  'stream',
  'stream_options',
])

/** Body of `/v1/responses` → hub request. */
export function parseOpenAiResponses(value: unknown, path: { model?: string | undefined }): ChatRequest {
  const body = read.body(value)
  const maxTokens = read.maxTokens(body['max_output_tokens'], 'max_output_tokens') || undefined
  const model = read.name(body['model'] ?? path.model, 'model')
  const { input } = body
  const isEmpty = input === undefined || input === null || input === '' || (Array.isArray(input) && input.length === 0)
  if (isEmpty) throw read.required('input')
  // What runs on after its call has ended could never be charged.
  if (body['background'] === true) throw new InvalidRequest(code, 'background is not supported')
  const { messages, losses } = readInput(input, read)
  const instructions = read.text(body['instructions'], 'instructions') ?? ''
  const system = { role: 'system' as const, content: [{ type: 'text' as const, text: instructions }] }
  const hasTools = read.list(body['tools'], 'tools') !== undefined || Array.isArray(input)
  const { tools, beside } = hasTools ? flatTools(body) : { tools: undefined, beside: [] }
  const choice = readToolChoice(body, read)
  const topLogprobs = read.integer(body['top_logprobs'], 'top_logprobs', [0, 20])
  const text = read.object(body['text'], 'text') ?? {}
  return defined({
    model,
    messages: instructions === '' ? messages : [system, ...messages],
    tools: readTools(tools, read),
    toolChoice: choice.toolChoice,
    parallelToolCalls: read.flag(body['parallel_tool_calls'], 'parallel_tool_calls'),
    maxTokens,
    temperature: read.number(body['temperature'], 'temperature'),
    topP: read.number(body['top_p'], 'top_p'),
    stop: [],
    logprobs: topLogprobs === undefined ? undefined : true,
    topLogprobs,
    responseFormat: readResponseFormat(text['format'], read, 'text.format'),
    reasoning: readReasoningInput(body),
    user: read.text(body['user'] ?? body['safety_identifier'], 'user'),
    serviceTier: read.text(body['service_tier'], 'service_tier'),
    stream: read.flag(body['stream'], 'stream') ?? false,
    includeUsage: true,
    extra: { dialect: 'openai-responses' as const, fields: readExtra(body, text) },
    nativeOnly: beside.length === 0 ? undefined : beside.map((words) => ({ type: 'text' as const, text: words })),
    losses: [
      ...new Set([
        ...losses,
        ...choice.losses,
        ...unreadToolFields(tools),
        ...unreadReasoning(body),
        ...unreadUser(body),
      ]),
    ],
  })
}

function readReasoningInput(body: Fields): ReasoningInput | undefined {
  const reasoning = read.object(body['reasoning'], 'reasoning') ?? {}
  const effort = read.text(reasoning['effort'], 'reasoning.effort')
  if (effort !== undefined && !isEffort(effort) && !isVendorEffort(effort)) throw read.invalid('reasoning.effort')
  const summary = reasoning['summary'] ?? reasoning['generate_summary'] ?? undefined
  const wanted: ReasoningInput = defined({
    effort: isEffort(effort) ? effort : undefined,
    includeThoughts: summary === undefined ? undefined : true,
  })
  return Object.keys(wanted).length === 0 ? undefined : wanted
}

/** What is said of reasoning beyond how much of it, and whether it is shown. */
function unreadReasoning(body: Fields): string[] {
  const reasoning = isObject(body['reasoning']) ? body['reasoning'] : {}
  const { effort, mode, context, summary } = reasoning
  const isPlain = summary === undefined || summary === null || summary === 'auto'
  return [
    ...(isVendorEffort(effort) ? ['reasoning.effort'] : []),
    ...(isEmptyValue(mode) ? [] : ['reasoning.mode']),
    ...(isEmptyValue(context) ? [] : ['reasoning.context']),
    ...(isPlain ? [] : ['reasoning.summary']),
  ]
}

function readExtra(body: Fields, text: Fields): Fields {
  const { format: _, ...rest } = text
  const wording = Object.fromEntries(Object.entries(rest).filter(([, value]) => !isEmptyValue(value)))
  return { ...leftOver(body, known), ...(Object.keys(wording).length === 0 ? {} : { text: wording }) }
}
