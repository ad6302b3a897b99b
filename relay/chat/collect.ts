import type {
  ChatChoice,
  ChatEvent,
  ChatResponse,
  Citation,
  FinishReason,
  ResponsePart,
  UpstreamFailure,
} from './events.ts'

type ToolCall = Extract<ResponsePart, { type: 'tool-call' }>
type Audio = Extract<ResponsePart, { type: 'audio' }>

type OpenChoice = {
  parts: ResponsePart[]
  calls: Map<number, ToolCall>
  audio: { part: Audio; pieces: string[] } | undefined
  finish: FinishReason | undefined
  stopSequence: string | null | undefined
  logprobs: unknown[]
}

/** The stream that was to be collected ended in an error event. */
export class StreamFailed extends Error {
  override name = 'StreamFailed'
  readonly failure: UpstreamFailure
  constructor(failure: UpstreamFailure) {
    super(failure.message)
    this.failure = failure
  }
}

/**
 * A streamed answer as a whole one.
 * @throws {StreamFailed} when the events hold an error.
 */
export function collectEvents(events: Iterable<ChatEvent>): ChatResponse {
  const collector = createCollector()
  for (const event of events) collector.push(event)
  return collector.response()
}

/** Gathers a stream event by event; `response` may be asked for once, at its end. */
export function createCollector(): { push: (event: ChatEvent) => void; response: () => ChatResponse } {
  const answer: ChatResponse = { id: '', model: '', choices: [] }
  const choices = new Map<number, OpenChoice>()
  let failure: UpstreamFailure | undefined
  const choiceOf = (index = 0): OpenChoice => {
    const known = choices.get(index)
    if (known !== undefined) return known
    const fresh: OpenChoice = {
      parts: [],
      calls: new Map(),
      audio: undefined,
      finish: undefined,
      stopSequence: undefined,
      logprobs: [],
    }
    choices.set(index, fresh)
    return fresh
  }
  return {
    push(event) {
      if (event.type === 'start') {
        answer.id = event.id
        answer.model = event.model
      } else if (event.type === 'usage') answer.usage = event.usage
      else if (event.type === 'error') failure ??= event.error
      else addToChoice(choiceOf(event.choice), event)
    },
    response() {
      if (failure !== undefined) throw new StreamFailed(failure)
      const indexes = [...choices.keys()].sort((left, right) => left - right)
      return { ...answer, choices: indexes.map((index) => closeChoice(choiceOf(index))) }
    },
  }
}

type ChoiceEvent = Exclude<ChatEvent, { type: 'start' | 'usage' | 'error' }>

function addToChoice(choice: OpenChoice, event: ChoiceEvent): void {
  switch (event.type) {
    case 'text-delta':
    case 'refusal-delta':
      return addText(choice, event.type === 'text-delta' ? 'text' : 'refusal', event.text)
    case 'reasoning-delta':
    case 'reasoning-signature':
    case 'reasoning-encrypted':
      return addReasoning(choice, event)
    case 'tool-call-start':
    case 'tool-call-delta':
    case 'tool-call-end':
      return addToolCall(choice, event)
    case 'image':
      choice.parts.push({ type: 'image', mediaType: event.mediaType, data: event.data })
      return
    case 'audio-delta':
      return addAudio(choice, event)
    case 'citation':
      return addCitation(choice, event.citation)
    case 'web-search':
      choice.parts.push({ type: 'web-search', search: event.search })
      return
    case 'mcp-call':
      choice.parts.push({ type: 'mcp-call', call: event.call })
      return
    case 'logprobs':
      for (const token of event.tokens) choice.logprobs.push(token)
      return
    case 'finish':
      choice.finish = event.reason
      choice.stopSequence = event.stopSequence
  }
}

function addText(choice: OpenChoice, type: 'text' | 'refusal', text: string): void {
  const last = choice.parts.at(-1)
  if (last?.type === type) last.text += text
  else if (text !== '') choice.parts.push({ type, text })
}

function addReasoning(
  choice: OpenChoice,
  event: Extract<ChoiceEvent, { type: `reasoning-${'delta' | 'signature' | 'encrypted'}` }>,
): void {
  const last = choice.parts.at(-1)
  const open =
    last?.type === 'reasoning' && last.signature === undefined && last.encrypted === undefined ? last : undefined
  if (event.type === 'reasoning-delta') {
    if (open !== undefined) open.text += event.text
    else if (event.text !== '') choice.parts.push({ type: 'reasoning', text: event.text })
  } else if (event.type === 'reasoning-signature') {
    const signature = { dialect: event.dialect, value: event.value }
    if (open !== undefined) open.signature = signature
    else choice.parts.push({ type: 'reasoning', text: '', signature })
  } else {
    const encrypted = { dialect: event.dialect, data: event.data }
    // One vendor hides the reasoning whose summary was just shown, the other hides reasoning of its own.
    if (open !== undefined && event.dialect === 'openai-responses') open.encrypted = encrypted
    else choice.parts.push({ type: 'reasoning', text: '', encrypted })
  }
}

