import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Received = { path: string; headers: IncomingMessage['headers']; text: string }
export type Reply = { status?: number; headers?: Record<string, string>; body?: unknown; delayMs?: number }

/** A web server of this machine that keeps what it is sent and answers as the test says. */
export async function startReceiver(answer: (received: Received) => Reply = () => ({})) {
  const received: Received[] = []
  const state = { answer }
  const server = createServer((req, res) => {
    const chunks: Buffer[] = []
    req.on('data', (chunk: Buffer) => chunks.push(chunk))
    req.on('end', () => {
      const one = { path: req.url ?? '', headers: req.headers, text: Buffer.concat(chunks).toString() }
      received.push(one)
      const { status = 200, headers = {}, body = {}, delayMs = 0 } = state.answer(one)
      setTimeout(() => {
        res.writeHead(status, { 'content-type': 'application/json', ...headers })
        res.end(JSON.stringify(body))
      }, delayMs)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    answerWith: (next: typeof answer) => {
      state.answer = next
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

export type Receiver = Awaited<ReturnType<typeof startReceiver>>
