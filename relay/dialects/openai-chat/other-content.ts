import { type Fields, isObject } from '#relay/chat/json.ts'
import { defined, unreadNames } from '../read.ts'

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : value === null ? [] : [value])

/** Content of responses and of messages in the parts of a chat completion. */
export function toContent(content: unknown): unknown {
  return Array.isArray(content) ? toParts(content) : (content ?? null)
}

export const toParts = (parts: unknown[]): unknown[] => parts.map((part) => (isObject(part) ? toPart(part) : part))

function toPart(part: Fields): Fields {
  switch (part['type']) {
    case 'input_text':
    case 'output_text':
      return { type: 'text', text: part['text'] }
    case 'input_image': {
      const { image_url: url, detail } = part
      return { type: 'image_url', image_url: defined({ url, detail: detail === 'original' ? 'high' : detail }) }
    }
    case 'input_file': {
      const { file_id, filename, file_data } = part
      return { type: 'file', file: defined({ file_id, filename, file_data }) }
    }
    case 'image':
      return defined({
        type: 'image_url',
        image_url: { url: addressOf(part['source']) },
        cache_control: part['cache_control'],
      })
    default:
      return part
  }
}

function addressOf(source: unknown): unknown {
  if (!isObject(source)) return undefined
  const { type, media_type: mediaType, data, url } = source
  if (type !== 'base64') return url
  return typeof mediaType === 'string' && typeof data === 'string' ? `data:${mediaType};base64,${data}` : undefined
}

/** What follows what the model said in the same turn. */
export function joinContent(turn: Fields, more: unknown): void {
  const earlier = turn['content']
  const texts = listOf(more)
  if (texts.every(isPlainText) && !Array.isArray(earlier))
    turn['content'] = [...(typeof earlier === 'string' ? [earlier] : []), ...texts.map(textOf)].join('')
  else if (Array.isArray(earlier)) for (const part of texts) earlier.push(asPart(part))
  else turn['content'] = [...(earlier === null ? [] : [asPart(earlier)]), ...texts.map(asPart)]
}

type PlainText = string | { text: string; cache_control?: unknown }

const isPlainText = (part: unknown): part is PlainText =>
  typeof part === 'string' || (isObject(part) && part['type'] === 'text' && typeof part['text'] === 'string')
const textOf = (part: PlainText): string => (typeof part === 'string' ? part : part.text)
const asPart = (part: unknown): unknown => (typeof part === 'string' ? { type: 'text', text: part } : part)

const media: ReadonlySet<unknown> = new Set(['image_url', 'input_audio', 'file'])
const isMedia = (part: unknown): boolean => isObject(part) && media.has(part['type'])

/** What a tool says, and what it shows, which vendors take in messages of users alone. */
export function toOutput(given: unknown): { content: unknown; shown: unknown[] } {
  const content = toContent(given)
  if (!Array.isArray(content)) return { content, shown: [] }
  const words = content.filter((part) => !isMedia(part))
  return { content: words.length === 0 ? '' : words, shown: content.filter(isMedia) }
}

/** A `tool_result` as the message of a tool, and what it shows; its marker stands at its text, for messages have none. */
export function toResult(result: Fields, losses: Set<string>): { message: Fields; shown: unknown[] } {
  const { tool_use_id: id, content: given, is_error: failed, cache_control: own } = result
  const { content: words, shown } = toOutput(given ?? '')
  const parts = listOf(words)
  const message = (content: unknown) => ({ message: { role: 'tool', tool_call_id: id, content }, shown })
  if (!parts.every(isPlainText)) {
    for (const name of unreadNames(result, unmarked, 'tool_result')) losses.add(name)
    return message(parts.map(asPart))
  }
  const text = `${failed === true ? 'Error: ' : ''}${parts.map(textOf).join('\n')}`
  const markers = [...parts.map((part) => (typeof part === 'string' ? undefined : part.cache_control)), own]
  const marker = markers.findLast((each) => (each ?? undefined) !== undefined)
  if (marker === undefined) return message(text)
  // A text of nothing can carry none.
  if (text === '') losses.add('cache_control')
  return message(text === '' ? text : [{ type: 'text', text, cache_control: marker }])
}

const unmarked = new Set(['type', 'tool_use_id', 'content'])
