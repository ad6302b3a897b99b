import { createServer, type IncomingMessage } from 'node:http'
import { listenLocally } from './local-server.ts'

export type Received = { path: string; headers: IncomingMessage['headers']; text: string }
export type Reply = { status?: number; headers?: Record<string, string>; body?: unknown; delayMs?: number }

/** A web server of this machine that keeps what it is sent and answers as the test says. */
export async function startReceiver(answer: (received: Received) => Reply = () => ({})) {
  const received: Received[] = []
  const state = { answer }
  let over = 0
  const server = createServer((req, res) => {
    const chunks: Buffer[] = []
    req.on('data', (chunk: Buffer) => chunks.push(chunk))
    req.on('end', () => {
      const one = { path: req.url ?? '', headers: req.headers, text: Buffer.concat(chunks).toString() }
      received.push(one)
      res.on('close', () => (over += 1))
      const { status = 200, headers = {}, body = {}, delayMs = 0 } = state.answer(one)
      setTimeout(() => {
        res.writeHead(status, { 'content-type': 'application/json', ...headers })
        res.end(JSON.stringify(body))
      }, delayMs)
    })
  })
  return {
    ...(await listenLocally(server)),
    received,
    /** How many of them have their answer, or wait for it no longer. */
    over: () => over,
    answerWith: (next: typeof answer) => {
      state.answer = next
    },
  }
}

export type Receiver = Awaited<ReturnType<typeof startReceiver>>

/** The least that an upstream of OpenAI's form answers a test of a channel with. */
export const completion = {
  id: 'c',
  object: 'chat.completion',
  model: 'gpt-4o-mini',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 8, completion_tokens: 2, total_tokens: 10 },
}
