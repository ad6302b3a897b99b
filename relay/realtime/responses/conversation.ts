import { weighJson } from '#core/json-weight.ts'
import { type Json, recordsOf, textOf } from '#relay/providers/shared/json.ts'
import type { FrameMemory } from '../frame-memory.ts'

/**
 * What the latest response of a lane came to: its id, everything said until its end, what that went on from,
 * its length as text, and the memory it takes.
 */
type Turn = { id: string; items: unknown[]; from: Json; length: number; bytes: number }

/** What is stored and was named by the first of the calls: whose it is, is looked at whenever it is named again. */
function namedBy({ previous_response_id: previous, conversation }: Json): Json {
  if (typeof previous === 'string') return { previous_response_id: previous }
  return conversation === undefined || conversation === null ? {} : { conversation }
}

const asItems = (input: unknown): unknown[] =>
  typeof input === 'string'
    ? [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: input }] }]
    : Array.isArray(input)
      ? input
      : []

/** What nobody keeps cannot be named to an upstream, nor can reasoning be sent without what it is sealed in. */
const repeatable = (output: unknown): Json[] =>
  recordsOf(output)
    .filter((item) => item['type'] !== 'reasoning' || typeof item['encrypted_content'] === 'string')
    .map(({ id: _id, status: _status, ...item }) => item)

/** As many names as OpenAI takes on one socket, and what comes without one. */
const mostLanes = 33

/** What several responses on one socket belong to, each lane with a latest one of its own; null for what names none. */
export type Lane = string | null

/**
 * The latest response of each lane of a socket, which any next may go on from although nobody stores it: one that failed, that there is
 * no memory for, that is larger than any body may be, or whose lane is one too many, is forgotten, and its caller sends everything again.
 */
export function createConversation(memory: FrameMemory, largest: number) {
  /** The lane that has waited longest first. */
  const latest = new Map<Lane, Turn>()

  /** What is kept, and so much beside. */
  const hold = (more = 0): Promise<void> | undefined => {
    const all = [...latest.values()].reduce((sum, { bytes }) => sum + bytes, more)
    memory.lower(all)
    return memory.hold(all)
  }
  const forget = (lane: Lane): void => {
    latest.delete(lane)
    void hold()
  }
  /** The turn that a body goes on from, which may be of another lane. */
  const before = ({ previous_response_id: id }: Json): Turn | undefined =>
    [...latest.values()].find((turn) => turn.id === id)

  return {
    forget,
    /** The body with what was said before in it, where it goes on from a latest response; undefined where it does not. */
    goOn: (body: Json): Json | undefined => {
      const { previous_response_id: _previous, input, ...rest } = body
      const earlier = before(body)
      return earlier ? { ...earlier.from, ...rest, input: [...earlier.items, ...asItems(input)] } : undefined
    },
    /** Takes note of a response and of the body that asked for it, as its caller sent it: only what it adds is weighed. */
    remember: async (lane: Lane, asked: Json, response: Json): Promise<void> => {
      const earlier = before(asked)
      if (!earlier) forget(lane)
      const id = textOf(response['id'])
      if (id === undefined) return forget(lane)
      const added = [...asItems(asked['input']), ...repeatable(response['output'])]
      const from = earlier?.from ?? namedBy(asked)
      const text = Buffer.from(JSON.stringify([from, ...added]))
      const { problem, bytes: weight } = weighJson(text)
      const length = (earlier?.length ?? 0) + text.length
      const bytes = (earlier?.bytes ?? 0) + text.length + weight
      if (problem !== null || length > largest) return forget(lane)
      latest.delete(lane)
      const [waiting] = latest.keys()
      if (latest.size === mostLanes && waiting !== undefined) latest.delete(waiting)
      try {
        await hold(bytes)
        latest.set(lane, { id, items: [...(earlier?.items ?? []), ...added], from, length, bytes })
      } catch {
        forget(lane)
      }
    },
  }
}

export type Conversation = ReturnType<typeof createConversation>
