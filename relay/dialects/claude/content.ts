import type { Effort } from '#core/models/parameters.ts'
import { isToolChange } from '#relay/chat/hosted/claude-tool-changes.ts'
import { type Fields, isObject } from '#relay/chat/json.ts'
import type {
  AssistantPart,
  FilePart,
  ImagePart,
  MediaSource,
  NativeOnlyPart,
  TextPart,
  ToolResultPart,
  UserPart,
} from '#relay/chat/request.ts'
import { type Reader, defined, readCacheControl } from '../read.ts'
import { readHostedCalls } from '#relay/chat/hosted/claude-blocks.ts'

/** What reading a conversation remembers from block to block. */
export type Conversation = {
  read: Reader
  /** Names of the tools that were called, by call id. */
  names: Map<string, string>
  losses: Set<string>
  /** As in `ChatRequest`. */
  nativeOnly: NativeOnlyPart[]
  /** Tools that instructions add or remove. */
  toolChanges: Fields[]
  /** The effort that the last instruction asks for. */
  effort?: Effort
}

type Block = { block: Fields; path: string }

function readBlocks(content: unknown, path: string, read: Reader): Block[] {
  if (typeof content === 'string') return content === '' ? [] : [{ block: { type: 'text', text: content }, path }]
  return (read.list(content, path) ?? []).map((block, index) => {
    if (!isObject(block)) throw read.invalid(`${path}[${index}]`)
    return { block, path: `${path}[${index}]` }
  })
}

/** Texts of a system prompt or a system message. */
export function readTexts(content: unknown, path: string, conversation: Conversation): TextPart[] {
  return readBlocks(content, path, conversation.read).flatMap((at) => {
    if (at.block['type'] === 'text') return readText(at, conversation)
    if (isToolChange(at.block)) conversation.toolChanges.push(at.block)
    else conversation.losses.add('system.content')
    return []
  })
}

function readText({ block, path }: Block, { read, losses }: Conversation): TextPart[] {
  if (Array.isArray(block['citations']) && block['citations'].length > 0) losses.add('citations')
  const text = read.text(block['text'], `${path}.text`)
  if (text === undefined) throw read.required(`${path}.text`)
  if (text === '') return []
  return [defined({ type: 'text', text, cacheControl: readCacheControl(block['cache_control']) })]
}

/** Blocks of a user message; tool results move to the front, where the next turn looks for them. */
export function readUserBlocks(content: unknown, path: string, conversation: Conversation): UserPart[] {
  const parts = readBlocks(content, path, conversation.read).flatMap((at): UserPart[] =>
    at.block['type'] === 'tool_result' ? [readToolResult(at, conversation)] : readShared(at, conversation),
  )
  const isResult = (part: UserPart) => part.type === 'tool-result'
  return [...parts.filter(isResult), ...parts.filter((part) => !isResult(part))]
}

type SharedPart = TextPart | ImagePart | FilePart | { type: 'vendor'; dialect: 'claude'; value: unknown }

function readShared(at: Block, conversation: Conversation): SharedPart[] {
  switch (at.block['type']) {
    case 'text':
      return readText(at, conversation)
    case 'image':
      return [readImage(at, conversation)]
    case 'document':
      return readDocument(at, conversation)
    case 'search_result':
      return readSearchResult(at, conversation)
    case undefined:
      throw conversation.read.required(`${at.path}.type`)
    default:
      return [{ type: 'vendor', dialect: 'claude', value: at.block }]
  }
}

function readSource({ block, path }: Block, read: Reader): { source: MediaSource; fields: Fields } {
  const fields = read.object(block['source'], `${path}.source`)
  if (fields === undefined) throw read.required(`${path}.source`)
  const mediaType = read.text(fields['media_type'], `${path}.source.media_type`)
  switch (fields['type']) {
    case 'base64': {
      const data = read.name(fields['data'], `${path}.source.data`)
      return { source: { kind: 'base64', mediaType: mediaType ?? 'application/octet-stream', data }, fields }
    }
    case 'url':
      return { source: { kind: 'url', url: read.name(fields['url'], `${path}.source.url`) }, fields }
    case 'file':
      return { source: { kind: 'file-id', id: read.name(fields['file_id'], `${path}.source.file_id`) }, fields }
    default:
      throw read.invalid(`${path}.source.type`)
  }
}

function readImage(at: Block, { read, losses }: Conversation): ImagePart {
  const { source } = readSource(at, read)
  if (at.block['transformations'] !== undefined) losses.add('image.transformations')
  return defined({ type: 'image', source, cacheControl: readCacheControl(at.block['cache_control']) })
}

