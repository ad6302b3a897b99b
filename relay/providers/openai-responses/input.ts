import { DomainError } from '#core/errors.ts'
import type {
  AssistantPart,
  FilePart,
  ImagePart,
  Message,
  ToolCallPart,
  ToolResultPart,
  UserPart,
} from '#relay/chat/request.ts'
import type { McpCall } from '#relay/chat/hosted/types.ts'
import { remoteCallItem, searchItem } from '#relay/chat/hosted/response-items.ts'
import { type Json, withoutAbsent } from '../shared/json.ts'
import { asUrl, documentName, resolveSource } from '../shared/media.ts'

function imagePart(part: ImagePart): Json {
  const source = resolveSource(part.source)
  if (source.kind === 'file-id') return withoutAbsent({ type: 'input_image', file_id: source.id, detail: part.detail })
  return withoutAbsent({ type: 'input_image', image_url: asUrl(source), detail: part.detail })
}

function filePart(part: FilePart): Json {
  const source = resolveSource(part.source)
  if (source.kind === 'file-id') return { type: 'input_file', file_id: source.id }
  if (source.kind === 'url') return { type: 'input_file', file_url: source.url }
  if (source.mediaType.startsWith('video/')) throw new DomainError('unsupported.video')
  return { type: 'input_file', filename: part.filename ?? documentName(source.mediaType), file_data: asUrl(source) }
}

function userPart(part: Exclude<UserPart, ToolResultPart>): Json[] {
  switch (part.type) {
    case 'text':
      return [{ type: 'input_text', text: part.text }]
    case 'image':
      return [imagePart(part)]
    case 'file':
      return [filePart(part)]
    case 'audio':
      throw new DomainError('unsupported.audio')
    case 'vendor':
      return part.dialect === 'openai-responses' ? [part.value as Json] : []
  }
}

function outputItem(result: ToolResultPart, custom: ReadonlySet<string>): Json {
  const texts = result.content.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  const plain = result.content.every((part) => part.type === 'text')
  const text = texts.join('\n')
  const failed = result.isError === true
  const parts = [...(failed ? [{ type: 'input_text', text: 'Error:' }] : []), ...result.content.flatMap(userPart)]
  return {
    type: custom.has(result.callId) ? 'custom_tool_call_output' : 'function_call_output',
    call_id: result.callId,
    output: plain ? (failed ? `Error: ${text}` : text) : parts,
  }
}

function callItem(part: ToolCallPart, custom: Set<string>): Json {
  if (part.kind === 'custom') {
    custom.add(part.id)
    return { type: 'custom_tool_call', call_id: part.id, name: part.name, input: part.arguments }
  }
  const text = part.arguments.trim() === '' ? '{}' : part.arguments
  return { type: 'function_call', call_id: part.id, name: part.name, arguments: text }
}

/** As `status` stands in answers only where the call was made in this form. */
function remoteCallInput(call: McpCall): Json {
  const { approval_request_id: _, status: __, ...item } = remoteCallItem(call)
  return item
}

function assistantItem(part: AssistantPart, custom: Set<string>): Json[] {
  const messageOf = (content: Json): Json[] => [{ type: 'message', role: 'assistant', content: [content] }]
  switch (part.type) {
    case 'text':
      return part.text === '' ? [] : messageOf({ type: 'output_text', text: part.text, annotations: [] })
    case 'refusal':
      return part.text === '' ? [] : messageOf({ type: 'refusal', refusal: part.text })
    case 'reasoning': {
      if (part.encrypted?.dialect !== 'openai-responses') return []
      const summary = part.text === '' ? [] : [{ type: 'summary_text', text: part.text }]
      return [{ type: 'reasoning', summary, encrypted_content: part.encrypted.data }]
    }
    case 'tool-call':
      return [callItem(part, custom)]
    case 'vendor':
      return part.dialect === 'openai-responses' ? [part.value as Json] : []
    case 'web-search':
      return part.own.dialect === 'openai-responses' ? part.own.value : [searchItem(part.search)]
    case 'mcp-call':
      return part.own.dialect === 'openai-responses' ? part.own.value : [withoutAbsent(remoteCallInput(part.call))]
    case 'image':
    case 'audio':
      return []
  }
}

/** The conversation as items: results and calls stand beside the messages, not inside them. */
export function toInput(messages: readonly Message[], systemRole: string): Json[] {
  const custom = new Set<string>()
  return messages.flatMap((message): Json[] => {
    if (message.role === 'system') {
      return [{ role: systemRole, content: message.content.map((part) => part.text).join('\n\n') }]
    }
    if (message.role === 'assistant') return message.content.flatMap((part) => assistantItem(part, custom))
    const results = message.content.filter((part) => part.type === 'tool-result')
    const content = message.content.flatMap((part) => (part.type === 'tool-result' ? [] : userPart(part)))
    return [
      ...results.map((result) => outputItem(result, custom)),
      ...(content.length > 0 || results.length === 0 ? [{ role: 'user', content }] : []),
    ]
  })
}
