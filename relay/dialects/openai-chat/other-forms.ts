import { InvalidRequest } from '#relay/chat/invalid-request.ts'
import { type Fields, isEmptyValue, isObject } from '#relay/chat/json.ts'
import { defined, leftOver, readerFor, unreadNames } from '../read.ts'
import { joinContent, toContent, toOutput, toParts, toResult } from './other-content.ts'
import { isFlatTool, isFreeText, nestedChoice, nestedTool, type Reading } from './other-tools.ts'

/** A body of this dialect's own, what of the one that came has no place in it, and the tools of free text that it describes flat, by name. */
type ChatBody = { body: Fields; losses: string[]; freeText: ReadonlySet<string> }

const code = 'invalid_text_request'
const read = readerFor(code)
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

/**
 * The chat completion that a body in another form means, for agents (Cursor) that send this path bodies of responses, tools without the object
 * around a function, or the tools and parts of Anthropic's messages, and read chat completions all the same. Nothing for a body
 * that is one. What is wrong in it stays as it is, for the parser to refuse.
 */
export function chatBodyOf(given: Fields): ChatBody | undefined {
  const { messages, input, tools } = given
  const isResponses = (messages ?? undefined) === undefined && (Array.isArray(input) || typeof input === 'string')
  if (!isResponses && !listOf(tools).some(isFlatTool)) return undefined
  read.body(given)
  const freeText = new Set(listOf(tools).flatMap((tool) => (isFlatTool(tool) && isFreeText(tool) ? [tool.name] : [])))
  const reading = { freeText, losses: new Set<string>() }
  const form = isResponses ? fromResponses(given, reading) : fromMessagesBody(given, reading)
  return { body: withNestedTools(form, reading), losses: [...reading.losses], freeText }
}

function withNestedTools(form: Fields, reading: Reading): Fields {
  const { tools, tool_choice: choice } = form
  if (!Array.isArray(tools)) return form
  const nested = { ...form, tools: tools.map((tool: unknown) => nestedTool(tool, reading)) }
  if (choice === undefined) return nested
  const callsOne = isObject(choice) && choice['disable_parallel_tool_use'] === true
  return { ...nested, tool_choice: nestedChoice(choice, reading), ...(callsOne && { parallel_tool_calls: false }) }
}

/** Fields that both forms know by one name. */
const shared = [
  'model',
  'temperature',
  'top_p',
  'user',
  'safety_identifier',
  'service_tier',
  'metadata',
  'store',
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
  'stream',
  'stream_options',
]

const readApart = new Set([
  ...shared,
  'input',
  'instructions',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'max_output_tokens',
  'reasoning',
  'text',
])

/** What names something that an upstream keeps, or would run on: left out, the answer would be to another question. */
const indispensable = ['previous_response_id', 'conversation', 'prompt', 'background']

function fromResponses(given: Fields, reading: Reading): Fields {
  const { input, instructions, max_output_tokens: limit, tool_choice, parallel_tool_calls } = given
  for (const name of indispensable)
    if ((given[name] ?? false) !== false) throw new InvalidRequest(code, `${name} is not supported`)
  for (const [name, value] of Object.entries(leftOver(given, readApart))) {
    if (!isEmptyValue(value) && value !== false) reading.losses.add(name)
  }
  const reasoning = read.object(given['reasoning'], 'reasoning') ?? {}
  for (const name of unreadNames(reasoning, new Set(['effort', 'summary']), 'reasoning')) reading.losses.add(name)
  const text = read.object(given['text'], 'text') ?? {}
  for (const name of unreadNames(text, new Set(['format', 'verbosity']), 'text')) reading.losses.add(name)
  const own = (instructions ?? '') === '' ? [] : [{ role: 'system', content: instructions }]
  const messages = typeof input === 'string' ? [{ role: 'user', content: input }] : fromItems(listOf(input), reading)
  const tools = (read.list(given['tools'], 'tools') ?? []).filter((tool) => isCallable(tool, reading))
  return defined<Fields>({
    ...Object.fromEntries(shared.map((name) => [name, given[name]])),
    // Without tools the vendor refuses what is said of them.
    ...(tools.length === 0 ? {} : { tools, tool_choice, parallel_tool_calls }),
    messages: messages.length === 0 ? [] : [...own, ...messages],
    max_completion_tokens: limit ?? undefined,
    reasoning_effort: reasoning['effort'] ?? undefined,
    response_format: toResponseFormat(text['format']),
    verbosity: text['verbosity'] ?? undefined,
  })
}

/** What the vendor of responses runs itself is no tool of chat completions. */
function isCallable(tool: unknown, { losses }: Reading): boolean {
  if (!isObject(tool) || isFlatTool(tool)) return true
  if (isObject(tool['function']) || isObject(tool['custom'])) return true
  const { type } = tool
  losses.add(`tools.${typeof type === 'string' ? type : 'type'}`)
  return false
}

function toResponseFormat(format: unknown): unknown {
  if (!isObject(format) || format['type'] !== 'json_schema') return format ?? undefined
  const { type, ...schema } = format
  return { type, json_schema: schema }
}

const itemNames = new Set(['type', 'id', 'status', 'role', 'content'])

