import { type Json, recordOf, recordsOf, textOf } from '../wire/json.ts'

type Turn = { role: string; content: string; name?: unknown; function_call?: unknown }

const textIn = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : recordsOf(content)
        .map((part) => textOf(part['text']) ?? '')
        .join('\n')

/** One call a turn is all that this vendor knows: the first of several is told, the rest go with their results. */
function turnOf(message: Json, names: Map<string, unknown>): Turn | undefined {
  const [call] = recordsOf(message['tool_calls'])
  const fn = recordOf(call?.['function'])
  if (call && fn) {
    names.set(textOf(call['id']) ?? '', fn['name'])
    const called = { name: fn['name'], arguments: fn['arguments'] }
    return { role: 'assistant', content: textIn(message['content']), function_call: called }
  }
  if (message['role'] !== 'tool')
    return { role: textOf(message['role']) ?? 'user', content: textIn(message['content']) }
  const name = names.get(textOf(message['tool_call_id']) ?? '')
  return name === undefined ? undefined : { role: 'function', name, content: textIn(message['content']) }
}

/** Instructions apart, then user and assistant in turn, first and last the user. */
export function toBaiduMessages(given: readonly Json[]): { system?: string; messages: Turn[] } {
  const isSystem = (message: Json): boolean => message['role'] === 'system' || message['role'] === 'developer'
  const system = given
    .filter(isSystem)
    .map((message) => textIn(message['content']))
    .join('\n\n')
  const names = new Map<string, unknown>()
  const messages: Turn[] = []
  for (const message of given) {
    const turn = isSystem(message) ? undefined : turnOf(message, names)
    const last = messages.at(-1)
    if (!turn) continue
    if (last && last.role === turn.role && turn.role !== 'function' && !turn.function_call)
      last.content += `\n\n${turn.content}`
    else messages.push(turn)
  }
  if (messages[0]?.role !== 'user') messages.unshift({ role: 'user', content: '...' })
  if (messages.at(-1)?.role === 'assistant') messages.push({ role: 'user', content: 'Continue.' })
  return { ...(system === '' ? {} : { system }), messages }
}
