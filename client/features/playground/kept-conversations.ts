import { createStored } from '../../lib/stored.ts'
import type { Message } from './reply.ts'

export type Side = 'left' | 'right'

/** Of one reader: whoever signs in next on this machine sees none of it. */
type Kept = { userId: number } & Record<Side, readonly Message[]>

/** Local storage is small, and old turns are sent with each new one. */
const mostKept = 60

/** What a reload would lose is left out: the raw events, and what a failure was beside its words. */
const toKept = (message: Message): unknown => {
  if (message.role === 'user') return message
  const { error, ...reply } = message
  const failure = error instanceof Error ? error.message : error === undefined ? undefined : String(error)
  return { ...reply, events: [], ...(failure !== undefined && { error: failure }) }
}

/** A reply that was still coming when the page was left ends where it was. */
function fromKept(message: Message): Message {
  if (message.role === 'user') return message
  const failed = typeof message.error === 'string' ? { error: new Error(message.error) } : {}
  const isOver = message.status === 'complete' || message.status === 'error'
  return { ...message, ...failed, ...(isOver ? {} : { status: 'complete' as const, stopped: true }) }
}

const nothing: Kept = { userId: 0, left: [], right: [] }

export const formatKept = (kept: Kept): string =>
  JSON.stringify({
    ...kept,
    left: kept.left.slice(-mostKept).map(toKept),
    right: kept.right.slice(-mostKept).map(toKept),
  })

export function parseKept(text: string): Kept {
  const { userId, left, right } = { ...nothing, ...(JSON.parse(text) as Partial<Kept>) }
  return { userId, left: left.map(fromKept), right: right.map(fromKept) }
}

const stored = createStored<Kept>('playground-conversations', {
  parse: parseKept,
  format: formatKept,
  fallback: nothing,
})

export function keptMessages(userId: number, side: Side): readonly Message[] {
  const kept = stored.get()
  return kept.userId === userId ? kept[side] : []
}

export function keepMessages(userId: number, side: Side, messages: readonly Message[]): void {
  const kept = stored.get()
  stored.set({ ...(kept.userId === userId ? kept : nothing), userId, [side]: messages })
}