/** Items of a conversation → messages. Words and calls that follow each other are one turn of the model. */
function fromItems(items: unknown[], reading: Reading): unknown[] {
  const messages: unknown[] = []
  let turn: Fields | undefined
  let shown: unknown[] = []
  // Behind the last of the results that follow each other, for nothing may stand between them.
  const addShown = (): void => {
    if (shown.length > 0) messages.push({ role: 'user', content: shown })
    shown = []
  }
  const turnOfModel = (): Fields => {
    if (turn) return turn
    addShown()
    messages.push((turn = { role: 'assistant', content: null }))
    return turn
  }
  const addOther = (message: unknown): void => {
    addShown()
    turn = undefined
    messages.push(message)
  }
  const addResult = (id: unknown, output: unknown): void => {
    const made = toOutput(output)
    turn = undefined
    messages.push({ role: 'tool', tool_call_id: id, content: made.content })
    for (const part of made.shown) shown.push(part)
  }
  for (const item of items) {
    if (!isObject(item)) {
      addOther(item)
      continue
    }
    const { role, name, call_id: id } = item
    const type = item['type'] ?? (role === undefined ? 'item_reference' : 'message')
    if (type === 'message') {
      for (const lost of unreadNames(item, itemNames, 'message')) reading.losses.add(lost)
      const content = toContent(item['content'])
      if (role === 'assistant') joinContent(turnOfModel(), content)
      else addOther({ role, content })
    } else if (type === 'function_call')
      addCalls(turnOfModel(), [toCall({ id, name, text: item['arguments'] }, reading)])
    else if (type === 'custom_tool_call') addCalls(turnOfModel(), [customCall({ id, name, text: item['input'] })])
    else if (type === 'function_call_output' || type === 'custom_tool_call_output') addResult(id, item['output'])
    else if (type === 'item_reference') throw new InvalidRequest(code, 'item_reference is not supported')
    else reading.losses.add(typeof type === 'string' ? type : 'input.type')
  }
  addShown()
  return messages
}

type GivenCall = { id: unknown; name: unknown; text: unknown }

const customCall = ({ id, name, text }: GivenCall): Fields => ({ id, type: 'custom', custom: { name, input: text } })

/** Calls of free-text tools went out as those of functions, and come back as such. */
const toCall = ({ id, name, text }: GivenCall, { freeText }: Reading): Fields =>
  typeof name === 'string' && freeText.has(name)
    ? customCall({ id, name, text })
    : { id, type: 'function', function: { name, arguments: text } }

function addCalls(turn: Fields, calls: Fields[]): void {
  const earlier = turn['tool_calls']
  if (Array.isArray(earlier)) for (const call of calls) earlier.push(call)
  else if (calls.length > 0) turn['tool_calls'] = calls
}

/** What Anthropic has beside the messages is said in them, and its word for where to stop is another. */
function fromMessagesBody(given: Fields, reading: Reading): Fields {
  const { system, stop_sequences: ends, ...form } = given
  const isStopped = !isEmptyValue(ends) && isEmptyValue(form['stop'])
  if (!isEmptyValue(ends) && !isStopped) reading.losses.add('stop_sequences')
  const messages = fromMessages(form['messages'], reading)
  const own = isEmptyValue(system) ? [] : [{ role: 'system', content: toContent(system) }]
  return {
    ...form,
    ...(isStopped && { stop: ends }),
    messages: Array.isArray(messages) && messages.length > 0 ? [...own, ...messages] : messages,
  }
}

/** Messages with calls and results among their parts, as Anthropic's have them, and calls of free-text tools. */
const fromMessages = (messages: unknown, reading: Reading): unknown =>
  Array.isArray(messages) ? messages.flatMap((message: unknown) => fromMessage(message, reading)) : messages

function fromMessage(message: unknown, reading: Reading): unknown[] {
  if (!isObject(message)) return [message]
  if (message['role'] === 'assistant') return fromAssistant(message, reading)
  const { content } = message
  if (!Array.isArray(content)) return [message]
  const isResult = (part: unknown): part is Fields => isObject(part) && part['type'] === 'tool_result'
  const results = content.filter(isResult).map((part) => toResult(part, reading.losses))
  const others = content.filter((part) => !isResult(part))
  const parts = [...results.flatMap(({ shown }) => shown), ...toParts(others)]
  const own = parts.length === 0 && results.length > 0 ? [] : [{ ...message, content: parts }]
  return [...results.map((result) => result.message), ...own]
}

const isReasoning = (part: unknown): boolean =>
  isObject(part) && (part['type'] === 'thinking' || part['type'] === 'redacted_thinking')

function fromAssistant(message: Fields, reading: Reading): unknown[] {
  const { content, tool_calls: given } = message
  const calls = Array.isArray(given) ? given.map((call: unknown) => fromCall(call, reading)) : undefined
  if (!Array.isArray(content)) return [{ ...message, ...(calls && { tool_calls: calls }) }]
  const isUse = (part: unknown): part is Fields => isObject(part) && part['type'] === 'tool_use'
  const uses = content.filter(isUse).map(({ id, name, input, cache_control: marker }) => {
    if ((marker ?? undefined) !== undefined) reading.losses.add('cache_control')
    const text = typeof input === 'string' ? input : JSON.stringify(input ?? {})
    return toCall({ id, name, text }, reading)
  })
  const hasReasoning = content.some(isReasoning)
  if (hasReasoning) reading.losses.add('thinking')
  const rest = content.filter((part) => !isUse(part) && !isReasoning(part))
  const all = [...(calls ?? []), ...uses]
  // It was cut while it thought; a list of no parts is refused.
  if (hasReasoning && rest.length === 0 && all.length === 0) return []
  const words = rest.length === 0 && all.length > 0 ? null : toContent(rest)
  return [{ ...message, content: words, ...(all.length > 0 && { tool_calls: all }) }]
}

function fromCall(call: unknown, reading: Reading): unknown {
  if (!isObject(call) || !isObject(call['function'])) return call
  const { name, arguments: text } = call['function']
  return typeof name === 'string' && reading.freeText.has(name) ? toCall({ id: call['id'], name, text }, reading) : call
}
