import { type Fields, isObject } from '#relay/chat/json.ts'
import type {
  AssistantPart,
  AudioPart,
  FilePart,
  ImagePart,
  MediaSource,
  Message,
  ReasoningPart,
  TextPart,
  ToolCallPart,
  ToolResultPart,
  UserPart,
} from '#relay/chat/request.ts'
import { readCompaction } from '#relay/chat/seals/compaction.ts'
import { fileSource, mediaFromUrl, readAudio } from '../openai-chat/parts.ts'
import { addToolResult, addUserMessage, type Conversation, startConversation } from '../conversation.ts'
import { type Reader, defined } from '../read.ts'
import { readHostedItem } from './hosted-calls.ts'
import { joinedName, readOwnCall, readOwnOutput } from './agent-tools.ts'

/** Input of a responses request, a text or a list of items → hub messages. */
export function readInput(input: unknown, read: Reader): { messages: Message[]; losses: string[] } {
  if (typeof input === 'string') {
    return { messages: [{ role: 'user', content: [{ type: 'text', text: input }] }], losses: [] }
  }
  const conversation = startConversation(read)
  for (const [index, item] of (read.list(input, 'input') ?? []).entries()) {
    if (!isObject(item)) throw read.invalid(`input[${index}]`)
    readItem(conversation, item, `input[${index}]`)
  }
  return { messages: conversation.messages, losses: [...conversation.losses] }
}

function readItem(conversation: Conversation, item: Fields, path: string): void {
  const { read } = conversation
  // A reference may leave its type out; a message cannot do without its role.
  const isReference = typeof item['id'] === 'string' && item['role'] === undefined
  const type = item['type'] ?? (isReference ? 'item_reference' : 'message')
  switch (type) {
    case 'message':
      return readMessage(conversation, item, path)
    case 'function_call':
    case 'custom_tool_call':
      return addToAssistant(conversation, [readCall(conversation, item, path)])
    case 'function_call_output':
    case 'custom_tool_call_output':
      return addResult(conversation, item, path)
    case 'reasoning': {
      const part = readReasoning(item, path, read)
      if (part !== undefined) addToAssistant(conversation, [part])
      return
    }
    // Its tools are read with those of the call.
    case 'additional_tools':
      return
    case 'compaction':
    case 'compaction_summary': {
      const text = readCompaction(item['encrypted_content'])
      return text === undefined
        ? readOwnItem(conversation, { ...item, type })
        : addUserMessage(conversation, [{ type: 'text', text }])
    }
    default:
      return readOwnItem(conversation, { ...item, type })
  }
}

/** A call of one of the vendor's own tools, its result, or what only the vendor can read. */
function readOwnItem(conversation: Conversation, item: Fields): void {
  const call = readOwnCall(item)
  if (call) {
    conversation.names.set(call.id, call.name)
    return addToAssistant(conversation, [call])
  }
  const output = readOwnOutput(item)
  if (output) return addResultPart(conversation, output.callId, [{ type: 'text', text: output.text }])
  const hosted = readHostedItem(item)
  addToAssistant(conversation, [hosted ?? { type: 'vendor', dialect: 'openai-responses', value: item }])
}

/** Reasoning, words and calls that follow each other are one turn of the model. */
function addToAssistant(conversation: Conversation, parts: AssistantPart[]): void {
  const last = conversation.messages.at(-1)
  conversation.openResults = false
  if (last?.role === 'assistant') for (const part of parts) last.content.push(part)
  else conversation.messages.push({ role: 'assistant', content: parts })
}

type ContentPart =
  | TextPart
  | ImagePart
  | AudioPart
  | FilePart
  | { type: 'refusal'; text: string }
  | Extract<UserPart, { type: 'vendor' }>

/** Sources of an earlier answer, which no other dialect takes back. */
const hasAnnotations = (content: unknown): boolean =>
  Array.isArray(content) &&
  content.some(
    (part: unknown) => isObject(part) && Array.isArray(part['annotations']) && part['annotations'].length > 0,
  )

/** How closely a file is looked at, for which only this vendor has a field. */
const hasFileDetail = (content: unknown): boolean =>
  Array.isArray(content) &&
  content.some(
    (part: unknown) => isObject(part) && part['type'] === 'input_file' && (part['detail'] ?? 'auto') !== 'auto',
  )

