import type { ChatResponse } from './events.ts'

/** What of an answer has reached the caller: content, reasoning, tool names and arguments in one text. */
export type Delivered = {
  text: string
  toolCalls: number
  images?: number | undefined
  /** Characters of a very long answer that were delivered too and are counted like those of `text`. */
  droppedCharacters?: number | undefined
}

/** Everything a complete answer delivers, for counting. */
export function deliveredBy(response: ChatResponse): Delivered {
  const parts = response.choices.flatMap((choice) => choice.parts)
  const texts = parts.map((part) => {
    if (part.type === 'tool-call') return `${part.name}${part.arguments}`
    if (part.type === 'audio') return part.transcript
    return 'text' in part ? part.text : ''
  })
  return {
    text: texts.join(''),
    toolCalls: parts.filter((part) => part.type === 'tool-call').length,
    images: parts.filter((part) => part.type === 'image').length,
  }
}
