import { type Fields, isObject } from '#relay/chat/json.ts'
import { defined } from '../read.ts'

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : value === null ? [] : [value])

/** Content of responses and of messages in the parts of a chat completion. */
export function toContent(content: unknown): unknown {
  if (!Array.isArray(content)) return content ?? null
  return content.map((part: unknown) => (isObject(part) ? toPart(part) : part))
}

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
      return { type: 'image_url', image_url: { url: addressOf(part['source']) } }
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

type PlainText = string | { text: string }

const isPlainText = (part: unknown): part is PlainText =>
  typeof part === 'string' || (isObject(part) && part['type'] === 'text' && typeof part['text'] === 'string')
const textOf = (part: PlainText): string => (typeof part === 'string' ? part : part.text)
const asPart = (part: unknown): unknown => (typeof part === 'string' ? { type: 'text', text: part } : part)

/** A `tool_result` as the message of a tool; its marker stands at its text, for messages have none. */
export function toResult({ tool_use_id: id, content, is_error: failed, cache_control: marker }: Fields): Fields {
  const parts = listOf(toContent(content ?? ''))
  if (!parts.every(isPlainText)) return { role: 'tool', tool_call_id: id, content: parts.map(asPart) }
  const text = `${failed === true ? 'Error: ' : ''}${parts.map(textOf).join('\n')}`
  const marked = marker === undefined ? text : [{ type: 'text', text, cache_control: marker }]
  return { role: 'tool', tool_call_id: id, content: marked }
}
