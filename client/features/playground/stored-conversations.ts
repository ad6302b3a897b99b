import { createStored } from '../../lib/stored.ts'
import type { Message } from './reply.ts'

export type Side = 'left' | 'right'

/** Of one reader: whoever signs in next on this machine sees none of it. */
type StoredConversations = { userId: number } & Record<Side, readonly Message[]>

/** Local storage is small, and old turns are sent with each new one. */
const mostMessages = 60

/** What a reload would lose is left out: the raw events, and what a failure was beside its words. */
const toStored = (message: Message): unknown => {
  if (message.role === 'user') return message
  const { error, ...reply } = message
  const failure = error instanceof Error ? error.message : error === undefined ? undefined : String(error)
  return { ...reply, events: [], ...(failure !== undefined && { error: failure }) }
}

/** A reply that was still coming when the page was left ends where it was. */
function fromStored(message: Message): Message {
  if (message.role === 'user') return message
  const failed = typeof message.error === 'string' ? { error: new Error(message.error) } : {}
  const isOver = message.status === 'complete' || message.status === 'error'
  return { ...message, ...failed, ...(isOver ? {} : { status: 'complete' as const, stopped: true }) }
}

const nothing: StoredConversations = { userId: 0, left: [], right: [] }

export const formatConversations = (conversations: StoredConversations): string =>
  JSON.stringify({
    ...conversations,
    left: conversations.left.slice(-mostMessages).map(toStored),
    right: conversations.right.slice(-mostMessages).map(toStored),
  })

export function parseConversations(text: string): StoredConversations {
  const { userId, left, right } = { ...nothing, ...(JSON.parse(text) as Partial<StoredConversations>) }
  return { userId, left: left.map(fromStored), right: right.map(fromStored) }
}

const stored = createStored<StoredConversations>('playground-conversations', {
  parse: parseConversations,
  format: formatConversations,
  fallback: nothing,
})

export function storedMessages(userId: number, side: Side): readonly Message[] {
  const conversations = stored.get()
  return conversations.userId === userId ? conversations[side] : []
}

export function keepMessages(userId: number, side: Side, messages: readonly Message[]): void {
  const conversations = stored.get()
  stored.set({ ...(conversations.userId === userId ? conversations : nothing), userId, [side]: messages })
}