/** Text documents become text: few upstreams take files that are not PDF. */
function readDocument(at: Block, conversation: Conversation): (TextPart | ImagePart | FilePart)[] {
  const { read, losses, nativeOnly } = conversation
  const { block, path } = at
  const title = read.text(block['title'], `${path}.title`) || undefined
  const cacheControl = readCacheControl(block['cache_control'])
  if (isObject(block['citations']) && block['citations']['enabled'] === true) losses.add('citations')
  if (typeof block['context'] === 'string' && block['context'] !== '') {
    losses.add('document.context')
    nativeOnly.push({ type: 'text', text: block['context'] })
  }
  const source = read.object(block['source'], `${path}.source`) ?? {}
  if (source['type'] === 'text') {
    const data = read.text(source['data'], `${path}.source.data`) ?? ''
    return [defined({ type: 'text', text: title === undefined ? data : `${title}\n\n${data}`, cacheControl })]
  }
  if (source['type'] === 'content') {
    const heading: TextPart[] = title === undefined ? [] : [{ type: 'text', text: title }]
    return [...heading, ...readResultContent(source['content'], `${path}.source.content`, conversation)]
  }
  const file = readSource(at, read).source
  const typed: MediaSource = file.kind === 'url' ? { ...file, mediaType: 'application/pdf' } : file
  return [defined({ type: 'file', source: typed, filename: title, cacheControl })]
}

function readSearchResult({ block, path }: Block, conversation: Conversation): TextPart[] {
  const { read } = conversation
  conversation.losses.add('search_result')
  const lines = [read.text(block['title'], `${path}.title`), read.text(block['source'], `${path}.source`)]
  const texts = readTexts(block['content'], `${path}.content`, conversation).map((part) => part.text)
  const text = [...lines, ...texts].filter(Boolean).join('\n')
  return text === '' ? [] : [defined({ type: 'text', text, cacheControl: readCacheControl(block['cache_control']) })]
}

function readResultContent(content: unknown, path: string, conversation: Conversation): ToolResultPart['content'] {
  return readBlocks(content, path, conversation.read).flatMap((at) =>
    readShared(at, conversation).flatMap((part) => {
      if (part.type !== 'vendor') return [part]
      // What a search for tools found stands among the tools; the model reads which of them it was.
      const found =
        isObject(part.value) && part.value['type'] === 'tool_reference' ? part.value['tool_name'] : undefined
      if (typeof found === 'string') return [{ type: 'text' as const, text: found }]
      conversation.losses.add('tool_result.content')
      return []
    }),
  )
}

function readToolResult({ block, path }: Block, conversation: Conversation): ToolResultPart {
  const { read, names } = conversation
  const callId = read.name(block['tool_use_id'], `${path}.tool_use_id`)
  return defined({
    type: 'tool-result',
    callId,
    name: names.get(callId),
    content: readResultContent(block['content'], `${path}.content`, conversation),
    isError: read.flag(block['is_error'], `${path}.is_error`),
    cacheControl: readCacheControl(block['cache_control']),
  })
}

/** Blocks of an assistant message, thinking and calls included. */
export function readAssistantBlocks(content: unknown, path: string, conversation: Conversation): AssistantPart[] {
  const blocks = readBlocks(content, path, conversation.read)
  const hosted = readHostedCalls(blocks.map(({ block }) => block))
  return blocks.flatMap((at): AssistantPart[] => {
    const { read } = conversation
    const { block } = at
    const made = hosted.get(block)
    if (made !== undefined) return made === 'its result' ? [] : [made]
    switch (block['type']) {
      case 'thinking': {
        const text = read.text(block['thinking'], `${at.path}.thinking`) ?? ''
        const value = read.text(block['signature'], `${at.path}.signature`) ?? ''
        const signature = value === '' ? undefined : { dialect: 'claude' as const, value }
        return [defined({ type: 'reasoning', text, signature })]
      }
      case 'redacted_thinking': {
        const data = read.text(block['data'], `${at.path}.data`) ?? ''
        return [{ type: 'reasoning', text: '', encrypted: { dialect: 'claude', data } }]
      }
      case 'tool_use':
        return [readToolUse(at, conversation)]
      case 'document':
        return [{ type: 'vendor', dialect: 'claude', value: block }]
      default:
        return readShared(at, conversation).filter((part) => part.type !== 'file')
    }
  })
}

function readToolUse({ block, path }: Block, { read, names, losses }: Conversation): AssistantPart {
  const id = read.name(block['id'], `${path}.id`)
  const name = read.name(block['name'], `${path}.name`)
  const input = read.object(block['input'], `${path}.input`) ?? {}
  names.set(id, name)
  // Who called: the model itself, which is what a call means everywhere, or code that the vendor ran.
  if (isObject(block['caller']) && block['caller']['type'] !== 'direct') losses.add('tool_use.caller')
  const cacheControl = readCacheControl(block['cache_control'])
  return defined({ type: 'tool-call', id, name, arguments: JSON.stringify(input), cacheControl })
}
