import { sum, type Answer, type Usage } from '../answer.ts'
import { checkFields } from '../fields.ts'
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
import { json, type Call, type ChatOperation, type StreamEvent } from '../types.ts'

const known = [
  'messages',
  'system',
  'temperature',
  'top_p',
  'penalty_score',
  'stream',
  'max_output_tokens',
  'stop',
  'user_id',
  'functions',
  'tool_choice',
  'response_format',
  'disable_search',
  'enable_citation',
]

const isCall = (message: Json | undefined) => asObject(message?.['function_call'])['name'] !== undefined

/** The user begins and ends, and the two take turns; a function's result stands in for the user's word. */
function checkTurns(messages: Json[]): void {
  messages.forEach((message, index) => {
    checkFields(message, ['role', 'content', 'name', 'function_call'], 'messages.')
    if (typeof message['content'] !== 'string') refuse('messages.content must be a string')
    const role = message['role']
    if (index % 2 === 1 && role !== 'assistant') refuse('the role of messages with even index must be assistant')
    if (index % 2 === 0 && role !== 'user' && role !== 'function')
      refuse('the role of messages with odd index must be user or function')
    const before = messages[index - 1]
    if (role === 'function' && asObject(before?.['function_call'])['name'] !== message['name'])
      refuse('the function call of the turn before has another name')
    if (role !== 'function' && isCall(before)) refuse('a function call must be followed by its result')
  })
  if (messages.length % 2 === 0) refuse('the length of messages must be an odd number')
}

function toolChoiceOf(value: unknown): Prompt['toolChoice'] {
  if (value === undefined) return { mode: 'auto' }
  const choice = asObject(value)
  if (choice['type'] !== 'function') refuse('tool_choice.type must be function')
  return { mode: 'required', name: asText(asObject(choice['function'])['name']) }
}

function read({ body, path }: Call): Prompt {
  checkFields(body, known)
  const messages = asObjects(body['messages'])
  if (messages.length === 0) refuse('messages must not be empty')
  checkTurns(messages)
  const temperature = asNumber(body['temperature'])
  if (temperature !== undefined && (temperature <= 0 || temperature > 1)) refuse('temperature is in (0, 1.0]')
  const user = messages.findLast((message) => message['role'] === 'user')
  const last = messages.at(-1)
  return {
    model: path.slice(path.lastIndexOf('/') + 1),
    stream: body['stream'] === true,
    text: asText(user?.['content']),
    system: asText(body['system']),
    media: [],
    tools: asObjects(body['functions']).map((each) => {
      checkFields(each, ['name', 'description', 'parameters'], 'functions.')
      return { name: asText(each['name']), schema: asObject(each['parameters']) }
    }),
    toolChoice: toolChoiceOf(body['tool_choice']),
    toolResults: last?.['role'] === 'function' ? [asText(last['content'])] : [],
    thinking: false,
    json: body['response_format'] === 'json_object' ? {} : undefined,
    maxTokens: asNumber(body['max_output_tokens']),
    stop: asTexts(body['stop']),
    choices: 1,
    characters: charactersOf(messages) + charactersOf(body['system']),
  }
}

const usageBody = ({ prompt, completion }: Usage) => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: sum(prompt, completion),
})

const frame = (answer: Answer, call: Call) => ({
  id: call.nextId('as-'),
  object: 'chat.completion',
  created: call.now,
  is_truncated: answer.finish === 'length',
  need_clear_history: false,
  ...(answer.usage ? { usage: usageBody(answer.usage) } : {}),
})

/** One call a turn is all that the vendor makes. */
function callOf({ toolCalls }: Answer): Json {
  const [first] = toolCalls
  return first ? { function_call: { name: first.name, arguments: first.arguments, reasoning: '' } } : {}
}

const reasonOf = (answer: Answer) => (answer.toolCalls.length > 0 ? 'function_call' : 'normal')

const unstreamed = (answer: Answer, call: Call): Json => ({
  ...frame(answer, call),
  result: answer.text.join(''),
  finish_reason: reasonOf(answer),
  ...callOf(answer),
})

function events(answer: Answer, call: Call): StreamEvent[] {
  const shared = frame(answer, call)
  const chunk = (sentence_id: number, fields: Json): StreamEvent => ({
    data: JSON.stringify({ ...shared, sentence_id, is_end: false, result: '', ...fields }),
  })
  const closing = { is_end: true, finish_reason: reasonOf(answer), ...callOf(answer) }
  return [...answer.text.map((text, index) => chunk(index, { result: text })), chunk(answer.text.length, closing)]
}

export const chat: ChatOperation = {
  type: 'chat',
  read,
  write: (prompt, answer, call) =>
    prompt.stream ? { type: 'stream', events: events(answer, call) } : json(unstreamed(answer, call)),
}
