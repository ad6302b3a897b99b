import { createServer, type ServerResponse } from 'node:http'
import { listenLocally } from '#test/support/local-server.ts'

const event = (delta: unknown): string =>
  `data: ${JSON.stringify({ id: 'endless', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`

/** A provider that never stops sending, as fast as it is listened to, in pieces of 16 KB. */
export async function startEndlessUpstream() {
  const piece = event({ content: 'many words '.repeat(1500) })
  let open = 0
  let sentBytes = 0
  const answer = (response: ServerResponse): void => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(event({ role: 'assistant', content: '' }))
    const go = (): void => {
      do sentBytes += piece.length
      while (response.write(piece))
    }
    response.on('drain', go)
    go()
  }
  const server = createServer((request, response) => {
    request.resume()
    open += 1
    response.on('close', () => (open -= 1))
    answer(response)
  })
  return {
    ...(await listenLocally(server)),
    get open() {
      return open
    },
    get sentBytes() {
      return sentBytes
    },
  }
}
