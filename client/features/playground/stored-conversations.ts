import { perReader, readerKey } from '../../lib/reader-storage.ts'
import { createStored } from '../../lib/stored.ts'
import type { Message } from './reply.ts'
import { wireMessages } from './reply.ts'

export type Side = 'left' | 'right'

/** One conversation of a reader, with a second model beside it or without. */
export type StoredConversation = {
  id: string
  /** Empty: it is called by its first words. */
  name: string
  /** Milliseconds since 1970. */
  changedAt: number
  model: string
  beside: string
} & Record<Side, readonly Message[]>

/** Old turns are sent with each new one. */
const mostMessages = 60
/** Of image data on each side, in characters. */
const mostImageData = 1_000_000
export const mostConversations = 50
/** Of one reader, in characters; local storage has about five million for everything. */
const mostCharacters = 2_500_000

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

/** A reply that was still coming when its conversation was left ends where it was. */
function ended(message: Message): Message {
  if (message.role !== 'assistant' || message.status === 'complete' || message.status === 'error') return message
  return { ...message, status: 'complete', stopped: true }
}

function fromStored(message: Message, index: number, all: readonly Message[]): Message {
  if (message.role !== 'assistant') return message
  const system = message.request.messages.filter(({ role }) => role === 'system')
  const request = { ...message.request, messages: [...system, ...wireMessages('', all.slice(0, index))] }
  // An older console stored neither calls nor the reason of the end.
  const reply = { ...message, request, toolCalls: message.toolCalls ?? [], finishReason: message.finishReason ?? '' }
  const failed = typeof reply.error === 'string' ? { error: new Error(reply.error) } : {}
  return ended({ ...reply, ...failed })
}

/** The newest, from where the reader said something: a result without its call, or a reply to nothing, makes the next call invalid. */
function newest(messages: readonly Message[]): readonly Message[] {
  if (messages.length <= mostMessages) return messages
  const latest = messages.slice(-mostMessages)
  const first = latest.findIndex(({ role }) => role === 'user')
  return first < 0 ? latest : latest.slice(first)
}

const storable = (messages: readonly Message[]): unknown[] => withinRoom(newest(messages)).map(toStored)

const storableConversation = (one: StoredConversation): unknown => ({
  ...one,
  left: storable(one.left),
  right: storable(one.right),
})

const withoutImages = (messages: readonly Message[]): Message[] =>
  messages.map((message) => (message.role === 'user' && message.images ? { ...message, images: [] } : message))

const sizeOf = (one: StoredConversation): number => JSON.stringify(storableConversation(one)).length

/** The newest first, as many as there is room for; older ones lose their images before they go. */
export function withinLimits(conversations: readonly StoredConversation[]): StoredConversation[] {
  let room = mostCharacters
  return conversations
    .toSorted((one, other) => other.changedAt - one.changedAt)
    .slice(0, mostConversations)
    .flatMap((one, index) => {
      const lean = { ...one, left: withoutImages(one.left), right: withoutImages(one.right) }
      const fitting = [one, lean].find((form) => index === 0 || sizeOf(form) <= room)
      if (fitting) room -= sizeOf(fitting)
      return fitting ?? []
    })
}

export const formatConversations = (conversations: readonly StoredConversation[]): string =>
  JSON.stringify(conversations.map(storableConversation))

export const parseConversations = (text: string): StoredConversation[] =>
  (JSON.parse(text) as StoredConversation[]).map((one) => ({
    ...one,
    left: one.left.map(fromStored),
    right: one.right.map(fromStored),
  }))

type Earlier = { userId: number; left: readonly Message[]; right: readonly Message[] }

/** An older console stored one conversation, of one reader. */
const earlier = createStored<Earlier | null>('playground-conversations', {
  parse: (text) => JSON.parse(text) as Earlier,
  format: (value) => value && JSON.stringify(value),
  fallback: null,
})

/** The model of the latest reply. */
const modelOf = (messages: readonly Message[]): string =>
  messages.flatMap((message) => (message.role === 'assistant' ? [message.model] : [])).at(-1) ?? ''

export function fromEarlier(stored: Earlier | null, userId: number): StoredConversation[] {
  if (stored?.userId !== userId) return []
  const [left, right] = [stored.left.map(fromStored), stored.right.map(fromStored)]
  if (left.length + right.length === 0) return []
  return [{ id: 'earlier', name: '', changedAt: 0, model: modelOf(left), beside: modelOf(right), left, right }]
}

/** A reader's own: whoever signs in next on this machine sees none of them. */
export const conversationsOf = perReader((userId) =>
  createStored<readonly StoredConversation[]>(readerKey('playground-conversations', userId), {
    parse: parseConversations,
    format: formatConversations,
    fallback: fromEarlier(earlier.get(), userId),
  }),
)

function write(userId: number, conversations: readonly StoredConversation[]): void {
  conversationsOf(userId).set(withinLimits(conversations))
  if (earlier.get()?.userId === userId) earlier.set(null)
}

/** What was removed is not brought back by a reply that was still coming. */
const removed = new Set<string>()

