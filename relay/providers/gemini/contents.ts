import { DomainError } from '#core/errors.ts'
import { parseExactly } from '#core/exact-json.ts'
import { audioMediaType, parseDataUrl } from '#relay/chat/media.ts'
import type {
  AssistantPart,
  AudioPart,
  FilePart,
  ImagePart,
  Message,
  ToolResultPart,
  UserPart,
} from '#relay/chat/request.ts'
import { type Json, recordOf, textOf } from '../shared/json.ts'
import { resolveSource } from '../shared/media.ts'
import { argumentsObject } from '../shared/tool-arguments.ts'
import { isImage, partsToProve, unknownSignature } from './proofs.ts'

type Content = { role: 'user' | 'model'; parts: Json[] }

type Call = { id: string; name: string }

type Writing = { model: string; calls: Map<string, Call> }

const blank: Json = { text: ' ' }

function mediaPart(part: ImagePart | AudioPart | FilePart): Json {
  const source = resolveSource(part.source)
  if (source.kind === 'file-id') {
    throw new DomainError('unsupported.file_id')
  }
  const known = part.type === 'audio' && part.format !== undefined ? audioMediaType(part.format) : undefined
  if (source.kind === 'url') {
    const mimeType = source.mediaType ?? known
    return { fileData: { ...(mimeType === undefined ? {} : { mimeType }), fileUri: source.url } }
  }
  return { inlineData: { mimeType: known ?? source.mediaType, data: source.data } }
}

/** A result must be an object: what is one stays, a list is wrapped, anything else is the output. */
function responseOf(result: ToolResultPart): Json {
  const text = result.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
  if (result.isError) return { error: text }
  try {
    const value = parseExactly(text)
    if (Array.isArray(value)) return { result: value }
    return recordOf(value) ?? { output: text }
  } catch {
    return { output: text }
  }
}

function resultParts(result: ToolResultPart, writing: Writing): Json[] {
  const call = writing.calls.get(result.callId)
  const name = call?.name ?? result.name ?? 'unknown'
  const id = result.callId === '' ? {} : { id: result.callId }
  const media = result.content.flatMap((part) => (part.type === 'text' ? [] : [mediaPart(part)]))
  return [{ functionResponse: { ...id, name, response: responseOf(result) } }, ...media]
}

function userParts(part: UserPart, writing: Writing): Json[] {
  switch (part.type) {
    case 'text':
      return part.text === '' ? [] : [{ text: part.text }]
    case 'image':
    case 'audio':
    case 'file':
      return [mediaPart(part)]
    case 'tool-result':
      return resultParts(part, writing)
    case 'vendor':
      return part.dialect === 'gemini' ? [part.value as Json] : []
  }
}

const drawn = /!\[[^\][]*\]\((data:image\/[^()\s]+)\)/

/** Images that an earlier answer showed inside its text become images again. */
function textParts(text: string): Json[] {
  if (!text.includes('](data:image/')) return text === '' ? [] : [{ text }]
  const pieces = text.split(drawn)
  return pieces.flatMap((piece, index): Json[] => {
    const image = index % 2 === 1 ? parseDataUrl(piece) : undefined
    if (image) return [mediaPart({ type: 'image', source: { kind: 'base64', ...image } })]
    return piece === '' ? [] : [{ text: piece }]
  })
}

function assistantParts(part: AssistantPart, writing: Writing): Json[] {
  switch (part.type) {
    case 'text':
      return textParts(part.text)
    case 'refusal':
      return textParts(part.text)
    case 'image':
    case 'audio':
      return part.source.kind === 'file-id' ? [] : [mediaPart(part)]
    case 'reasoning':
      return part.signature?.dialect === 'gemini' && part.text !== ''
        ? [{ text: part.text, thought: true, thoughtSignature: part.signature.value }]
        : []
    case 'tool-call': {
      writing.calls.set(part.id, { id: part.id, name: part.name })
      const args = part.kind === 'custom' ? { input: part.arguments } : argumentsObject(part.arguments)
      const call = {
        functionCall: { ...(part.id === '' ? {} : { id: part.id }), name: part.name, args },
      }
      return [part.signature?.dialect === 'gemini' ? { ...call, thoughtSignature: part.signature.value } : call]
    }
    case 'vendor':
      return part.dialect === 'gemini' ? [part.value as Json] : []
    case 'web-search':
    case 'mcp-call':
      return []
  }
}

/**
 * Signatures without shown reasoning prove what stands right behind them, each a part of its own. Dialects that show an image inside
 * a text leave one part of what came as several.
 */
