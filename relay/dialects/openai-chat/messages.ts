import { isObject, type Fields } from '#relay/chat/json.ts'
import type { AssistantPart, Message, ReasoningPart, ToolCallPart, UserPart } from '#relay/chat/request.ts'
import { addToolResult, addUserMessage, type Conversation, startConversation } from '../conversation.ts'
import { type Reader, defined, readCacheControl } from '../read.ts'
import { type ContentPart, mediaFromUrl, readContent } from './parts.ts'
import { readReasoning } from './reasoning.ts'

/** Messages of a chat completion request → hub messages. */
export function readMessages(list: unknown[], read: Reader): { messages: Message[]; losses: string[] } {
  const conversation = startConversation(read)
  list.forEach((message, index) => {
    if (!isObject(message)) throw read.invalid(`messages[${index}]`)
    readMessage(conversation, message, index)
  })
  return { messages: conversation.messages, losses: [...conversation.losses] }
}

function readMessage(conversation: Conversation, message: Fields, index: number): void {
  const path = `messages[${index}]`
  switch (message['role'] ?? 'user') {
    case 'system':
    case 'developer':
      return addSystem(conversation, message, path)
    case 'user':
      return addUser(conversation, message, path)
    case 'assistant':
      return addAssistant(conversation, message, index)
    case 'tool':
    case 'function':
      return addResult(conversation, message, index)
    default:
      throw conversation.read.invalid(`${path}.role`)
  }
}

/** A marker on the message itself belongs to its last part. */
function markLast<Part extends object>(parts: Part[], message: Fields): Part[] {
  const cacheControl = readCacheControl(message['cache_control'])
  const last = parts.at(-1)
  if (cacheControl === undefined || last === undefined || 'cacheControl' in last) return parts
  return [...parts.slice(0, -1), { ...last, cacheControl }]
}

const textsOf = (parts: ContentPart[]) => parts.filter((part) => part.type === 'text')

function addSystem(conversation: Conversation, message: Fields, path: string): void {
  const parts = readContent(message['content'], `${path}.content`, conversation.read)
  const content = textsOf(parts)
  if (content.length < parts.length) conversation.losses.add('messages.system.content')
  conversation.openResults = false
  conversation.messages.push({ role: 'system', content: markLast(content, message) })
}

function addUser(conversation: Conversation, message: Fields, path: string): void {
  const { read } = conversation
  const content: UserPart[] = markLast(readContent(message['content'], `${path}.content`, read), message)
  addUserMessage(conversation, content, read.text(message['name'], `${path}.name`))
}

function addResult(conversation: Conversation, message: Fields, index: number): void {
  const { read, names } = conversation
  const path = `messages[${index}]`
  const callId = message['role'] === 'function' ? idOfFunction(conversation, message, index) : message['tool_call_id']
  const id = read.name(callId, `${path}.tool_call_id`)
  const parts = readContent(message['content'], `${path}.content`, read)
  const content = parts.filter((part) => part.type === 'text' || part.type === 'image' || part.type === 'file')
  if (content.length < parts.length) conversation.losses.add('messages.tool.content')
  const result = defined({
    type: 'tool-result' as const,
    callId: id,
    name: read.text(message['name'], `${path}.name`) ?? names.get(id),
    content,
    cacheControl: readCacheControl(message['cache_control']),
  })
  addToolResult(conversation, result)
}

/** Legacy function results carry no id: they answer the latest call of their name. */
function idOfFunction({ names, read }: Conversation, message: Fields, index: number): string {
  const name = read.name(message['name'], `messages[${index}].name`)
  const call = [...names].findLast(([, called]) => called === name)
  return call?.[0] ?? `call_${index}_0`
}

function addAssistant(conversation: Conversation, message: Fields, index: number): void {
  const { read, messages } = conversation
  const path = `messages[${index}]`
  const reasoning = readMessageReasoning(message, path, read)
  const refusal = read.text(message['refusal'], `${path}.refusal`) ?? ''
  const answered = [
    ...readAssistantContent(message['content'], path, read),
    ...(refusal === '' ? [] : [{ type: 'refusal' as const, text: refusal }]),
    ...readAudioReply(message['audio']),
    ...readShownImages(message['images']),
  ]
  const content: AssistantPart[] = [
    ...reasoning,
    ...markLast(answered, message),
    ...readCalls(conversation, message, index),
  ]
  conversation.openResults = false
  messages.push(defined({ role: 'assistant', content, name: read.text(message['name'], `${path}.name`) }))
}

