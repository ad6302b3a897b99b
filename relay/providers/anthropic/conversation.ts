import type { Message, TextPart } from '#relay/chat/request.ts'
import { type Json, textOf } from '../shared/json.ts'
import { assistantBlocks, createCallIds, textBlock, userBlocks } from './blocks.ts'

type Turn = { role: 'user' | 'assistant'; content: Json[] }

const filler = '...'
const goOn = 'Continue.'

const isResult = (block: Json): boolean => block['type'] === 'tool_result'

/** Results stand before everything else of a user turn. */
const resultsFirst = (blocks: Json[]): Json[] => [
  ...blocks.filter(isResult),
  ...blocks.filter((block) => !isResult(block)),
]

function turnsOf(messages: readonly Message[]): Turn[] {
  const ids = createCallIds()
  return messages.flatMap((message): Turn[] => {
    if (message.role === 'system') return []
    if (message.role === 'assistant') {
      const content = message.content.flatMap((part) => assistantBlocks(part, ids))
      return content.length > 0 ? [{ role: 'assistant', content }] : []
    }
    const content = message.content.flatMap((part) => userBlocks(part, ids))
    return [{ role: 'user', content: content.length > 0 ? content : [textBlock(filler)] }]
  })
}

function merged(turns: readonly Turn[]): Turn[] {
  const result: Turn[] = []
  for (const turn of turns) {
    const last = result.at(-1)
    if (last?.role === turn.role) last.content = [...last.content, ...turn.content]
    else result.push({ ...turn })
  }
  return result
}

const callIds = (turn: Turn | undefined): string[] =>
  turn?.role === 'assistant'
    ? turn.content.flatMap((block) => (block['type'] === 'tool_use' ? [textOf(block['id']) ?? ''] : []))
    : []

/** Every call is answered in the very next turn, and no answer stands without its call. */
function paired(turns: readonly Turn[]): Turn[] {
  const result: Turn[] = []
  for (const [index, turn] of turns.entries()) {
    const asked = callIds(turns[index - 1])
    if (turn.role === 'assistant') {
      result.push(turn)
      const next = turns[index + 1]
      if (callIds(turn).length > 0 && next === undefined) result.push({ role: 'user', content: missing(callIds(turn)) })
      continue
    }
    const blocks = turn.content.filter((block) => !isResult(block) || asked.includes(String(block['tool_use_id'])))
    const answered = blocks.filter(isResult).map((block) => String(block['tool_use_id']))
    const content = resultsFirst([...missing(asked.filter((id) => !answered.includes(id))), ...blocks])
    result.push({ role: 'user', content: content.length > 0 ? content : [textBlock(filler)] })
  }
  return result
}

const missing = (ids: readonly string[]): Json[] =>
  ids.map((id) => ({ type: 'tool_result', tool_use_id: id, content: '', is_error: true }))

/** A conversation that ends with the assistant begins the answer, which newer models refuse. */
function withEnding(turns: Turn[], prefill: boolean): Turn[] {
  const last = turns.at(-1)
  if (last?.role !== 'assistant') return turns
  if (!prefill) return [...turns, { role: 'user', content: [textBlock(goOn)] }]
  const block = last.content.at(-1)
  if (block?.['type'] !== 'text') return turns
  const text = (textOf(block['text']) ?? '').trimEnd()
  const content = [...last.content.slice(0, -1), ...(text === '' ? [] : [{ ...block, text }])]
  return [...turns.slice(0, -1), ...(content.length > 0 ? [{ ...last, content }] : [])]
}

/** One plain text stays text. */
function toMessage(turn: Turn): Json {
  const [block] = turn.content
  const plain = turn.content.length === 1 && block?.['type'] === 'text' && block['cache_control'] === undefined
  return { role: turn.role, content: plain ? block['text'] : turn.content }
}

export const systemTexts = (messages: readonly Message[]): TextPart[] =>
  messages.flatMap((message) => (message.role === 'system' ? message.content.filter((part) => part.text !== '') : []))

/** The conversation as alternating turns that begin with the user, repaired where the caller's is not one. */
export function toClaudeMessages(messages: readonly Message[], { prefill }: { prefill: boolean }): Json[] {
  const turns = merged(turnsOf(messages))
  if (turns.length === 0) {
    const instructions = systemTexts(messages).map((part) => part.text)
    return [{ role: 'user', content: instructions.length > 0 ? instructions.join('\n\n') : filler }]
  }
  const first: Turn[] = turns[0]?.role === 'user' ? [] : [{ role: 'user', content: [textBlock(filler)] }]
  return withEnding(paired([...first, ...turns]), prefill).map(toMessage)
}
