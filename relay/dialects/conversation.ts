import type { Message, ToolResultPart, UserPart } from '#relay/chat/request.ts'
import { defined, type Reader } from './read.ts'

/** What reading messages one by one remembers between them. */
export type Conversation = {
  read: Reader
  messages: Message[]
  /** Names of the tools that were called, by call id. */
  names: Map<string, string>
  /** The last message is one of tool results, which a directly following user message joins. */
  openResults: boolean
  losses: Set<string>
}

export const startConversation = (read: Reader): Conversation => ({
  read,
  messages: [],
  names: new Map(),
  openResults: false,
  losses: new Set(),
})

/** The user message that tool results have begun. */
const openMessage = ({ openResults, messages }: Conversation) => {
  const last = messages.at(-1)
  return openResults && last?.role === 'user' ? last : undefined
}

export function addUserMessage(conversation: Conversation, content: UserPart[], name?: string): void {
  const open = openMessage(conversation)
  if (open) {
    // Of hundreds of thousands of parts no call could take each as an argument of its own.
    for (const part of content) open.content.push(part)
    if (name !== undefined) open.name = name
  } else conversation.messages.push(defined({ role: 'user', content, name }))
  conversation.openResults = false
}

export function addToolResult(conversation: Conversation, result: ToolResultPart): void {
  const open = openMessage(conversation)
  if (open) open.content.push(result)
  else conversation.messages.push({ role: 'user', content: [result] })
  conversation.openResults = true
}
