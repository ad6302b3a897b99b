import { createStored } from '../../lib/stored.ts'
import type { Message } from './reply.ts'
import { wireMessages } from './reply.ts'

export type Side = 'left' | 'right'

/** Of one reader: whoever signs in next on this machine sees none of it. */
type StoredConversations = { userId: number } & Record<Side, readonly Message[]>

/** Local storage is small, and old turns are sent with each new one. */
const mostMessages = 60
/** Of image data on each side, in characters; local storage has about five million for everything. */
const mostImageData = 1_500_000

/** What a reload would lose is left out: the raw events, and what a failure was beside its words. */
const toStored = (message: Message): unknown => {
  if (message.role !== 'assistant') return message
  const { error, request, ...reply } = message
  const failure = error instanceof Error ? error.message : error === undefined ? undefined : String(error)
  return {
    ...reply,
    // The other messages stand before the reply.
    request: { ...request, messages: request.messages.filter(({ role }) => role === 'system') },
    events: [],
    ...(failure !== undefined && { error: failure }),
  }
}

/** The newest images, as many as there is room for. */
function withinRoom(messages: readonly Message[]): Message[] {
  let room = mostImageData
  return messages
    .toReversed()
    .map((message) => {
      if (message.role !== 'user' || !message.images) return message
      const images = message.images.filter((image) => {
        room -= image.length
        return room >= 0
      })
      return { ...message, images }
    })
    .toReversed()
}

/** A reply that was still coming when the page was left ends where it was. */
function fromStored(message: Message, index: number, all: readonly Message[]): Message {
  if (message.role !== 'assistant') return message
  const system = message.request.messages.filter(({ role }) => role === 'system')
  const request = { ...message.request, messages: [...system, ...wireMessages('', all.slice(0, index))] }
  // An older console stored neither calls nor the reason of the end.
  const reply = { ...message, request, toolCalls: message.toolCalls ?? [], finishReason: message.finishReason ?? '' }
  const failed = typeof reply.error === 'string' ? { error: new Error(reply.error) } : {}
  const isOver = reply.status === 'complete' || reply.status === 'error'
  return { ...reply, ...failed, ...(isOver ? {} : { status: 'complete' as const, stopped: true }) }
}

const nothing: StoredConversations = { userId: 0, left: [], right: [] }

const storable = (messages: readonly Message[]): unknown[] => withinRoom(messages.slice(-mostMessages)).map(toStored)

export const formatConversations = (conversations: StoredConversations): string =>
  JSON.stringify({ ...conversations, left: storable(conversations.left), right: storable(conversations.right) })

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
