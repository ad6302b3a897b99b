import { DomainError } from '#core/errors.ts'
import { audioFormat } from '#relay/chat/media.ts'
import type {
  AssistantPart,
  FilePart,
  ImagePart,
  Message,
  ReasoningPart,
  TextPart,
  ToolCallPart,
  ToolResultPart,
  UserPart,
} from '#relay/chat/request.ts'
import { wrapInput } from '../shared/custom-tools.ts'
import { wantsSignatures } from '../gemini/models.ts'
import { unknownSignature } from '../gemini/proofs.ts'
import { type Json, withoutAbsent } from '../shared/json.ts'
import { asUrl, decodeText, documentName, isTextType, resolveSource } from '../shared/media.ts'
import { toReasoningDetails } from './reasoning.ts'
import type { OpenAiStyle } from './style.ts'

/** What the writer needs to know besides the messages. `losses` is filled with names of what is left out. */
export type Writing = {
  style: OpenAiStyle
  extendedTools: boolean
  systemRole: 'system' | 'developer' | 'user'
  model: string
  losses: Set<string>
}

export const toOpenAiMessages = (messages: readonly Message[], writing: Writing): Json[] =>
  messages.flatMap((message) => {
    if (message.role === 'system') return [systemMessage(message.content, writing)]
    return message.role === 'user' ? userMessages(message, writing) : [assistantMessage(message, writing)]
  })

function systemMessage(parts: readonly TextPart[], writing: Writing): Json {
  const marked = parts.some((part) => part.cacheControl !== undefined)
  const keepsMarks = marked && writing.style.carriesCacheControl === true
  if (marked && !keepsMarks) writing.losses.add('cache_control')
  return {
    role: writing.systemRole,
    content: keepsMarks ? parts.map((part) => textPart(part, writing)) : parts.map((part) => part.text).join('\n\n'),
  }
}

function textPart(part: TextPart, { style, losses }: Writing): Json {
  if (part.cacheControl && !style.carriesCacheControl) losses.add('cache_control')
  return withoutAbsent({
    type: 'text',
    text: part.text,
    cache_control: style.carriesCacheControl ? part.cacheControl : undefined,
  })
}

function userMessages(message: Extract<Message, { role: 'user' }>, writing: Writing): Json[] {
  const results = message.content.filter((part) => part.type === 'tool-result')
  const images = results.flatMap((result) => result.content.filter((part) => part.type !== 'text'))
  const own = message.content.filter((part) => part.type !== 'tool-result')
  const parts = [...images, ...own].flatMap((part) => userPart(part, writing))
  return [
    ...results.map((result) => toolMessage(result, writing)),
    ...(parts.length > 0 || results.length === 0
      ? [withoutAbsent({ role: 'user', content: contentOf(parts, writing), name: message.name })]
      : []),
  ]
}

/** One plain text stays text; everything else is a list, unless the vendor only reads text. */
function contentOf(parts: Json[], { style }: Writing): unknown {
  const plain = parts.every((part) => part['type'] === 'text' && part['cache_control'] === undefined)
  if (!plain) return parts
  if (parts.length <= 1) return parts[0]?.['text'] ?? ''
  return style.plainText ? parts.map((part) => part['text']).join('\n\n') : parts
}

function userPart(part: Exclude<UserPart, ToolResultPart>, writing: Writing): Json[] {
  switch (part.type) {
    case 'text':
      return [textPart(part, writing)]
    case 'image':
      return [imagePart(part, writing)]
    case 'audio': {
      const source = resolveSource(part.source)
      if (source.kind !== 'base64') throw new DomainError('unsupported.audio_address')
      const format = part.format ?? audioFormat(source.mediaType)
      return [{ type: 'input_audio', input_audio: { data: source.data, format } }]
    }
    case 'file':
      return [filePart(part)]
    case 'vendor':
      return part.dialect === 'openai-chat' ? [part.value as Json] : []
  }
}

function imagePart(part: ImagePart, { style, losses }: Writing): Json {
  const url = asUrl(resolveSource(part.source))
  if (url === undefined) throw new DomainError('unsupported.image_id')
  if (part.cacheControl && !style.carriesCacheControl) losses.add('cache_control')
  return withoutAbsent({
    type: 'image_url',
    image_url: withoutAbsent({ url, detail: part.detail }),
    cache_control: style.carriesCacheControl ? part.cacheControl : undefined,
  })
}