/** Agents that are set up to send reasoning back in `reasoning_details` put its text there, where vendors have a list. */
function readMessageReasoning(message: Fields, path: string, read: Reader): ReasoningPart[] {
  const { reasoning_details: details, reasoning_content: content, reasoning: other } = message
  const isText = typeof details === 'string'
  // Under this name some keep an object of settings.
  const plain = content || (isObject(other) ? undefined : other) || (isText ? details : undefined)
  return readReasoning(
    isText ? [] : (read.list(details, `${path}.reasoning_details`) ?? []),
    read.text(plain, `${path}.reasoning_content`) ?? '',
    read.text(message['reasoning_signature'], `${path}.reasoning_signature`) ?? '',
  )
}

function readAssistantContent(content: unknown, path: string, read: Reader): AssistantPart[] {
  return readContent(content, `${path}.content`, read).map((part): AssistantPart => {
    if (part.type === 'file') return { type: 'vendor', dialect: 'openai-chat', value: part }
    const isRefusal = part.type === 'vendor' && isObject(part.value) && part.value['type'] === 'refusal'
    if (!isRefusal) return part
    const value = part.value as Fields
    return { type: 'refusal', text: read.text(value['refusal'], `${path}.content.refusal`) ?? '' }
  })
}

function readAudioReply(audio: unknown): AssistantPart[] {
  if (!isObject(audio) || typeof audio['id'] !== 'string') return []
  return [{ type: 'audio', source: { kind: 'file-id', id: audio['id'] } }]
}

function readShownImages(images: unknown): AssistantPart[] {
  if (!Array.isArray(images)) return []
  return images.flatMap((image: unknown): AssistantPart[] => {
    const holder = isObject(image) ? image['image_url'] : undefined
    const url = isObject(holder) ? holder['url'] : undefined
    return typeof url === 'string' && url !== '' ? [{ type: 'image', source: mediaFromUrl(url) }] : []
  })
}

function readCalls(conversation: Conversation, message: Fields, index: number): ToolCallPart[] {
  const { read, names } = conversation
  const path = `messages[${index}]`
  const calls = (read.list(message['tool_calls'], `${path}.tool_calls`) ?? []).map((call, position) => {
    if (!isObject(call)) throw read.invalid(`${path}.tool_calls[${position}]`)
    return readCall(call, { path: `${path}.tool_calls[${position}]`, fallbackId: `call_${index}_${position}`, read })
  })
  const legacy = read.object(message['function_call'], `${path}.function_call`)
  if (legacy !== undefined) {
    const at = { path: path, fallbackId: `call_${index}_${calls.length}`, read }
    calls.push(readCall({ type: 'function', function: legacy }, at))
  }
  for (const call of calls) names.set(call.id, call.name)
  return calls
}

function readCall(call: Fields, at: { path: string; fallbackId: string; read: Reader }): ToolCallPart {
  const { path, read } = at
  const id = read.text(call['id'], `${path}.id`) || at.fallbackId
  const cacheControl = readCacheControl(call['cache_control'])
  if (call['type'] === 'custom') {
    const custom = read.object(call['custom'], `${path}.custom`) ?? {}
    const name = read.name(custom['name'], `${path}.custom.name`)
    const text = read.text(custom['input'], `${path}.custom.input`) ?? ''
    return defined({ type: 'tool-call', id, name, arguments: text, kind: 'custom', cacheControl })
  }
  const called = read.object(call['function'], `${path}.function`) ?? {}
  const name = read.name(called['name'], `${path}.function.name`)
  const given = called['arguments']
  const text = isObject(given) ? JSON.stringify(given) : (read.text(given, `${path}.function.arguments`) ?? '')
  return defined({
    type: 'tool-call',
    id,
    name,
    arguments: text,
    signature: readSignature(call['extra_content']),
    cacheControl,
  })
}

function readSignature(extra: unknown): ToolCallPart['signature'] {
  const google = isObject(extra) ? extra['google'] : undefined
  const value = isObject(google) ? google['thought_signature'] : undefined
  return typeof value === 'string' && value !== '' ? { dialect: 'gemini', value } : undefined
}
