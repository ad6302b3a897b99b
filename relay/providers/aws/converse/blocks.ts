import { DomainError } from '#core/errors.ts'
import { type Json, recordOf, recordsOf, textOf, withoutAbsent, wordOf } from '../../shared/json.ts'

const imageFormats: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpeg',
  'image/gif': 'gif',
  'image/webp': 'webp',
}

function imageBlock(block: Json): Json {
  const source = recordOf(block['source']) ?? {}
  const format = imageFormats[String(source['media_type'])]
  if (format === undefined) throw new DomainError('unsupported.image_type', { type: String(source['media_type']) })
  return { image: { format, source: { bytes: source['data'] } } }
}

/** Names of documents may hold letters, digits, blanks, hyphens and brackets only. */
const documentName = (title: unknown): string =>
  (textOf(title) ?? '')
    .replaceAll(/[^a-zA-Z0-9\s\-()[\]]/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim() || 'document'

function documentBlock(block: Json): Json {
  const source = recordOf(block['source']) ?? {}
  const data = textOf(source['data'])
  if (data === undefined) throw new DomainError('unsupported.file_address')
  const isText = source['type'] === 'text'
  const bytes = isText ? Buffer.from(data).toString('base64') : data
  return { document: { format: isText ? 'txt' : 'pdf', name: documentName(block['title']), source: { bytes } } }
}

const resultPart = (part: Json): Json => {
  if (part['type'] === 'image') return imageBlock(part)
  return part['type'] === 'document' ? documentBlock(part) : { text: part['text'] }
}

function resultBlock(block: Json): Json {
  const { content } = block
  const parts = typeof content === 'string' ? [{ text: content }] : recordsOf(content).map(resultPart)
  return {
    toolResult: withoutAbsent({
      toolUseId: block['tool_use_id'],
      // A result without any part is refused.
      content: parts.length > 0 ? parts : [{ text: '' }],
      status: block['is_error'] === true ? 'error' : undefined,
    }),
  }
}

function reasoningBlock(block: Json): Json {
  if (block['type'] === 'redacted_thinking') return { reasoningContent: { redactedContent: block['data'] } }
  return { reasoningContent: { reasoningText: { text: block['thinking'], signature: block['signature'] } } }
}

function contentOf(block: Json): Json | undefined {
  switch (block['type']) {
    case 'text':
      return { text: block['text'] }
    case 'image':
      return imageBlock(block)
    case 'document':
      return documentBlock(block)
    case 'tool_use':
      return { toolUse: { toolUseId: block['id'], name: block['name'], input: block['input'] } }
    case 'tool_result':
      return resultBlock(block)
    case 'thinking':
    case 'redacted_thinking':
      return reasoningBlock(block)
    default:
      return undefined
  }
}

export const cachePoint = (mark: unknown): Json => ({
  cachePoint: withoutAbsent({ type: 'default', ttl: wordOf(recordOf(mark)?.['ttl']) }),
})

/** A block of the messages dialect in this form; a cache mark on it becomes a point behind it, where the model has a cache. */
function toConverseBlocks(block: Json, caches: boolean): Json[] {
  const content = contentOf(block)
  if (!content) return []
  return caches && block['cache_control'] ? [content, cachePoint(block['cache_control'])] : [content]
}

/** A message of the messages dialect in this form. */
export function toConverseMessage(message: Json, caches: boolean): Json {
  const { content } = message
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : recordsOf(content)
  return { role: message['role'], content: blocks.flatMap((block) => toConverseBlocks(block, caches)) }
}
