import { type Fields, isObject } from '#relay/chat/json.ts'
import { audioFormat } from '#relay/chat/media.ts'
import type {
  AssistantPart,
  AudioPart,
  FilePart,
  ImagePart,
  MediaSource,
  Message,
  ToolCallPart,
  ToolResultPart,
  UserPart,
} from '#relay/chat/request.ts'
import { type Reader, defined } from '../read.ts'
import { pick, pickObject } from './fields.ts'
import { createPendingCalls } from './pending-calls.ts'

export type MediaPart = ImagePart | AudioPart | FilePart

type Conversation = {
  read: Reader
  pending: ReturnType<typeof createPendingCalls>
  losses: Set<string>
}

export function readContents(contents: unknown[], read: Reader): { messages: Message[]; losses: string[] } {
  const conversation: Conversation = { read, pending: createPendingCalls(), losses: new Set() }
  const messages = contents.map((content, turn): Message => {
    if (!isObject(content)) throw read.invalid(`contents[${turn}]`)
    const parts = readParts(content['parts'], `contents[${turn}].parts`, read)
    switch (content['role'] ?? 'user') {
      case 'model':
        return {
          role: 'assistant',
          content: joinReasoning(parts.flatMap((part, index) => readModelPart(part, { turn, index, conversation }))),
        }
      case 'user':
      case 'function':
        return { role: 'user', content: readUserParts(parts, turn, conversation) }
      default:
        throw read.invalid(`contents[${turn}].role`)
    }
  })
  return { messages, losses: [...conversation.losses] }
}

export function readParts(value: unknown, path: string, read: Reader): Fields[] {
  const list = isObject(value) ? [value] : (read.list(value, path) ?? [])
  return list.map((part, index) => {
    if (typeof part === 'string') return { text: part }
    if (!isObject(part)) throw read.invalid(`${path}[${index}]`)
    return part
  })
}

function readUserParts(parts: Fields[], turn: number, conversation: Conversation): UserPart[] {
  const results: UserPart[] = []
  const others: UserPart[] = []
  parts.forEach((part, index) => {
    const response = pickObject(part, 'functionResponse')
    if (response !== undefined) results.push(readResult(response, { turn, index, conversation }))
    else others.push(...readPlainPart(part, conversation))
  })
  return [...results, ...others]
}

/** Text and media, in whoever's turn; what is neither stays as the vendor wrote it. */
function readPlainPart(
  part: Fields,
  conversation: Conversation,
): (MediaPart | { type: 'text'; text: string } | { type: 'vendor'; dialect: 'gemini'; value: unknown })[] {
  for (const name of ['videoMetadata', 'mediaResolution', 'partMetadata']) {
    if (pick(part, name) !== undefined) conversation.losses.add(name)
  }
  const media = readMedia(part, conversation.read)
  if (media !== undefined) return [media]
  const { text } = part
  if (text === undefined || text === null) return [{ type: 'vendor', dialect: 'gemini', value: part }]
  const content = conversation.read.text(text, 'contents.parts.text') ?? ''
  return content === '' ? [] : [{ type: 'text', text: content }]
}

export function readMedia(part: Fields, read: Reader): MediaPart | undefined {
  const inline = pickObject(part, 'inlineData')
  if (inline !== undefined) {
    const mediaType = read.text(pick(inline, 'mimeType'), 'inlineData.mimeType') ?? 'application/octet-stream'
    const source: MediaSource = { kind: 'base64', mediaType, data: read.name(inline['data'], 'inlineData.data') }
    return toMedia(source, mediaType, read.text(pick(inline, 'displayName'), 'inlineData.displayName'))
  }
  const file = pickObject(part, 'fileData')
  if (file === undefined) return undefined
  const mediaType = read.text(pick(file, 'mimeType'), 'fileData.mimeType')
  const source: MediaSource = defined({
    kind: 'url',
    url: read.name(pick(file, 'fileUri'), 'fileData.fileUri'),
    mediaType,
  })
  return toMedia(source, mediaType ?? '', read.text(pick(file, 'displayName'), 'fileData.displayName'))
}

