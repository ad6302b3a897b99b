import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { afterAll, afterEach, expect, test, vi } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { createTransport, type SendRequest } from '#relay/transport/send.ts'

let serve: (socket: WebSocket, message: string) => void

const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
server.on('connection', (socket) => {
  socket.on('error', () => {})
  socket.on('message', (data: Buffer) => serve(socket, data.toString()))
})
await once(server, 'listening')
const transport = createTransport()
afterEach(() => {
  for (const socket of server.clients) socket.terminate()
})
afterAll(async () => {
  await transport.close()
  await new Promise((resolve) => server.close(resolve))
})

const send = (changes: Partial<SendRequest> = {}) => {
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/v1.1/chat`
  return transport.send({ method: 'POST', url, headers: {}, body: '{"asked":1}', ...changes })
}
const closed = async () => await expect.poll(() => server.clients.size).toBe(0)

test('each frame is a line of the answer, which ends when the upstream closes', async () => {
  serve = (socket, message) => {
    socket.send(message)
    socket.send('{\n "a":\r\n 1\n}')
    socket.close(1000)
  }
  const reply = await send()
  expect(reply).toMatchObject({ status: 200, headers: { 'content-type': 'application/x-ndjson' } })
  const lines = (await reply.text()).trimEnd().split('\n')
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([{ asked: 1 }, { a: 1 }])
})

test('a last frame ends the answer and closes a socket that its upstream leaves open', async () => {
  serve = (socket) => {
    socket.send('1')
    socket.send('last')
    socket.send('3')
  }
  const reply = await send({ isLastFrame: (text) => text === 'last' })
  expect(await reply.text()).toBe('1\nlast\n')
  await closed()
})

test('a socket that breaks without a close frame is an answer that broke', async () => {
  serve = (socket) => socket.send('1', () => socket.terminate())
  const reply = await send()
  await expect(reply.text()).rejects.toMatchObject({ kind: 'reset', sent: true })
})

test('silence before and inside an answer has its limits', async () => {
  serve = () => {}
  // On a slow machine the time may be over with the handshake.
  const answer = (changes: Partial<SendRequest>) => send(changes).then((reply) => reply.text())
  await expect(answer({ firstByteTimeoutMs: 50 })).rejects.toMatchObject({ kind: 'timeout-first-byte' })
  serve = (socket) => socket.send('1')
  await expect(answer({ idleTimeoutMs: 50 })).rejects.toMatchObject({ kind: 'timeout-idle' })
  await closed()
})

test('whoever leaves or aborts closes the socket', async () => {
  serve = (socket) => socket.send('1')
  const left = await send()
  for await (const chunk of left.body) {
    expect(Buffer.from(chunk).toString()).toBe('1\n')
    break
  }
  await closed()
  const controller = new AbortController()
  const aborted = await send({ signal: controller.signal })
  controller.abort()
  await expect(aborted.text()).rejects.toMatchObject({ kind: 'aborted', sent: true })
  await closed()
})

test('an answer that nobody reads does not pile up, and is whole when it is read', async () => {
  const frame = 'x'.repeat(65_536)
  const count = 640
  let written = 0
  serve = (socket) => {
    for (let sent = 0; sent < count; sent += 1) {
      socket.send(frame, () => {
        written += 1
        if (written === count) socket.close(1000)
      })
    }
  }
  const reply = await send()
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect(written).toBeLessThan(count / 2)
  expect((await reply.bytes()).length).toBe(count * (frame.length + 1))
})

const turn = () => new Promise((resolve) => setImmediate(resolve))

test('time in which we ourselves do not read is no silence of the upstream', async () => {
  const pause = vi.spyOn(WebSocket.prototype, 'pause')
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const frame = 'x'.repeat(65_536)
    serve = (socket) => {
      for (let sent = 0; sent < 9; sent += 1) socket.send(frame)
      socket.close(1000)
    }
    const reply = await send({ idleTimeoutMs: 10_000 })
    // The first time was before anybody listened.
    while (pause.mock.calls.length < 2) await turn()
    vi.advanceTimersByTime(10_000)
    await turn()
    expect((await reply.bytes()).length).toBe(9 * (frame.length + 1))
  } finally {
    vi.useRealTimers()
    pause.mockRestore()
  }
})

test('whoever leaves while a proxy does not answer ends the connection, and leaves no error that nobody catches', async () => {
  const silent = createServer().listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const uncaught: unknown[] = []
  const note = (error: unknown): unknown => uncaught.push(error)
  process.prependListener('uncaughtException', note)
  const gone = new AbortController()
  const proxy = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
  const reply = send({ proxy, signal: gone.signal }).catch((error: unknown) => error)
  const [socket] = (await once(silent, 'connection')) as [Socket]
  await once(
    socket.on('error', () => {}),
    'data',
  )
  const closing = once(socket, 'close')
  gone.abort()
  expect(await reply).toMatchObject({ kind: 'aborted' })
  await closing
  process.off('uncaughtException', note)
  silent.close()
  expect(uncaught).toEqual([])
})

test('a refused handshake is an answer with its own status', async () => {
  const refusing = new WebSocketServer({
    port: 0,
    host: '127.0.0.1',
    verifyClient: (_: unknown, answer: (taken: boolean, status: number, message: string) => void) =>
      answer(false, 403, 'skewed clock'),
  })
  await once(refusing, 'listening')
  const url = `ws://127.0.0.1:${(refusing.address() as AddressInfo).port}/`
  const reply = await send({ url })
  expect(reply.status).toBe(403)
  expect(await reply.text()).toBe('skewed clock')
  await new Promise((resolve) => refusing.close(resolve))
  await expect(send({ url })).rejects.toMatchObject({ kind: 'connect', sent: false })
  await expect(send({ url: 'ws://169.254.169.254/' })).rejects.toMatchObject({ kind: 'bad-url' })
})
