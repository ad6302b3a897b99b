import { type Json, recordOf, recordsOf, textOf } from '../shared/json.ts'

type Turn = { role: string; content: string; name?: unknown; function_call?: unknown }

/** Texts are all that this vendor reads. */
function textIn(content: unknown, losses: Set<string>): string {
  if (typeof content === 'string') return content
  return recordsOf(content)
    .flatMap((part) => {
      const text = textOf(part['text'])
      if (text === undefined) losses.add(textOf(part['type']) ?? 'messages.content')
      return text ?? []
    })
    .join('\n')
}

/** One call a turn is all that this vendor knows: the first of several is sent, the rest go with their results. */
function turnOf(message: Json, names: Map<string, unknown>, losses: Set<string>): Turn | undefined {
  const [call, ...others] = recordsOf(message['tool_calls'])
  if (others.length > 0) losses.add('tool_calls')
  const fn = recordOf(call?.['function'])
  if (call && fn) {
    names.set(textOf(call['id']) ?? '', fn['name'])
    const called = { name: fn['name'], arguments: fn['arguments'] }
    return { role: 'assistant', content: textIn(message['content'], losses), function_call: called }
  }
  if (message['role'] !== 'tool')
    return { role: textOf(message['role']) ?? 'user', content: textIn(message['content'], losses) }
  const name = names.get(textOf(message['tool_call_id']) ?? '')
  return name === undefined ? undefined : { role: 'function', name, content: textIn(message['content'], losses) }
}

/** Instructions apart, then user and assistant in turn, first and last the user. */
export function toBaiduMessages(given: readonly Json[], losses: Set<string>): { system?: string; messages: Turn[] } {
  const isSystem = (message: Json): boolean => message['role'] === 'system' || message['role'] === 'developer'
  const system = given
    .filter(isSystem)
    .map((message) => textIn(message['content'], losses))
    .join('\n\n')
  const names = new Map<string, unknown>()
  const messages: Turn[] = []
  for (const message of given) {
    const turn = isSystem(message) ? undefined : turnOf(message, names, losses)
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
