import type { Ambient } from '#core/ambient.ts'
import type { WireEvent } from '#relay/transport/framing.ts'
import { createReply, type Delivered } from '#relay/chat/delivered.ts'
import type { ChatEvent, ChatResponse, StreamDecoder } from '#relay/chat/events.ts'

/** For reading an answer only to count it: ids it lacks are shown to nobody. */
export const nameless: { ambient: Ambient } = { ambient: { now: () => new Date(0), newId: () => '', random: () => 0 } }

function add(pieces: string[], event: ChatEvent): number {
  if (event.type === 'text-delta' || event.type === 'reasoning-delta' || event.type === 'refusal-delta') {
    pieces.push(event.text)
  } else if (event.type === 'tool-call-delta') {
    pieces.push(event.arguments)
  } else if (event.type === 'audio-delta') {
    pieces.push(event.transcript ?? '')
  } else if (event.type === 'tool-call-start') {
    pieces.push(event.name)
    return 1
  }
  return 0
}

/** Latin letters stand three to a token in what is written densest, other scripts take three bytes a letter. */
const bytesPerToken = 3
const tokensOfACall = 7
const tokensPerImage = 1290
/** Audio as it is streamed, in base64: some 20 tokens a second. */
const audioPerToken = 1000

/** Counts the tokens of an answer by its bytes while it is written. Most upstreams send a token an event, none more events than tokens. */
export function createWeight() {
  let bytes = 0
  let events = 0
  let others = 0
  return {
    add: (event: ChatEvent): void => {
      switch (event.type) {
        case 'text-delta':
        case 'reasoning-delta':
        case 'refusal-delta':
          bytes += Buffer.byteLength(event.text)
          events += 1
          break
        case 'tool-call-start':
          bytes += event.name.length
          others += tokensOfACall
          break
        case 'tool-call-delta':
          bytes += Buffer.byteLength(event.arguments)
          events += 1
          break
        case 'image':
          others += tokensPerImage
          break
        case 'audio-delta':
          others += event.data.length / audioPerToken
          break
        default:
      }
    },
    tokens: (): number => Math.ceil(Math.max(bytes / bytesPerToken, events) + others),
  }
}

/** Raw events of so many characters are kept as they came; older ones as the bare text they carry. */
const rawCharacters = 65_536

/** Of text, so much is kept; what lies beyond is only measured. No model writes that much, a broken one may. */
const textCharacters = 524_288

/** Keeps text for counting it, as far as a model may write. */
export function keepText() {
  let text = ''
  let droppedCharacters = 0
  return {
    add: (written: string): void => {
      if (text.length < textCharacters) text += written
      else droppedCharacters += written.length
    },
    stored: (): Pick<Delivered, 'text' | 'droppedCharacters'> => ({
      text,
      ...(droppedCharacters > 0 ? { droppedCharacters } : {}),
    }),
  }
}

/**
 * Keeps what the model writes in a stream, for counting it if need be, in little room however long the stream is. Short
 * streams are not even read; an event that cannot be read counts for nothing. `textOf` returns the text of an event that is nothing
 * but text, where that is known without reading all of it.
 */
export function keepDelivered(createDecoder: () => StreamDecoder, textOf?: (data: string) => string | undefined) {
  let decoder: StreamDecoder | null = null
  let events: WireEvent[] = []
  let raw = 0
  const text = keepText()
  let toolCalls = 0
  let images = 0
  let hasAudio = false
  const weight = createWeight()
  const reply = createReply()

  const take = (read: () => ChatEvent[]): void => {
    try {
      const pieces: string[] = []
      for (const event of read()) {
        toolCalls += add(pieces, event)
        if (event.type === 'image') images += 1
        else if (event.type === 'audio-delta') hasAudio = true
        weight.add(event)
        reply.note(event)
      }
      text.add(pieces.join(''))
    } catch {
      // What cannot be read cannot be counted.
    }
  }
  const digest = (): StreamDecoder => {
    const current = (decoder ??= createDecoder())
    for (const event of events) {
      const plain = textOf?.(event.data)
      if (plain === undefined) take(() => current.push(event))
      else if (plain !== '') {
        const event = { type: 'text-delta' as const, text: plain }
        weight.add(event)
        reply.note(event)
        text.add(plain)
      }
    }
    events = []
    raw = 0
    return current
  }
  const recorded = (): Delivered => ({
    ...text.stored(),
    toolCalls,
    ...(images > 0 ? { images } : {}),
    ...(hasAudio ? { hasAudio } : {}),
  })
  return {
    push: (event: WireEvent): void => {
      events.push(event)
      raw += event.data.length
      if (raw > rawCharacters) digest()
    },
    /** While the stream goes on, with about how many tokens that is, rather too many than too few. */
    written: (): Delivered & { tokens: number } => {
      digest()
      return { ...recorded(), tokens: weight.tokens() }
    },
    delivered: (): Delivered => {
      const current = digest()
      take(() => current.end())
      return { ...recorded(), ...reply.beside(text.stored().text) }
    },
  }
}

/** Nothing but blanks, no tool call, no image. */
export const isEmptyResponse = (response: ChatResponse): boolean =>
  !response.choices.some((choice) =>
    choice.parts.some((part) =>
      part.type === 'text' || part.type === 'reasoning' || part.type === 'refusal'
        ? part.text.trim() !== '' || (part.type === 'reasoning' && part.encrypted !== undefined)
        : true,
    ),
  )