function addToolCall(
  choice: OpenChoice,
  event: Extract<ChoiceEvent, { type: `tool-call-${'start' | 'delta' | 'end'}` }>,
): void {
  if (event.type === 'tool-call-start') {
    const call: ToolCall = { type: 'tool-call', id: event.id, name: event.name, arguments: '' }
    if (event.kind !== undefined) call.kind = event.kind
    if (event.signature !== undefined) call.signature = event.signature
    choice.calls.set(event.index, call)
    choice.parts.push(call)
  } else if (event.type === 'tool-call-delta') {
    const call = choice.calls.get(event.index)
    if (call !== undefined) call.arguments += event.arguments
  }
}

function addAudio(
  choice: OpenChoice,
  { data, transcript = '', format = 'pcm16', rate }: Extract<ChoiceEvent, { type: 'audio-delta' }>,
): void {
  if (choice.audio === undefined) {
    const part: Audio = { type: 'audio', data: '', format, transcript: '', rate }
    choice.audio = { part, pieces: [] }
    choice.parts.push(part)
  }
  choice.audio.part.transcript += transcript
  if (data !== '') choice.audio.pieces.push(data)
}

function addCitation(choice: OpenChoice, citation: Citation): void {
  const text = choice.parts.findLast((part) => part.type === 'text')
  if (text !== undefined) (text.citations ??= []).push(citation)
}

function closeChoice(choice: OpenChoice): ChatChoice {
  // Pieces are padded one by one, so their bytes are joined, not their texts.
  if (choice.audio !== undefined && choice.audio.pieces.length > 0) {
    const { part, pieces } = choice.audio
    part.data = Buffer.concat(pieces.map((piece) => Buffer.from(piece, 'base64'))).toString('base64')
  }
  const finish = choice.finish ?? (choice.calls.size > 0 ? 'tool-calls' : 'stop')
  const closed: ChatChoice = { parts: choice.parts, finish }
  if (choice.stopSequence !== undefined) closed.stopSequence = choice.stopSequence
  if (choice.logprobs.length > 0) closed.logprobs = choice.logprobs
  return closed
}

/** A complete answer as the stream it might have been: one delta per part, in order. */
export function replayResponse(response: ChatResponse): ChatEvent[] {
  const events: ChatEvent[] = [{ type: 'start', id: response.id, model: response.model }]
  response.choices.forEach((choice, index) => {
    const at = index === 0 ? {} : { choice: index }
    let calls = 0
    for (const part of choice.parts) {
      events.push(...replayPart(part, calls).map((event) => ({ ...event, ...at })))
      if (part.type === 'tool-call') calls += 1
    }
    if (choice.logprobs !== undefined) events.push({ type: 'logprobs', tokens: choice.logprobs, ...at })
  })
  response.choices.forEach((choice, index) => {
    const finish: ChatEvent = { type: 'finish', reason: choice.finish }
    if (choice.stopSequence !== undefined) finish.stopSequence = choice.stopSequence
    if (index !== 0) finish.choice = index
    events.push(finish)
  })
  if (response.usage !== undefined) events.push({ type: 'usage', usage: response.usage })
  return events
}

function replayPart(part: ResponsePart, index: number): ChatEvent[] {
  switch (part.type) {
    case 'text':
      return [
        { type: 'text-delta', text: part.text },
        ...(part.citations ?? []).map((citation): ChatEvent => ({ type: 'citation', citation })),
      ]
    case 'reasoning': {
      const events: ChatEvent[] = part.text === '' ? [] : [{ type: 'reasoning-delta', text: part.text }]
      const { signature, encrypted } = part
      if (signature !== undefined) events.push({ type: 'reasoning-signature', ...signature })
      if (encrypted !== undefined) events.push({ type: 'reasoning-encrypted', ...encrypted })
      return events
    }
    case 'tool-call': {
      const { type: _, arguments: text, ...call } = part
      return [
        { type: 'tool-call-start', index, ...call },
        ...(text === '' ? [] : [{ type: 'tool-call-delta' as const, index, arguments: text }]),
        { type: 'tool-call-end', index },
      ]
    }
    case 'image':
    case 'web-search':
    case 'mcp-call':
      return [part]
    case 'audio':
      return [{ ...part, type: 'audio-delta' }]
    case 'refusal':
      return [{ type: 'refusal-delta', text: part.text }]
  }
}
