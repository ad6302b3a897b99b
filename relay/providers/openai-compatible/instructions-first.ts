import type { Message, TextPart } from '#relay/chat/request.ts'

const saysSomething = (part: TextPart): boolean => part.text.trim() !== ''

/**
 * One message of instructions in front of everything, for servers whose models know no other: "System message must be at the beginning.",
 * https://github.com/vllm-project/vllm/issues/41114. Later ones join the user's turn before them, or else the next one. In front, each new
 * one would change the beginning of the conversation, and nothing of it would be found in the server's cache any more.
 */
export function withInstructionsFirst(messages: readonly Message[]): Message[] {
  const found = messages.findIndex(({ role }) => role !== 'system')
  const begin = found < 0 ? messages.length : found
  const prompt = messages.slice(0, begin).flatMap((message) => (message.role === 'system' ? message.content : []))
  const turns: Message[] = prompt.length > 0 ? [{ role: 'system', content: prompt }] : []
  let waiting: TextPart[] = []
  for (const message of messages.slice(begin)) {
    const last = turns.at(-1)
    if (message.role !== 'system') {
      const joins = message.role === 'user' && waiting.length > 0
      turns.push(joins ? { ...message, content: [...message.content, ...waiting] } : message)
      if (joins) waiting = []
    } else if (last?.role === 'user') {
      turns[turns.length - 1] = { ...last, content: [...last.content, ...message.content.filter(saysSomething)] }
    } else waiting = [...waiting, ...message.content.filter(saysSomething)]
  }
  return waiting.length > 0 ? [...turns, { role: 'user', content: waiting }] : turns
}
