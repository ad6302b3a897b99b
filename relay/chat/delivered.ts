import type { ChatEvent, ChatResponse, ResponsePart } from './events.ts'

/** What of an answer has reached the caller: content, reasoning, tool names and arguments in one text. */
export type Delivered = {
  text: string
  toolCalls: number
  images?: number | undefined
  /** Sound was delivered, with its words in `text` or without any. */
  hasAudio?: boolean | undefined
  /** Characters of a very long answer that were delivered too and are counted like those of `text`. */
  droppedCharacters?: number | undefined
  /** What is said to the reader alone, without reasoning and tool calls, of several answers one after another; where it is not `text`. */
  reply?: string | undefined
}

/** Nothing but blanks. */
export const isNothing = ({ text, toolCalls, images = 0, hasAudio = false }: Delivered): boolean =>
  text.trim() === '' && toolCalls === 0 && images === 0 && !hasAudio

const joined = (replies: Iterable<string>): string => [...replies].filter((reply) => reply !== '').join('\n\n')

/** More of a reply is stored nowhere. */
const replyCharacters = 65_536

/** Gathers the reply of a stream. */
export function createReply() {
  const replies = new Map<number, string>()
  let room = replyCharacters
  return {
    note: (event: ChatEvent): void => {
      if (event.type !== 'text-delta' && event.type !== 'refusal-delta' && event.type !== 'audio-delta') return
      const text = event.type === 'audio-delta' ? (event.transcript ?? '') : event.text
      if (room <= 0 || text === '') return
      room -= text.length
      const choice = event.choice ?? 0
      replies.set(choice, (replies.get(choice) ?? '') + text)
    },
    /** The reply, where it is another than the text of all that was delivered. */
    beside: (text: string): { reply?: string } => {
      const reply = joined(replies.values())
      return reply === text ? {} : { reply }
    },
  }
}

function textOf(part: ResponsePart): string {
  if (part.type === 'tool-call') return `${part.name}${part.arguments}`
  if (part.type === 'audio') return part.transcript
  return 'text' in part ? part.text : ''
}

const isReply = ({ type }: ResponsePart): boolean => type !== 'tool-call' && type !== 'reasoning'

/** Everything a complete answer delivers, for counting. */
export function deliveredBy(response: ChatResponse): Delivered {
  const parts = response.choices.flatMap((choice) => choice.parts)
  const text = parts.map(textOf).join('')
  const reply = joined(response.choices.map((choice) => choice.parts.filter(isReply).map(textOf).join('')))
  return {
    text,
    toolCalls: parts.filter((part) => part.type === 'tool-call').length,
    images: parts.filter((part) => part.type === 'image').length,
    ...(parts.some((part) => part.type === 'audio') ? { hasAudio: true } : {}),
    ...(reply === text ? {} : { reply }),
  }
}
