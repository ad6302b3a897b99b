import type { Message, TextPart } from '#relay/chat/request.ts'
import { type Json, textOf } from '../shared/json.ts'
import { assistantBlocks, createCallIds, textBlock, userBlocks } from './blocks.ts'

type Turn = {
  role: 'user' | 'assistant'
  content: Json[]
  /** Instructions that were given in mid-conversation: they stand right behind a turn of the user. */
  instructions?: Json[] | undefined
}

const filler = '...'
/** What the user says where a begun answer cannot be gone on with. */
export const goOn = 'Continue.'

const isResult = (block: Json): boolean => block['type'] === 'tool_result'

/** Results stand before everything else of a user turn. */
const resultsFirst = (blocks: Json[]): Json[] => [
  ...blocks.filter(isResult),
  ...blocks.filter((block) => !isResult(block)),
]

type Spoken = Turn | { role: 'system'; content: Json[] }

function turnsOf(messages: readonly Message[], laterInstructions: boolean, remoteCalls: boolean): Spoken[] {
  const ids = createCallIds()
  return messages.slice(beginningOf(messages)).flatMap((message): Spoken[] => {
    if (message.role === 'system') {
      const texts = message.content.filter((part) => part.text.trim() !== '')
      const content = texts.map((part) => textBlock(part.text, part.cacheControl))
      return laterInstructions && content.length > 0 ? [{ role: 'system', content }] : []
    }
    if (message.role === 'assistant') {
      const content = message.content.flatMap((part) => assistantBlocks(part, ids, remoteCalls))
      return content.length > 0 ? [{ role: 'assistant', content }] : []
    }
    const content = message.content.flatMap((part) => userBlocks(part, ids))
    return [{ role: 'user', content: content.length > 0 ? content : [textBlock(filler)] }]
  })
}

function append(blocks: Json[], more: readonly Json[]): void {
  for (const block of more) blocks.push(block)
}

/** Turns by turns about. Instructions given before a turn of the user, or behind it, stand behind it. */
function merged(turns: readonly Spoken[]): Turn[] {
  const result: Turn[] = []
  let waiting: Json[] = []
  for (const turn of turns) {
    const last = result.at(-1)
    if (turn.role === 'system') {
      if (last?.role === 'user') append((last.instructions ??= []), turn.content)
      else append(waiting, turn.content)
    } else if (last?.role === turn.role) append(last.content, turn.content)
    else {
      const instructions = turn.role === 'user' && waiting.length > 0 ? waiting : undefined
      if (instructions) waiting = []
      // The list is this function's to append to: copying it for each neighbour would take the square of their number.
      result.push({ ...turn, content: [...turn.content], ...(instructions ? { instructions } : {}) })
    }
  }
  if (waiting.length > 0) result.push({ role: 'user', content: [textBlock(goOn)], instructions: waiting })
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
    const asked = new Set(callIds(turns[index - 1]))
    if (turn.role === 'assistant') {
      result.push(turn)
      const next = turns[index + 1]
      if (callIds(turn).length > 0 && next === undefined) result.push({ role: 'user', content: missing(callIds(turn)) })
      continue
    }
    const blocks = turn.content.filter((block) => !isResult(block) || asked.has(String(block['tool_use_id'])))
    const answered = new Set(blocks.filter(isResult).map((block) => String(block['tool_use_id'])))
    const content = resultsFirst([...missing([...asked].filter((id) => !answered.has(id))), ...blocks])
    result.push({ ...turn, content: content.length > 0 ? content : [textBlock(filler)] })
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
function toMessages({ role, content, instructions }: Turn): Json[] {
  const [block] = content
  const plain = content.length === 1 && block?.['type'] === 'text' && block['cache_control'] === undefined
  const message = { role, content: plain ? block['text'] : content }
  return instructions ? [message, { role: 'system', content: instructions }] : [message]
}

/** Where the conversation begins: instructions before it are its prompt. All messages, where there is no conversation. */
function beginningOf(messages: readonly Message[]): number {
  const begin = messages.findIndex(({ role }) => role !== 'system')
  return begin < 0 ? messages.length : begin
}

/** The instructions that stand before all else; `laterInstructions`: those of mid-conversation stay there. */
export function systemTexts(messages: readonly Message[], laterInstructions = false): TextPart[] {
  const found = laterInstructions ? messages.slice(0, beginningOf(messages)) : messages
  return found.flatMap((message) =>
    message.role === 'system' ? message.content.filter((part) => part.text.trim() !== '') : [],
  )
}

/** The conversation as alternating turns that begin with the user, repaired where the caller's is not one. */
export function toClaudeMessages(
  messages: readonly Message[],
  {
    prefill,
    laterInstructions = false,
    remoteCalls = false,
  }: { prefill: boolean; laterInstructions?: boolean; remoteCalls?: boolean },
): Json[] {
  const turns = merged(turnsOf(messages, laterInstructions, remoteCalls))
  const first: Turn[] = turns[0]?.role === 'user' ? [] : [{ role: 'user', content: [textBlock(filler)] }]
  return withEnding(paired([...first, ...turns]), prefill).flatMap(toMessages)
}
