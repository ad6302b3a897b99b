import { type Json, recordOf, textOf } from '../shared/json.ts'
import { textBlock } from './blocks.ts'

const roleOf = (message: unknown): unknown => recordOf(message)?.['role']

/** "text content blocks must contain non-whitespace text": what says nothing is left out. */
function blocksOf(message: unknown): unknown[] {
  const content = recordOf(message)?.['content']
  const blocks: unknown[] = Array.isArray(content) ? content : [textBlock(textOf(content) ?? '')]
  return blocks.filter((block) => textOf(recordOf(block)?.['text'])?.trim() !== '')
}

const withBlocks = (message: unknown, more: readonly unknown[]): Json => ({
  ...recordOf(message),
  content: [...blocksOf(message), ...more],
})

/** The same, behind what the caller says to the model at the top. */
const joined = (system: unknown, more: readonly unknown[]): unknown[] => [...blocksOf({ content: system }), ...more]

/**
 * Instructions in mid-conversation, for models that take none there: they join the user's turn before them, or else the next one. Moved to the
 * top, each new one would change the beginning of the conversation, and nothing of it would be found in the vendor's cache any
 * more. Those before the conversation are its prompt. Conversations without any stay the very same object.
 */
export function joinLaterInstructions(body: Json): void {
  const messages: unknown = body['messages']
  if (!Array.isArray(messages) || !messages.some((message) => roleOf(message) === 'system')) return
  const begin = messages.findIndex((message) => roleOf(message) !== 'system')
  if (begin < 0) return
  const prompt = messages.slice(0, begin).flatMap(blocksOf)
  const turns: unknown[] = []
  let waiting: unknown[] = []
  for (const message of messages.slice(begin)) {
    const isUser = roleOf(message) === 'user'
    if (roleOf(message) !== 'system') {
      turns.push(isUser && waiting.length > 0 ? withBlocks(message, waiting) : message)
      if (isUser) waiting = []
    } else if (roleOf(turns.at(-1)) === 'user') turns.push(withBlocks(turns.pop(), blocksOf(message)))
    else waiting = [...waiting, ...blocksOf(message)]
  }
  if (waiting.length > 0) turns.push({ role: 'user', content: waiting })
  if (prompt.length > 0) body['system'] = joined(body['system'], prompt)
  body['messages'] = turns
}
