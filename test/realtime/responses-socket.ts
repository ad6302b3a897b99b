import { once } from 'node:events'
import { expect } from 'vitest'
import { WebSocket } from 'ws'
import { eventually } from '../relay/caller-dialects.ts'

export type Event = { type: string; response: { id: string; output: unknown[] } } & Record<string, unknown>

/** A socket as Codex opens it, with everything it was sent. */
export async function openResponses(key: string, at: { url: string }) {
  const socket = new WebSocket(`${at.url.replace('http', 'ws')}/v1/responses`, {
    headers: {
      authorization: `Bearer sk-${key}`,
      'openai-beta': 'responses_websockets=2026-02-06',
      'session-id': 's-1',
    },
  })
  const events: Event[] = []
  socket.on('message', (data: Buffer) => void events.push(JSON.parse(data.toString()) as Event))
  const closed = new Promise<number>((resolve) => socket.on('close', resolve))
  await once(socket, 'open')
  let read = 0
  return {
    socket,
    events,
    closed,
    create: (body: object) => socket.send(JSON.stringify({ type: 'response.create', ...body })),
    /** The end of the next response that nobody has asked for yet. */
    ended: async (): Promise<Event> => {
      const isEnd = ({ type }: Event) => /^(response\.(completed|incomplete|failed)|error)$/.test(type)
      const found = await eventually(
        () => events.slice(read).findIndex(isEnd),
        (index) => index >= 0,
      )
      read += found + 1
      return events[read - 1] as Event
    },
  }
}

export const says = (text: string) => [{ type: 'message', role: 'user', content: [{ type: 'input_text', text }] }]

/** By which clients know that they have to send everything again. */
export const unknownPrevious = (id: string) => ({
  type: 'error',
  status: 400,
  error: {
    type: 'invalid_request_error',
    code: 'previous_response_not_found',
    param: 'previous_response_id',
    message: expect.stringContaining(`Previous response with id '${id}' not found.`),
  },
})
