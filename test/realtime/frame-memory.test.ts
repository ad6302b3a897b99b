import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'
import { expect, test } from 'vitest'
import { eventually } from '../relay/caller-dialects.ts'
import { converse, startRealtime } from './world.ts'

const megabyte = 1024 * 1024

const world = await startRealtime('', {
  BODY_MEMORY_MB: '24',
  BODY_MEMORY_PER_ADDRESS_MB: '16',
  BODY_MAX_MB: '8',
  BODY_WAIT_SECONDS: '1',
  BODY_IDLE_SECONDS: '3',
})

const heldBytes = () => world.app.services.bodies.budget.heldBytes
const untilHeld = (holds: (bytes: number) => boolean) => eventually(heldBytes, holds)

test('usual frames hold nothing of the memory for bodies', async () => {
  const session = await world.openSession()
  let most = 0
  session.socket.on('message', () => (most = Math.max(most, heldBytes())))
  session.say({ type: 'something.new', audio: 'x'.repeat(60_000) })
  await converse(session, 'Hello')
  expect(most).toBe(0)
  session.socket.close()
})

test('a large frame is held while it arrives, and given back when its session ends', async () => {
  const session = await world.openSession()
  await session.next('session.created')
  session.socket.send('x'.repeat(2 * megabyte), { fin: false })
  expect(await untilHeld((bytes) => bytes >= 4 * megabyte)).toBeGreaterThanOrEqual(4 * megabyte)
  session.socket.terminate()
  expect(await untilHeld((bytes) => bytes === 0)).toBe(0)
})

test('a large frame that was passed on is held no longer, and the session goes on', async () => {
  const session = await world.openSession()
  await session.next('session.created')
  session.say({ type: 'something.new', audio: 'x'.repeat(2 * megabyte) })
  await session.next('error')
  await converse(session, 'Hello')
  expect(await untilHeld((bytes) => bytes === 0)).toBe(0)
  session.socket.close()
})

test('sessions whose frames find no room are closed with the reason, and small frames are served on', async () => {
  const small = await world.openSession()
  const sessions = await Promise.all(Array.from({ length: 6 }, () => world.openSession()))
  for (const session of sessions) {
    await session.next('session.created')
    session.socket.send('x'.repeat(4 * megabyte), { fin: false })
  }
  await untilHeld((bytes) => bytes > 0)
  await expect
    .poll(() => sessions.filter(({ socket }) => socket.readyState === socket.CLOSED).length)
    .toBeGreaterThanOrEqual(4)
  expect(heldBytes()).toBeLessThanOrEqual(24 * megabyte)
  const [first] = await Promise.race(
    sessions.map(async (session) => [await session.next('error'), await session.closed] as const),
  )
  expect(String((first['error'] as { message: string }).message)).toMatch(/请求内容过多|上传过慢/)
  await converse(small, 'Hello')
  small.socket.close()
  for (const { socket } of sessions) socket.terminate()
  expect(await untilHeld((bytes) => bytes === 0)).toBe(0)
})

test('a frame that is begun and not gone on with ends its session', async () => {
  const session = await world.openSession()
  await session.next('session.created')
  session.socket.send('x'.repeat(megabyte), { fin: false })
  expect(await session.next('error')).toMatchObject({ error: { message: expect.stringContaining('上传过慢') } })
  expect(await session.closed).toMatchObject({ code: 1008 })
  expect(await untilHeld((bytes) => bytes === 0)).toBe(0)
})

test('a frame that an upstream has begun is held while it arrives, and a session that finds no room for it is ended', async () => {
  const model = 'gpt-4o-mini-realtime-preview'
  const upstreams: WebSocket[] = []
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  server.on('connection', (socket) => {
    upstreams.push(socket)
    socket.send(JSON.stringify({ type: 'session.created', session: {} }))
    socket.send('x'.repeat(3 * megabyte), { fin: false })
  })
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await world.app.make.channel({ models: model, baseUrl: `http://127.0.0.1:${port}` })
  await world.app.settled()
  const first = await world.openSession({ model })
  await first.next('session.created')
  expect(await untilHeld((bytes) => bytes >= 6 * megabyte)).toBeGreaterThanOrEqual(6 * megabyte)

  const more = await Promise.all(Array.from({ length: 4 }, () => world.openSession({ model })))
  const refused = await Promise.race(more.map((session) => session.next('error')))
  expect(String((refused['error'] as { message: string }).message)).toContain('请求内容过多')
  expect(heldBytes()).toBeLessThanOrEqual(24 * megabyte)
  for (const { socket } of [first, ...more]) socket.terminate()
  expect(await untilHeld((bytes) => bytes === 0)).toBe(0)
  for (const socket of upstreams) socket.terminate()
  server.close()
})

test('a frame of lists in lists is not read', async () => {
  const session = await world.openSession()
  await session.next('session.created')
  session.socket.send(`${'['.repeat(500_000)}${']'.repeat(500_000)}`)
  expect(await session.next('error')).toMatchObject({ error: { message: expect.stringContaining('无法解析') } })
  await session.closed
  expect(await untilHeld((bytes) => bytes === 0)).toBe(0)
})
