import { DomainError } from '#core/errors.ts'
import type {
  AssistantPart,
  CacheControl,
  FilePart,
  ImagePart,
  TextPart,
  ToolResultPart,
  UserPart,
} from '#relay/chat/request.ts'
import { remoteCallBlocks, completeBlocks } from '#relay/chat/hosted/claude-blocks.ts'
import { type Json, withoutAbsent } from '../shared/json.ts'
import { decodeText, isTextType, resolveSource } from '../shared/media.ts'
import { argumentsObject } from '../shared/tool-arguments.ts'
import { isUnprovenSearch } from './unproven-searches.ts'

/** Ids in the alphabet that calls and results must keep to; the same text always becomes the same id. */
export type CallIds = { call: (id: string) => string; result: (id: string) => string }

/** Nameless calls are numbered and their nameless results paired with them in order. */
export function createCallIds(): CallIds {
  const waiting: string[] = []
  let nameless = 0
  const clean = (id: string): string => id.replaceAll(/[^a-zA-Z0-9_-]/g, '_')
  return {
    call(id) {
      if (id !== '') return clean(id)
      nameless += 1
      waiting.push(`toolu_${nameless}`)
      return `toolu_${nameless}`
    },
    result: (id) => (id === '' ? (waiting.shift() ?? 'toolu_0') : clean(id)),
  }
}

const marked = (block: Json, cacheControl: CacheControl | undefined): Json =>
  cacheControl ? { ...block, cache_control: withoutAbsent(cacheControl) } : block

export const textBlock = (text: string, cacheControl?: CacheControl): Json =>
  marked({ type: 'text', text }, cacheControl)

function imageBlock(part: ImagePart): Json {
  const source = resolveSource(part.source)
  if (source.kind === 'url')
    return marked({ type: 'image', source: { type: 'url', url: source.url } }, part.cacheControl)
  if (source.kind === 'file-id') {
    return marked({ type: 'image', source: { type: 'file', file_id: source.id } }, part.cacheControl)
  }
  return marked(
    { type: 'image', source: { type: 'base64', media_type: source.mediaType, data: source.data } },
    part.cacheControl,
  )
}

function documentSource(part: FilePart): Json {
  const source = resolveSource(part.source)
  if (source.kind === 'url') return { type: 'url', url: source.url }
  if (source.kind === 'file-id') return { type: 'file', file_id: source.id }
  if (source.mediaType === 'application/pdf') {
    return { type: 'base64', media_type: 'application/pdf', data: source.data }
  }
  if (isTextType(source.mediaType)) return { type: 'text', media_type: 'text/plain', data: decodeText(source.data) }
  throw new DomainError('unsupported.file_type', { type: source.mediaType })
}

const documentBlock = (part: FilePart): Json =>
  marked(withoutAbsent({ type: 'document', source: documentSource(part), title: part.filename }), part.cacheControl)

const isText = (part: UserPart): part is TextPart => part.type === 'text'

/** "text content blocks must contain non-whitespace text": what says nothing is left out. */
const textBlocks = (text: string, cacheControl?: CacheControl): Json[] =>
  text.trim() === '' ? [] : [textBlock(text, cacheControl)]

/** One plain text stays text, because some vendors of this dialect read nothing else there. */
function resultContent(parts: ToolResultPart['content']): unknown {
  const [first] = parts
  if (!first) return ''
  if (parts.length === 1 && first.type === 'text' && !first.cacheControl) return first.text
  return parts.flatMap((part) => {
    if (part.type === 'text') return part.text === '' ? [] : [textBlock(part.text, part.cacheControl)]
    return [part.type === 'image' ? imageBlock(part) : documentBlock(part)]
  })
}

export function userBlocks(part: UserPart, ids: CallIds): Json[] {
  switch (part.type) {
    case 'text':
      return textBlocks(part.text, part.cacheControl)
    case 'image':
      return [imageBlock(part)]
    case 'file':
      return [documentBlock(part)]
    case 'audio':
      throw new DomainError('unsupported.audio')
    case 'tool-result': {
      const result = (content: ToolResultPart['content']): Json => ({
        type: 'tool_result',
        tool_use_id: ids.result(part.callId),
        content: resultContent(content),
      })
      if (part.isError !== true) return [marked(result(part.content), part.cacheControl)]
      // "all content must be type `text` if `is_error` is true": media of a failure stand behind the results.
      const failed = marked({ ...result(part.content.filter(isText)), is_error: true }, part.cacheControl)
      return [failed, ...part.content.filter((inner) => !isText(inner)).flatMap((inner) => userBlocks(inner, ids))]
    }
    case 'vendor':
      return part.dialect === 'claude' ? [part.value as Json] : []
  }
}

export function assistantBlocks(part: AssistantPart, ids: CallIds, remoteCalls: boolean): Json[] {
  switch (part.type) {
    case 'text':
      return textBlocks(part.text, part.cacheControl)
    case 'refusal':
      return textBlocks(part.text)
    case 'reasoning':
      if (part.encrypted?.dialect === 'claude') return [{ type: 'redacted_thinking', data: part.encrypted.data }]
      if (part.signature?.dialect !== 'claude') return []
      return [{ type: 'thinking', thinking: part.text, signature: part.signature.value }]
    case 'tool-call': {
      const input = part.kind === 'custom' ? { input: part.arguments } : argumentsObject(part.arguments)
      return [marked({ type: 'tool_use', id: ids.call(part.id), name: part.name, input }, part.cacheControl)]
    }
    case 'image':
      return []
    case 'audio':
      return []
    case 'web-search':
      return part.own.dialect === 'claude' && !isUnprovenSearch(part.own.value[1]) ? part.own.value : []
    case 'mcp-call':
      if (part.own.dialect === 'claude') return part.own.value
      return remoteCalls ? completeBlocks(remoteCallBlocks(part.call)) : []
    case 'vendor':
      return part.dialect === 'claude' ? [part.value as Json] : []
  }
}
