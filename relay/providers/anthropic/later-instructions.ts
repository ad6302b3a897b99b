import { changedTools, isToolChange } from '#relay/chat/hosted/claude-tool-changes.ts'
import { type Json, listOf, recordOf, recordsOf, textOf } from '../shared/json.ts'
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

/** What an instruction says in words. */
const wordsOf = (message: unknown): unknown[] =>
  blocksOf(message).filter((block) => !isToolChange(recordOf(block) ?? {}))

const form = {
  isInstruction,
  isUser: (message: unknown) => roleOf(message) === 'user',
  partsOf: wordsOf,
  userTurn: (blocks: readonly unknown[], before?: unknown): unknown =>
    before === undefined
      ? { role: 'user', content: blocks }
      : { ...recordOf(before), content: [...blocksOf(before), ...blocks] },
}

/** The tools as the conversation has changed them. */
function changeTools(body: Json, instructions: readonly unknown[]): string[] {
  const changes = instructions.flatMap((message) => recordsOf(recordOf(message)?.['content']).filter(isToolChange))
  if (changes.length === 0) return []
  const { tools, losses } = changedTools(listOf(body['tools']), changes)
  if (tools.length > 0) body['tools'] = tools
  else for (const name of ['tools', 'tool_choice']) delete body[name]
  return losses
}

/** The effort that the last of them asks for becomes that of the answer. */
function applyEffort(body: Json, instructions: readonly unknown[], takesEffort: boolean): string[] {
  const losses: string[] = []
  for (const message of instructions) {
    for (const [name, value] of Object.entries(recordOf(recordOf(message)?.['output_config']) ?? {})) {
      if (value === null) continue
      if (name === 'effort' && takesEffort)
        body['output_config'] = { ...recordOf(body['output_config']), effort: value }
      else losses.push(`messages.output_config.${name}`)
    }
  }
  return losses
}

/**
 * Names what no place was found for. Conversations without any instructions of their own, or with nothing else, stay the
 * very same object.
 */
export function joinLaterInstructions(body: Json, { takesEffort }: { takesEffort: boolean }): string[] {
  const messages: unknown = body['messages']
  if (!Array.isArray(messages) || !messages.some(isInstruction) || messages.every(isInstruction)) return []
  const { prompt, turns } = placeInstructions<unknown, unknown>(messages, form)
  const words = prompt.flatMap(wordsOf)
  if (words.length > 0) body['system'] = [...blocksOf({ content: body['system'] }), ...words]
  body['messages'] = turns
  const instructions = messages.filter(isInstruction)
  return [...new Set([...changeTools(body, instructions), ...applyEffort(body, instructions, takesEffort)])]
}
