import type { Ambient } from '#core/ambient.ts'
import { type Fields, isObject } from '#relay/chat/json.ts'
import { readerFor } from '../read.ts'
import { readInput } from './items.ts'

const read = readerFor('invalid_responses_request')

/** The most that may be added at once. */
const mostAtOnce = 20
const longestId = 128

const prefixes = new Map([
  ['message', 'msg'],
  ['reasoning', 'rs'],
  ['function_call', 'fc'],
  ['custom_tool_call', 'ctc'],
  ['compaction', 'cmp'],
])

const isId = (value: unknown): value is string => typeof value === 'string' && value !== '' && value.length <= longestId

/** An item as it is kept: with an id, and its content as a list. */
export function asConversationItem(item: Fields, ambient: Ambient): Fields & { id: string } {
  const type = typeof item['type'] === 'string' ? item['type'] : 'message'
  const id = isId(item['id']) ? item['id'] : `${prefixes.get(type) ?? 'item'}_${ambient.newId(24)}`
  if (type !== 'message') return { ...item, id }
  const { content } = item
  const part =
    item['role'] === 'assistant'
      ? { type: 'output_text', text: content, annotations: [] }
      : { type: 'input_text', text: content }
  return { status: 'completed', ...item, type, id, content: typeof content === 'string' ? [part] : content }
}

/**
 * Items that a caller adds to a conversation.
 * @throws {InvalidRequest} for what could stand in no call.
 */
export function readConversationItems(value: unknown, ambient: Ambient): (Fields & { id: string })[] {
  const items = read.list(value, 'items') ?? []
  if (items.length > mostAtOnce) throw read.invalid('items')
  return items.map((item, index) => {
    const isReference =
      isObject(item) && item['role'] === undefined && (item['type'] ?? 'item_reference') === 'item_reference'
    if (!isObject(item) || isReference) throw read.invalid(`items[${index}]`)
    readInput([item], read)
    return asConversationItem(item, ambient)
  })
}

const mostPairs = 16
const longestKey = 64
const longestValue = 512

/** @throws {InvalidRequest} for more or longer pairs than are documented. */
export function readMetadata(value: unknown): Record<string, string> {
  const pairs = Object.entries(read.object(value, 'metadata') ?? {})
  if (pairs.length > mostPairs) throw read.invalid('metadata')
  return Object.fromEntries(
    pairs.map(([key, text]) => {
      if (key.length > longestKey || typeof text !== 'string' || text.length > longestValue)
        throw read.invalid(`metadata.${key.slice(0, longestKey)}`)
      return [key, text] as const
    }),
  )
}
