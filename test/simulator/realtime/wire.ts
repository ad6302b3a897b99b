import type { Usage } from '../answer.ts'
import { minus, sum } from '../answer.ts'
import { type Directives, has, numbersOf } from '../directives.ts'
import { asObject, asText, type Json } from '../prompt.ts'

/** The two forms of the events: names that differ, older first. */
const names = {
  itemAdded: ['conversation.item.created', 'conversation.item.added'],
  text: ['response.text', 'response.output_text'],
  audio: ['response.audio', 'response.output_audio'],
  transcript: ['response.audio_transcript', 'response.output_audio_transcript'],
} as const

export const nameIn = (beta: boolean, name: keyof typeof names): string => names[name][beta ? 0 : 1]

/** The `usage` of an ended response; the directive `audio` says which of its tokens were audio. */
export function usageBody(usage: Usage | undefined, directives: Directives): Json | null {
  if (!usage) return null
  const [audioInput = 0, audioOutput = 0] = numbersOf(directives, 'audio')
  return {
    total_tokens: sum(usage.prompt, usage.completion),
    input_tokens: usage.prompt,
    output_tokens: usage.completion,
    input_token_details: {
      cached_tokens: usage.cached,
      text_tokens: minus(usage.prompt, audioInput),
      audio_tokens: audioInput,
      image_tokens: 0,
    },
    output_token_details: { text_tokens: minus(usage.completion, audioOutput), audio_tokens: audioOutput },
  }
}

/** A tenth of a second of silence at 24,000 samples of two bytes, as base64. */
export const tenthOfASecond = Buffer.alloc(4800).toString('base64')

export const audioInputOf = (session: Json): Json => asObject(asObject(session['audio'])['input'])

/** The model that writes down what is said in a session, in either form; empty where none does. */
export const transcriberIn = (session: Json): string =>
  asText(
    asObject(audioInputOf(session)['transcription'])['model'] ??
      asObject(session['input_audio_transcription'])['model'],
  )

/** Twice as many tokens of text as of sound; whisper is sold by the second. */
export function transcriptionUsage(model: string, inputBytes: number, directives: Directives): Json | undefined {
  if (has(directives, 'nousage')) return undefined
  if (model.startsWith('whisper'))
    return { type: 'duration', seconds: Number(directives['usage'] ?? inputBytes / 48_000) }
  const tokens = Math.ceil(inputBytes / 4800)
  return {
    type: 'tokens',
    input_tokens: tokens,
    input_token_details: { text_tokens: 0, audio_tokens: tokens },
    output_tokens: tokens * 2,
    total_tokens: tokens * 3,
  }
}
