import { type Json, recordOf, textOf } from '../shared/json.ts'
import { placeInstructions } from '../shared/later-instructions.ts'
import { textBlock } from './blocks.ts'

const roleOf = (message: unknown): unknown => recordOf(message)?.['role']

/** "text content blocks must contain non-whitespace text": what says nothing is left out. */
function blocksOf(message: unknown): unknown[] {
  const content = recordOf(message)?.['content']
  const blocks: unknown[] = Array.isArray(content) ? content : [textBlock(textOf(content) ?? '')]
  return blocks.filter((block) => textOf(recordOf(block)?.['text'])?.trim() !== '')
}

const isInstruction = (message: unknown): boolean => roleOf(message) === 'system'

const form = {
  isInstruction,
  isUser: (message: unknown) => roleOf(message) === 'user',
  partsOf: blocksOf,
  userTurn: (blocks: readonly unknown[], before?: unknown): unknown =>
    before === undefined
      ? { role: 'user', content: blocks }
      : { ...recordOf(before), content: [...blocksOf(before), ...blocks] },
}

/** Conversations without any instructions of their own, or with nothing else, stay the very same object. */
export function joinLaterInstructions(body: Json): void {
  const messages: unknown = body['messages']
  if (!Array.isArray(messages) || !messages.some(isInstruction) || messages.every(isInstruction)) return
  const { prompt, turns } = placeInstructions<unknown, unknown>(messages, form)
  const instructions = prompt.flatMap(blocksOf)
  if (instructions.length > 0) body['system'] = [...blocksOf({ content: body['system'] }), ...instructions]
  body['messages'] = turns
}