function toMedia(source: MediaSource, mediaType: string, filename: string | undefined): MediaPart {
  if (mediaType.startsWith('image/')) return { type: 'image', source }
  if (mediaType.startsWith('audio/')) return { type: 'audio', source, format: audioFormat(mediaType) }
  return defined({ type: 'file', source, filename })
}

type Place = { turn: number; index: number; conversation: Conversation }

function readModelPart(part: Fields, { turn, index, conversation }: Place): AssistantPart[] {
  const { read, pending } = conversation
  const value = read.text(pick(part, 'thoughtSignature'), 'thoughtSignature') || undefined
  const signature = value === undefined ? undefined : { dialect: 'gemini' as const, value }
  const call = pickObject(part, 'functionCall')
  if (call !== undefined) {
    const name = read.name(call['name'], 'functionCall.name')
    const given = read.text(call['id'], 'functionCall.id') || undefined
    const id = given ?? `call_${turn}_${index}`
    pending.add(id, name, given !== undefined)
    const args = read.object(call['args'], 'functionCall.args') ?? {}
    return [defined<ToolCallPart>({ type: 'tool-call', id, name, arguments: JSON.stringify(args), signature })]
  }
  if (part['thought'] === true) {
    return [defined({ type: 'reasoning', text: read.text(part['text'], 'text') ?? '', signature })]
  }
  const content = readPlainPart(part, conversation).filter((plain) => plain.type !== 'file')
  // A signature on plain text proves the reasoning that led to it, which the caller was not shown.
  return signature === undefined ? content : [{ type: 'reasoning', text: '', signature }, ...content]
}

/** Streams hand over one reasoning part in several pieces, its signature in the last. */
function joinReasoning(parts: AssistantPart[]): AssistantPart[] {
  const joined: AssistantPart[] = []
  for (const part of parts) {
    const last = joined.at(-1)
    if (part.type === 'reasoning' && last?.type === 'reasoning' && last.signature === undefined) {
      joined[joined.length - 1] = { ...part, text: last.text + part.text }
    } else joined.push(part)
  }
  return joined.filter((part) => part.type !== 'reasoning' || part.text !== '' || part.signature !== undefined)
}

function readResult(response: Fields, { turn, index, conversation }: Place): ToolResultPart {
  const { read, pending } = conversation
  const name = read.name(response['name'], 'functionResponse.name')
  if (response['scheduling'] !== undefined) conversation.losses.add('functionResponse.scheduling')
  const given = read.text(response['id'], 'functionResponse.id') || undefined
  const answered = pending.answer(given, name)
  const { text, isError } = readResponse(response['response'])
  const media = readParts(response['parts'], 'functionResponse.parts', read).flatMap(
    (part) => readMedia(part, read) ?? [],
  )
  return defined({
    type: 'tool-result',
    callId: answered ?? given ?? `call_${turn}_${index}`,
    name,
    content: [
      ...(text === '' ? [] : [{ type: 'text' as const, text }]),
      ...media.filter((part) => part.type === 'image' || part.type === 'file'),
    ],
    isError,
  })
}

function readResponse(value: unknown): { text: string; isError?: true } {
  if (value === undefined || value === null) return { text: '' }
  if (!isObject(value)) return { text: typeof value === 'string' ? value : JSON.stringify(value) }
  const { output, result, error } = value
  const names = Object.keys(value)
  if (names.length === 1 && typeof error === 'string') return { text: error, isError: true }
  const [plain] = names.length === 1 ? [output, result].filter((text) => typeof text === 'string') : []
  // Beside a text stands what else the tool returned: its exit code, what it wrote to the other stream.
  const text = plain ?? JSON.stringify(value)
  return typeof error === 'string' && error !== '' ? { text, isError: true } : { text }
}
