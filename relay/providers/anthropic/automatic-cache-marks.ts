import { type Json, listOf, recordOf, recordsOf } from '../shared/json.ts'

export type PromptParts = { tools: unknown; system: unknown; messages: unknown }

const mark = { type: 'ephemeral' }

const asBlocks = (content: unknown): unknown[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content)

/** With a mark on its last block; as it is where it has none. */
function markedLast(content: unknown): unknown {
  const blocks = asBlocks(content)
  const last = recordOf(blocks.at(-1))
  return last ? [...blocks.slice(0, -1), { ...last, cache_control: mark }] : content
}

const asciiPerToken = 4

/** About how many tokens a part of the prompt has, rather too many: a mark on too little is no mark, and costs nothing. */
function tokensOf(value: unknown): number {
  const text = JSON.stringify(value) ?? ''
  const bytes = Buffer.byteLength(text)
  return bytes === text.length ? text.length / asciiPerToken : text.length
}

const mostTurns = 2

/**
 * Marks for the vendor's cache, for callers whose dialect has no word for them: behind instructions (and the tools before
 * them), and behind the last two turns of the user, of which the earlier one is what the call before has written.
 */
export function withAutomaticMarks(parts: PromptParts, least: number): PromptParts {
  const tools = recordsOf(parts.tools)
  const messages = recordsOf(parts.messages)
  const head = tokensOf(tools) + tokensOf(parts.system)
  const system = parts.system !== undefined && head >= least ? markedLast(parts.system) : parts.system
  const marksTools = parts.system === undefined && tools.length > 0 && head >= least
  const turns = messages.flatMap((message, index) => (message['role'] === 'user' ? [index] : [])).slice(-mostTurns)
  let before = head
  const marked = messages.map((message, index): Json => {
    before += tokensOf(message['content'])
    return turns.includes(index) && before >= least ? { ...message, content: markedLast(message['content']) } : message
  })
  return { tools: marksTools ? markedLast(tools) : parts.tools, system, messages: marked }
}