function filePart(part: FilePart): Json {
  const source = resolveSource(part.source)
  if (source.kind === 'file-id') {
    return { type: 'file', file: withoutAbsent({ file_id: source.id, filename: part.filename }) }
  }
  if (source.kind === 'url') throw new DomainError('unsupported.file_address')
  if (isTextType(source.mediaType)) {
    const text = decodeText(source.data)
    return { type: 'text', text: part.filename === undefined ? text : `${part.filename}\n\n${text}` }
  }
  // Vendors who look at videos have taken over one word for it; the original takes none.
  if (source.mediaType.startsWith('video/')) return { type: 'video_url', video_url: { url: asUrl(source) } }
  return { type: 'file', file: { filename: part.filename ?? documentName(source.mediaType), file_data: asUrl(source) } }
}

function toolMessage(result: ToolResultPart, writing: Writing): Json {
  if (result.cacheControl && !writing.style.carriesCacheControl) writing.losses.add('cache_control')
  const text = result.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
  return { role: 'tool', tool_call_id: result.callId, content: result.isError ? `Error: ${text}` : text }
}

/** Google's models: other servers may refuse a field that they do not know, and some have one of their own for it. */
const takesCallProofs = ({ style, model }: Writing): boolean =>
  model.includes('gemini') && style.carriesReasoning !== 'details'

/**
 * The proof of a call, where Google's own server of this form reads it: https://ai.google.dev/gemini-api/docs/thought-signatures. Without
 * one the first call of a step is refused.
 */
function proofOf(part: ToolCallPart, index: number, writing: Writing): Json {
  if (!takesCallProofs(writing)) {
    if (part.signature) writing.losses.add('thoughtSignature')
    return {}
  }
  const isWanted = index === 0 && wantsSignatures(writing.model.replace(/^.*\//, ''))
  const own = part.signature?.dialect === 'gemini' ? part.signature.value : undefined
  const signature = own ?? (isWanted ? unknownSignature : undefined)
  return signature === undefined ? {} : { extra_content: { google: { thought_signature: signature } } }
}

function toolCall(part: ToolCallPart, index: number, writing: Writing): Json {
  if (part.kind === 'custom' && writing.extendedTools) {
    return { id: part.id, type: 'custom', custom: { name: part.name, input: part.arguments } }
  }
  const text = part.kind === 'custom' ? wrapInput(part.arguments) : part.arguments
  const call = { name: part.name, arguments: text.trim() === '' ? '{}' : text }
  return { id: part.id, type: 'function', function: call, ...proofOf(part, index, writing) }
}

function reasoningFields(parts: readonly ReasoningPart[], { style, losses }: Writing): Json {
  if (parts.length === 0) return {}
  if (style.carriesReasoning === 'details') return { reasoning_details: toReasoningDetails(parts) }
  const text = parts.map((part) => part.text).join('')
  if (style.carriesReasoning === 'content' && text !== '') return { reasoning_content: text }
  losses.add('reasoning_content')
  return {}
}

function assistantMessage(message: Extract<Message, { role: 'assistant' }>, writing: Writing): Json {
  const of = <Type extends AssistantPart['type']>(type: Type): Extract<AssistantPart, { type: Type }>[] =>
    message.content.filter((part): part is Extract<AssistantPart, { type: Type }> => part.type === type)
  const calls = of('tool-call').map((part, index) => toolCall(part, index, writing))
  const text = of('text')
    .map((part) => part.text)
    .join('')
  const refusal = of('refusal')
    .map((part) => part.text)
    .join('')
  const spoken = of('audio').flatMap((part) => (part.source.kind === 'file-id' ? [{ id: part.source.id }] : []))
  if (of('image').length > 0) writing.losses.add('image')
  if (of('audio').length > spoken.length) writing.losses.add('audio')
  return withoutAbsent({
    role: 'assistant',
    content: text === '' && (calls.length > 0 || spoken.length > 0 || refusal !== '') ? null : text,
    name: message.name,
    ...reasoningFields(of('reasoning'), writing),
    refusal: refusal === '' ? undefined : refusal,
    audio: spoken[0],
    tool_calls: calls.length > 0 ? calls : undefined,
  })
}