const find = (userId: number, id: string): StoredConversation | undefined =>
  conversationsOf(userId)
    .get()
    .find((one) => one.id === id)

const none: readonly Message[] = []

/** What this page last read or wrote of each side. */
const known = new Map<string, readonly Message[]>()
const sideOf = (userId: number, id: string, side: Side): string => `${userId} ${id} ${side}`

/** Conversations that another tab went on with while a reply came here: what was said here stands under an id of its own. */
const apart = new Map<string, string>()

/** What was said in it, to go on with. */
export function storedMessages(userId: number, id: string, side: Side): readonly Message[] {
  removed.delete(id)
  apart.delete(id)
  const messages = find(userId, id)?.[side] ?? none
  known.set(sideOf(userId, id, side), messages)
  return messages
}

const isOther = (one: readonly Message[], other: readonly Message[]): boolean => {
  const text = (given: readonly Message[]) => JSON.stringify(storable(given.map(ended)))
  return one !== other && text(one) !== text(other)
}

/** Whether another tab has gone on with it. */
export function isChangedElsewhere(userId: number, { id, side, messages }: Omit<Change, 'model'>): boolean {
  const stored = find(userId, id)?.[side]
  return !apart.has(id) && stored !== undefined && isOther(stored, messages)
}

type Change = { id: string; side: Side; model: string; messages: readonly Message[] }

/** Whether another tab has added what this page does not know of; images may have been dropped for room. */
function isAddedElsewhere(userId: number, { id, side }: Pick<Change, 'id' | 'side'>): boolean {
  const stored = find(userId, id)?.[side] ?? none
  const read = known.get(sideOf(userId, id, side)) ?? none
  return stored.length > 0 && isOther(withoutImages(stored), withoutImages(read))
}

/**
 * A conversation is there from its first message on; without messages and a name of its own it is gone. A side that nothing was
 * added to on this page is left as it is: another tab may have gone on with it, or removed it. Where both have gone on with it
 * neither replaces what the other was answered.
 */
export function keepMessages(userId: number, { id: shown, side, model, messages }: Change): void {
  if (removed.has(shown) || known.get(sideOf(userId, shown, side)) === messages) return
  if (!apart.has(shown) && isAddedElsewhere(userId, { id: shown, side }))
    apart.set(shown, `${shown}-${Date.now().toString(36)}`)
  const id = apart.get(shown) ?? shown
  const before = find(userId, id)
  if (!before && messages.length === 0) return
  known.set(sideOf(userId, shown, side), messages)
  const blank: StoredConversation = { id, name: '', changedAt: 0, model: '', beside: '', left: [], right: [] }
  const changed: StoredConversation = {
    ...(before ?? blank),
    changedAt: Date.now(),
    [side === 'left' ? 'model' : 'beside']: model,
    [side]: messages.map(ended),
  }
  const isEmpty = changed.left.length + changed.right.length === 0 && changed.name === ''
  const others = conversationsOf(userId)
    .get()
    .filter((one) => one.id !== id)
  write(userId, isEmpty ? others : [changed, ...others])
}

export function renameConversation(userId: number, id: string, name: string): void {
  write(
    userId,
    conversationsOf(userId)
      .get()
      .map((one) => (one.id === id ? { ...one, name: name.trim().slice(0, longestName) } : one)),
  )
}

export function removeConversation(userId: number, id: string): void {
  removed.add(id)
  write(
    userId,
    conversationsOf(userId)
      .get()
      .filter((one) => one.id !== id),
  )
}

export const longestName = 100
const longestShown = 60

/** Its own name, or the first words that were said in it. */
export function conversationName({ name, left, right }: StoredConversation): string {
  const first = [...left, ...right].find((message) => message.role === 'user' && message.content.trim() !== '')
  return name || (first?.content.trim().replace(/\s+/g, ' ').slice(0, longestShown) ?? '')
}

/** Those with these words in their name or in what was said, in small or capital letters. */
export function findConversations(
  conversations: readonly StoredConversation[],
  keyword: string,
): readonly StoredConversation[] {
  const sought = keyword.trim().toLowerCase()
  if (sought === '') return conversations
  return conversations.filter((one) =>
    [one.name, ...[...one.left, ...one.right].map(({ content }) => content)].some((words) =>
      words.toLowerCase().includes(sought),
    ),
  )
}

const headings = { user: 'User', tool: 'Tool' }

const spoken = (message: Message): string => {
  const heading = message.role === 'assistant' ? message.model : headings[message.role]
  const images = message.role === 'user' ? (message.images ?? []).map((_, index) => `[image ${index + 1}]`) : []
  const calls =
    message.role === 'assistant'
      ? message.toolCalls.map(({ name, arguments: given }) => `\`\`\`json\n${name}(${given})\n\`\`\``)
      : []
  return [`## ${heading}`, ...images, ...(message.content === '' ? [] : [message.content]), ...calls].join('\n\n')
}

/** To read elsewhere; a second model's side follows the first. */
export const conversationText = (one: StoredConversation): string =>
  `${[`# ${conversationName(one)}`, ...[one.left, one.right].flatMap((side) => side.map(spoken))].join('\n\n')}\n`