function proven(parts: readonly Json[], signatures: readonly string[]): Json[] {
  const bare = parts.filter((part, index) => part['thoughtSignature'] === undefined && (index === 0 || isImage(part)))
  const own = signatures.slice(-bare.length)
  const signatureOf = new Map(bare.map((part, index) => [part, own[index]]))
  return parts.map((part) => {
    const signature = signatureOf.get(part)
    return signature === undefined ? part : { ...part, thoughtSignature: signature }
  })
}

function modelParts(content: readonly AssistantPart[], writing: Writing): Json[] {
  const parts: Json[] = []
  let waiting: string[] = []
  for (const part of content) {
    if (part.type === 'reasoning' && part.text === '' && part.signature?.dialect === 'gemini') {
      waiting.push(part.signature.value)
      continue
    }
    const written = assistantParts(part, writing)
    if (written.length === 0) continue
    parts.push(...proven(written, waiting))
    waiting = []
  }
  if (parts.length === 0) parts.push(blank)
  const wanted = partsToProve(parts, writing.model)
  return parts.map((part) =>
    wanted.has(part) && part['thoughtSignature'] === undefined ? { ...part, thoughtSignature: unknownSignature } : part,
  )
}

const isResponse = (part: Json): boolean => part['functionResponse'] !== undefined

function turnsOf(messages: readonly Message[], writing: Writing): Content[] {
  return messages.flatMap((message): Content[] => {
    if (message.role === 'system') return []
    const parts =
      message.role === 'user'
        ? message.content.flatMap((part) => userParts(part, writing))
        : modelParts(message.content, writing)
    return [{ role: message.role === 'user' ? 'user' : 'model', parts: parts.length > 0 ? parts : [blank] }]
  })
}

function merged(turns: readonly Content[]): Content[] {
  const result: Content[] = []
  for (const turn of turns) {
    const last = result.at(-1)
    if (last?.role !== turn.role) result.push({ ...turn, parts: [...turn.parts] })
    // Copying the list for each neighbour would take the square of their number.
    else for (const part of turn.parts) last.parts.push(part)
  }
  return result
}

const callsOf = (turn: Content | undefined): Call[] =>
  turn?.role === 'model'
    ? turn.parts.flatMap((part) => {
        const call = recordOf(part['functionCall'])
        return call ? [{ id: textOf(call['id']) ?? '', name: textOf(call['name']) ?? '' }] : []
      })
    : []

const noResult = (call: Call): Json => ({
  functionResponse: { ...(call.id === '' ? {} : { id: call.id }), name: call.name, response: { error: 'no result' } },
})

/** Gives the first response to a call that no other call was given: by its id, and by its name where it has none. */
function responseMatcher(given: readonly Json[]): (call: Call) => Json | undefined {
  const byId = new Map<unknown, Json[]>()
  const byName = new Map<unknown, Json[]>()
  // The first stands last, to be taken from there.
  for (const part of given.toReversed()) {
    const response = recordOf(part['functionResponse'])
    for (const [waiting, key] of [
      [byId, response?.['id']],
      [byName, response?.['name']],
    ] as const) {
      const known = waiting.get(key)
      if (known) known.push(part)
      else waiting.set(key, [part])
    }
  }
  const taken = new Set<Json>()
  return ({ id, name }) => {
    const waiting = (id === '' ? byName.get(name) : byId.get(id)) ?? []
    let part = waiting.pop()
    while (part && taken.has(part)) part = waiting.pop()
    if (part) taken.add(part)
    return part
  }
}

/** As many responses as calls, in the turn right after them and nowhere else. */
function paired(turns: readonly Content[]): Content[] {
  const result: Content[] = []
  for (const [index, turn] of turns.entries()) {
    if (turn.role === 'model') {
      result.push(turn)
      const open = turns[index + 1] === undefined ? callsOf(turn) : []
      if (open.length > 0) result.push({ role: 'user', parts: open.map(noResult) })
      continue
    }
    const take = responseMatcher(turn.parts.filter(isResponse))
    const responses = callsOf(turns[index - 1]).map((call) => take(call) ?? noResult(call))
    const parts = [...responses, ...turn.parts.filter((part) => !isResponse(part))]
    result.push({ role: 'user', parts: parts.length > 0 ? parts : [blank] })
  }
  return result
}

/** The conversation as turns that begin with the user and answer every call at once. */
export function toContents(messages: readonly Message[], model: string): Content[] {
  const turns = merged(turnsOf(messages, { model, calls: new Map() }))
  const first: Content[] = turns[0]?.role === 'user' ? [] : [{ role: 'user', parts: [blank] }]
  return paired([...first, ...turns])
}
