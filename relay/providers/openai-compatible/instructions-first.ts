import type { Message, TextPart } from '#relay/chat/request.ts'
import { placeInstructions } from '../shared/later-instructions.ts'

type UserMessage = Extract<Message, { role: 'user' }>

const form = {
  isInstruction: ({ role }: Message) => role === 'system',
  isUser: ({ role }: Message) => role === 'user',
  partsOf: ({ content }: Message): TextPart[] => (content as TextPart[]).filter((part) => part.text.trim() !== ''),
  userTurn: (parts: readonly TextPart[], before?: Message): Message => ({
    ...(before as UserMessage | undefined),
    role: 'user',
    content: [...((before as UserMessage | undefined)?.content ?? []), ...parts],
  }),
}

/**
 * One message of instructions in front of everything, for servers whose models know no other: "System message must be at the beginning.",
 * https://github.com/vllm-project/vllm/issues/41114.
 */
export function withInstructionsFirst(messages: readonly Message[]): Message[] {
  const { prompt, turns } = placeInstructions(messages, form)
  const content = prompt.flatMap((message) => (message.role === 'system' ? message.content : []))
  return content.length > 0 ? [{ role: 'system', content }, ...turns] : turns
}
