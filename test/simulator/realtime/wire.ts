import type { Usage } from '../answer.ts'
import { minus, sum } from '../answer.ts'
import { numbersOf, type Directives } from '../directives.ts'
import type { Json } from '../prompt.ts'

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
