import { DomainError } from '#core/errors.ts'
import { type Json, recordOf, recordsOf, textOf, withoutAbsent } from '../../shared/json.ts'

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

/** What a conversation's messages share: whether the model has a cache, and the names of documents that are taken. */
type Writing = { caches: boolean; names: Set<string> }

const longestName = 200

/**
 * Names of documents may hold letters, digits, blanks, hyphens and brackets only, and each stands for one document of the conversation:
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_DocumentBlock.html
 */
function documentName(title: unknown, { names }: Writing): string {
  const wanted =
    (textOf(title) ?? '')
      .replaceAll(/[^a-zA-Z0-9\s\-()[\]]/g, ' ')
      .replaceAll(/\s+/g, ' ')
      .trim() || 'document'
  let name = wanted.slice(0, longestName)
  for (let count = 2; names.has(name.toLowerCase()); count += 1) {
    const ending = ` ${count}`
    name = wanted.slice(0, longestName - ending.length) + ending
  }
  names.add(name.toLowerCase())
  return name
}

function documentBlock(block: Json, writing: Writing): Json {
  const source = recordOf(block['source']) ?? {}
  const data = textOf(source['data'])
  if (data === undefined) throw new DomainError('unsupported.file_address')
  const isText = source['type'] === 'text'
  const bytes = isText ? Buffer.from(data).toString('base64') : data
  return {
    document: { format: isText ? 'txt' : 'pdf', name: documentName(block['title'], writing), source: { bytes } },
  }
}

const resultPart = (part: Json, writing: Writing): Json => {
  if (part['type'] === 'image') return imageBlock(part)
  return part['type'] === 'document' ? documentBlock(part, writing) : { text: part['text'] }
}

function resultBlock(block: Json, writing: Writing): Json {
  const { content } = block
  const parts =
    typeof content === 'string' ? [{ text: content }] : recordsOf(content).map((part) => resultPart(part, writing))
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

function contentOf(block: Json, writing: Writing): Json | undefined {
  switch (block['type']) {
    case 'text':
      return { text: block['text'] }
    case 'image':
      return imageBlock(block)
    case 'document':
      return documentBlock(block, writing)
    case 'tool_use':
      return { toolUse: { toolUseId: block['id'], name: block['name'], input: block['input'] } }
    case 'tool_result':
      return resultBlock(block, writing)
    case 'thinking':
    case 'redacted_thinking':
      return reasoningBlock(block)
    default:
      return undefined
  }
}

/** "Extended TTL prompt caching is only supported for Anthropic models", which are called in another form. */
export const cachePoint: Json = { cachePoint: { type: 'default' } }

/** A block of the messages dialect in this form; a cache mark on it becomes a point behind it, where the model has a cache. */
function toConverseBlocks(block: Json, writing: Writing): Json[] {
  const content = contentOf(block, writing)
  if (!content) return []
  return writing.caches && block['cache_control'] ? [content, cachePoint] : [content]
}

/** Messages of the messages dialect in this form. */
export function toConverseMessages(messages: readonly Json[], caches: boolean): Json[] {
  const writing: Writing = { caches, names: new Set() }
  return messages.map(({ role, content }) => {
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : recordsOf(content)
    return { role, content: blocks.flatMap((block) => toConverseBlocks(block, writing)) }
  })
}
