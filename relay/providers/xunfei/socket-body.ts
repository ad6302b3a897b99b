import { renderFormat } from '../openai-compatible/format-instruction.ts'
import { type Json, numberOf, recordOf, recordsOf, textOf, withoutAbsent, wordOf } from '../shared/json.ts'

type Target = { appId: string; domain: string; takesInstructions: boolean }

const clamp = (value: unknown, least: number, most: number): number | undefined => {
  const number = numberOf(value)
  return number === undefined ? undefined : Math.min(Math.max(number, least), most)
}

function plainOf(content: unknown, losses: Set<string>): string {
  if (!Array.isArray(content)) return textOf(content) ?? ''
  const parts = recordsOf(content)
  for (const part of parts) if (part['type'] !== 'text') losses.add(textOf(part['type']) ?? 'messages.content')
  return parts.flatMap((part) => (part['type'] === 'text' ? (textOf(part['text']) ?? []) : [])).join('\n')
}

/** The vendor has a place for the calls it makes, none for those it made: they go back as what they said. */
function callText(call: Json): string {
  const fn = recordOf(call['function']) ?? {}
  return `${textOf(fn['name']) ?? ''}(${textOf(fn['arguments']) ?? ''})`
}

function messagesOf(message: Json, target: Target, losses: Set<string>): Json[] {
  const content = plainOf(message['content'], losses)
  switch (message['role']) {
    case 'system':
    case 'developer':
      return target.takesInstructions
        ? [{ role: 'system', content }]
        : [
            { role: 'user', content },
            { role: 'assistant', content: 'Okay' },
          ]
    case 'assistant': {
      const texts = [content, ...recordsOf(message['tool_calls']).map(callText)].filter((text) => text !== '')
      return [{ role: 'assistant', content: texts.join('\n') }]
    }
    default:
      return [{ role: 'user', content }]
  }
}

function functionsOf(body: Json, losses: Set<string>): Json[] {
  const choice = body['tool_choice']
  if (choice === 'none') return []
  if (choice !== undefined && choice !== 'auto') losses.add('tool_choice')
  return recordsOf(body['tools']).flatMap((tool) => {
    const fn = recordOf(tool['function'])
    if (!fn) {
      losses.add('tools')
      return []
    }
    if (fn['strict'] === true) losses.add('tools.strict')
    const parameters = fn['parameters'] ?? { type: 'object', properties: {} }
    return [withoutAbsent({ name: fn['name'], description: fn['description'], parameters })]
  })
}

const taken = new Set(
  (
    'model messages stream tools tool_choice response_format temperature top_k n user ' +
    'max_tokens max_completion_tokens auditing'
  ).split(' '),
)
/** Fields whose absence changes nothing here. */
const idle = new Set(['stream_options', 'parallel_tool_calls'])

/** A body of the OpenAI form as the one message of a socket, and the fields that have no place in it. */
export function toSocketBody(given: Json, target: Target): { body: Json; losses: string[] } {
  const body = { ...given }
  renderFormat(body)
  const losses = new Set(Object.keys(body).filter((name) => !taken.has(name) && !idle.has(name)))
  if ((numberOf(body['n']) ?? 1) > 1) losses.add('n')
  if (body['parallel_tool_calls'] === false) losses.add('parallel_tool_calls')
  const functions = functionsOf(body, losses)
  const messages = recordsOf(body['messages']).flatMap((message) => messagesOf(message, target, losses))
  const topK = clamp(body['top_k'] ?? body['n'], 1, 6)
  const chat = withoutAbsent({
    domain: target.domain,
    temperature: clamp(body['temperature'], 0.001, 1),
    top_k: topK === undefined ? undefined : Math.round(topK),
    max_tokens: body['max_tokens'] ?? body['max_completion_tokens'],
    auditing: body['auditing'],
  })
  return {
    body: {
      header: withoutAbsent({ app_id: target.appId, uid: wordOf(body['user'])?.slice(0, 32) }),
      parameter: { chat },
      payload: {
        message: { text: messages },
        ...(functions.length > 0 ? { functions: { text: functions } } : {}),
      },
    },
    losses: [...losses],
  }
}