function readMessage(conversation: Conversation, item: Fields, path: string): void {
  const { read, messages, losses } = conversation
  const parts = readContent(item['content'], `${path}.content`, read)
  if (hasAnnotations(item['content'])) losses.add('annotations')
  if (typeof item['phase'] === 'string') losses.add('message.phase')
  if (hasFileDetail(item['content'])) losses.add('input_file.detail')
  switch (item['role']) {
    case 'assistant': {
      const accepted = parts.filter((part) => part.type !== 'file')
      if (accepted.length < parts.length) losses.add('input.content')
      return addToAssistant(conversation, accepted)
    }
    case 'system':
    case 'developer': {
      const content = parts.filter((part) => part.type === 'text')
      if (content.length < parts.length) losses.add('input.content')
      conversation.openResults = false
      messages.push({ role: 'system', content })
      return
    }
    case 'user':
      return addUserMessage(
        conversation,
        parts.filter((part) => part.type !== 'refusal'),
      )
    default:
      throw read.invalid(`${path}.role`)
  }
}

function readContent(content: unknown, path: string, read: Reader): ContentPart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return (read.list(content, path) ?? []).flatMap((part, index) => {
    if (!isObject(part)) throw read.invalid(`${path}[${index}]`)
    return readPart(part, `${path}[${index}]`, read) ?? []
  })
}

function readPart(part: Fields, path: string, read: Reader): ContentPart | undefined {
  switch (part['type']) {
    case 'input_text':
    case 'output_text':
    case 'text': {
      const text = read.text(part['text'], `${path}.text`)
      if (text === undefined) throw read.required(`${path}.text`)
      return text === '' ? undefined : { type: 'text', text }
    }
    case 'input_image':
      return readImage(part, path, read)
    case 'input_file':
      return readFile(part, path, read)
    case 'input_audio':
      return readAudio(part['input_audio'], `${path}.input_audio`, read)
    case 'refusal':
      return { type: 'refusal', text: read.text(part['refusal'], `${path}.refusal`) ?? '' }
    case undefined:
      throw read.required(`${path}.type`)
    default:
      return { type: 'vendor', dialect: 'openai-responses', value: part }
  }
}

function readImage(part: Fields, path: string, read: Reader): ImagePart {
  const id = read.text(part['file_id'], `${path}.file_id`)
  const source: MediaSource =
    id === undefined ? mediaFromUrl(read.name(part['image_url'], `${path}.image_url`)) : { kind: 'file-id', id }
  const given = part['detail']
  const detail = given === 'original' ? 'high' : given
  return defined({
    type: 'image',
    source,
    detail: detail === 'low' || detail === 'high' || detail === 'auto' ? detail : undefined,
  })
}

function readFile(part: Fields, path: string, read: Reader): FilePart {
  const filename = read.text(part['filename'], `${path}.filename`)
  const id = read.text(part['file_id'], `${path}.file_id`)
  const url = read.text(part['file_url'], `${path}.file_url`)
  const source: MediaSource =
    id !== undefined
      ? { kind: 'file-id', id }
      : url !== undefined
        ? { kind: 'url', url }
        : fileSource(read.name(part['file_data'], `${path}.file_data`))
  return defined({ type: 'file', source, filename })
}

function readCall({ read, names }: Conversation, item: Fields, path: string): ToolCallPart {
  const id = read.name(item['call_id'], `${path}.call_id`)
  const own = read.name(item['name'], `${path}.name`)
  const namespace = read.text(item['namespace'], `${path}.namespace`) || undefined
  const name = namespace === undefined ? own : joinedName(namespace, own)
  names.set(id, name)
  if (item['type'] === 'custom_tool_call') {
    return { type: 'tool-call', id, name, arguments: read.text(item['input'], `${path}.input`) ?? '', kind: 'custom' }
  }
  return { type: 'tool-call', id, name, arguments: read.text(item['arguments'], `${path}.arguments`) ?? '' }
}

function addResult(conversation: Conversation, item: Fields, path: string): void {
  const { read, losses } = conversation
  const callId = read.name(item['call_id'], `${path}.call_id`)
  const parts = readContent(item['output'], `${path}.output`, read)
  const content = parts.filter((part) => part.type === 'text' || part.type === 'image' || part.type === 'file')
  if (content.length < parts.length) losses.add('input.output')
  addResultPart(conversation, callId, content)
}

function addResultPart(conversation: Conversation, callId: string, content: ToolResultPart['content']): void {
  addToolResult(conversation, defined({ type: 'tool-result', callId, name: conversation.names.get(callId), content }))
}

function readReasoning(item: Fields, path: string, read: Reader): ReasoningPart | undefined {
  const textsOf = (name: string): string[] =>
    (read.list(item[name], `${path}.${name}`) ?? []).flatMap((entry) =>
      isObject(entry) && typeof entry['text'] === 'string' ? [entry['text']] : [],
    )
  const summary = textsOf('summary')
  const text = (summary.length > 0 ? summary : textsOf('content')).join('\n\n')
  const data = read.text(item['encrypted_content'], `${path}.encrypted_content`) || undefined
  if (text === '' && data === undefined) return undefined
  const encrypted = data === undefined ? undefined : { dialect: 'openai-responses' as const, data }
  return defined<ReasoningPart>({ type: 'reasoning', text, encrypted })
}
