import { connect, type Socket } from 'node:net'
import { afterAll, expect, test } from 'vitest'
import { startProduct, until } from '../support/processes.ts'
import { chargeViolations, untilNothingIsHeld } from './ledger-check.ts'
import { startEndlessUpstream } from './endless-upstream.ts'
import { callOnce, untilStreamed } from './traffic.ts'
import { createWorld, long } from './world.ts'

const world = await createWorld()
await world.make.channel()
const token = await world.make.token(await world.make.user({ quota: 1_000_000_000 }))
// What is held without bound ends the process.
const environment = { ...world.environment, WORKERS: '1', NODE_OPTIONS: '--max-old-space-size=320' }
const product = await startProduct({ environment, isPatient: true })
afterAll(async () => {
  await product.killAll()
  await world[Symbol.asyncDispose]()
})

const megabyte = 1024 * 1024

const open = async (): Promise<Socket> => {
  const { hostname, port } = new URL(product.url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  await new Promise((resolve) => socket.once('connect', resolve))
  return socket
}

/** Asks for a stream that does not end and reads nothing of it. */
async function neverReading(model = 'endless'): Promise<Socket> {
  const socket = await open()
  socket.pause()
  const body = JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: 'tell' }] })
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer sk-${token.key}\r\n` +
      `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
  return socket
}

/** Reads so many bytes and stops. */
const readSome = (socket: Socket, wanted: number): Promise<void> =>
  new Promise((resolve) => {
    let read = 0
    socket.on('data', (chunk: Buffer) => {
      read += chunk.length
      if (read < wanted) return
      socket.pause()
      resolve()
    })
    socket.resume()
  })

/** Waits until a number that has passed its least stands still for two seconds. */
async function standingStill(read: () => number, least: number): Promise<number> {
  let last = -1
  let stills = 0
  await until(
    () => {
      const before = last
      last = read()
      stills = last === before ? stills + 1 : 0
      return last > least && stills >= 4
    },
    { what: 'it does not stand still', everyMs: 500 },
  )
  return last
}

// Both wait for most of their time.
test.concurrent('callers that do not read pause their upstreams, take bounded memory and delay no other caller', async () => {
  await using endless = await startEndlessUpstream()
  await world.make.channel({ models: 'endless', baseUrl: endless.url })
  await world.make.option('ModelRatio', JSON.stringify({ endless: 1, 'gpt-4o-mini': 0.075 }))
  await untilStreamed(product.url, token, 'endless')
  await until(() => endless.open === 0, { what: 'the first stream goes on' })
  const before = endless.sentBytes
  // Warm: code that is loaded with the first call does not count.
  await Promise.all(Array.from({ length: 20 }, () => callOnce(product.url, token, { kind: 'stream' })))
  const readers = 10
  const sockets = await Promise.all(Array.from({ length: readers }, () => neverReading()))
  await until(() => endless.open === readers, { what: 'the streams do not begin' })
  // What was sent and not read lies in the system's buffers, on both sides of us.
  const sent = await standingStill(() => endless.sentBytes - before, readers * megabyte)
  expect(sent).toBeLessThan(readers * 25 * megabyte)

  // Together they read more than the process may hold, and stop again.
  await Promise.all(sockets.map((socket) => readSome(socket, 40 * megabyte)))
  await standingStill(() => endless.sentBytes - before, readers * 40 * megabyte)
  const startedAt = performance.now()
  expect((await callOnce(product.url, token, { kind: 'plain' })).complete).toBe(true)
  expect(performance.now() - startedAt).toBeLessThan(60_000)
  expect(endless.open).toBe(readers)

  for (const socket of sockets) socket.destroy()
  await until(() => endless.open === 0, { what: 'upstreams go on for nobody' })
  await untilNothingIsHeld(world.pool)
  const { rows } = await world.pool.query("select quota::int from logs where other ->> 'end' = 'hung-up'")
  // And the first, which was left.
  expect(rows).toHaveLength(readers + 1)
  expect(rows.every(({ quota }) => quota > 0)).toBe(true)
  expect(await chargeViolations(world.pool, [])).toEqual([])
})

test.concurrent('hundreds of connections that send their headers by the byte are closed in time, and others are served meanwhile', async () => {
  const count = long ? 2000 : 500
  const sockets = await Promise.all(Array.from({ length: count }, open))
  let closed = 0
  for (const socket of sockets) {
    socket.on('close', () => (closed += 1)).resume()
    socket.write('POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nx-slow: ')
  }
  const dripping = setInterval(() => {
    for (const socket of sockets) if (socket.writable) socket.write('a')
  }, 1000)
  try {
    const startedAt = performance.now()
    expect((await callOnce(product.url, token, { kind: 'stream' })).complete).toBe(true)
    expect(performance.now() - startedAt).toBeLessThan(60_000)
    await until(() => closed === count, { what: () => `${count - closed} of ${count} are still open` })
  } finally {
    clearInterval(dripping)
    for (const socket of sockets) socket.destroy()
  }
  expect((await callOnce(product.url, token, { kind: 'plain' })).complete).toBe(true)
})

test.runIf(long)(
  'a caller that takes nothing is dropped after two minutes, or four where a part of the last write was taken',
  { timeout: 400_000 },
  async () => {
    await using endless = await startEndlessUpstream()
    const model = 'endless-too'
    await world.make.channel({ models: model, baseUrl: endless.url })
    await world.make.option('ModelRatio', JSON.stringify({ [model]: 1, 'gpt-4o-mini': 0.075 }))
    await untilStreamed(product.url, token, model)
    await until(() => endless.open === 0, { what: 'the first stream goes on' })
    const socket = await neverReading(model)
    await until(() => endless.open === 1, { what: 'the stream does not begin' })
    await until(() => endless.open === 0, { seconds: 300, what: 'it is kept for ever' })
    socket.destroy()
  },
)
