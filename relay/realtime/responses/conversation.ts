import { type Json, recordsOf, textOf } from '#relay/providers/shared/json.ts'
import type { FrameMemory } from '../frame-memory.ts'

/** What the latest response of a socket came to: its id, and everything said until its end. */
type Turn = { id: string; items: unknown[] }

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

/**
 * The latest response of a socket, which the next may go on from although nobody stores it: one that failed, or that there is
 * no memory for, is forgotten, and its caller sends everything again.
 */
export function createConversation(memory: FrameMemory) {
  let last: Turn | null = null

  const forget = (): void => {
    last = null
    void memory.hold(0)
  }
  return {
    forget,
    /** The body with what was said before in it, where it goes on from the latest response; undefined where it does not. */
    goOn: (body: Json): Json | undefined => {
      const { previous_response_id: previous, input, ...rest } = body
      return last !== null && previous === last.id ? { ...rest, input: [...last.items, ...asItems(input)] } : undefined
    },
    remember: async (body: Json, response: Json): Promise<void> => {
      const id = textOf(response['id'])
      const items = [...asItems(body['input']), ...repeatable(response['output'])]
      forget()
      if (id === undefined) return
      try {
        await memory.hold(Buffer.byteLength(JSON.stringify(items)))
        last = { id, items }
      } catch {
        forget()
      }
    },
  }
}

export type Conversation = ReturnType<typeof createConversation>
