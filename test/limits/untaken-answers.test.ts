import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { type AddressInfo, connect, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import express from 'express'
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { endUntakenAnswers } from '#features/request-bodies/untaken-answers.ts'
import { serverOptions } from '#server/serve.ts'
import { json, type Play } from '#test/support/scripted-upstream.ts'
import { chat, openHolds } from '../relay/caller-dialects.ts'
import { startScriptedRelay } from '../relay/relay-world.ts'
import { serve, setOptions } from '../relay/serve.ts'

const { app, scripted, token } = await startScriptedRelay({ options: { RetryTimes: '0' } })

/** The two minutes after which a connection that takes nothing is given up are these here. */
let stallMs: number
const watch = Reflect.get(Socket.prototype, 'setTimeout') as (
  this: Socket,
  ms: number,
  onTimeout?: () => void,
) => Socket
/** The gateway's ends of its connections, by the port of the other end. */
let watched: Map<number | undefined, Socket>
beforeEach(() => {
  watched = new Map()
  stallMs = 2000
  vi.spyOn(Socket.prototype, 'setTimeout').mockImplementation(function noted(this: Socket, ms, onTimeout) {
    if (ms !== 120_000) return watch.call(this, ms, onTimeout)
    watched.set(this.remotePort, this)
    return watch.call(this, stallMs, onTimeout)
  })
})
afterEach(() => void vi.restoreAllMocks())

/** More than the system takes of it by itself, on both sides of a connection. */
const large = 'b'.repeat(40_000_000)
const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 }
const choice = { index: 0, message: { role: 'assistant', content: large }, finish_reason: 'stop' }
const answer = json({ id: 'c', object: 'chat.completion', choices: [choice], usage })
const event = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'b'.repeat(1_000_000) } }] })}\n\n`
const stream: Play = { steps: Array.from({ length: 40 }, () => event) }
const audio: Play = { headers: { 'content-type': 'audio/mpeg' }, steps: [Buffer.from(large)] }
const image = json({ created: 1, data: [{ b64_json: large }] })

/** A caller that reads when the test says so, and keeps only how much that was and its end. */
async function connectCaller(to = app.url) {
  const { hostname, port } = new URL(to)
  const socket = connect(Number(port), hostname).on('error', () => {})
  await once(socket, 'connect')
  let read = 0
  let ending = ''
  socket.on('data', (chunk: Buffer) => {
    read += chunk.length
    ending = (ending + chunk.toString('latin1')).slice(-2000)
  })
  socket.pause()
  return {
    socket,
    read: () => read,
    ending: () => ending,
    /** Whether something waits for it to read. */
    holds: () => Number(watched.get(socket.localPort)?.writableLength) > 0,
    isGivenUp: () => watched.get(socket.localPort)?.destroyed,
    ask: (path: string, body?: object, encoding = 'identity') => {
      const text = body === undefined ? '' : JSON.stringify(body)
      const head = [
        `${body === undefined ? 'GET' : 'POST'} ${path} HTTP/1.1`,
        'host: x',
        `authorization: Bearer sk-${token.key}`,
        'content-type: application/json',
        `accept-encoding: ${encoding}`,
        `content-length: ${Buffer.byteLength(text)}`,
      ]
      socket.write(`${head.join('\r\n')}\r\n\r\n${text}`)
    },
  }
}

type Caller = Awaited<ReturnType<typeof connectCaller>>

/** Reads more than the system has to have given before it takes the next part, and stops again. */
function takePortion({ socket, read, ending }: Caller): Promise<void> {
  const before = read()
  return new Promise((resolve) => {
    const done = (): void => {
      socket.off('data', look).off('close', done).pause()
      resolve()
    }
    const look = (): void => {
      if (read() - before > 6_000_000 || ending().endsWith('}}')) done()
    }
    socket.on('data', look).on('close', done).resume()
  })
}

const asked = 'x'.repeat(2_000_000)
const calls: [name: string, path: string, play: Play, body: object][] = [
  ['a complete answer', '/v1/chat/completions', answer, { messages: [{ role: 'user', content: asked }] }],
  ['a stream', '/v1/chat/completions', stream, { stream: true, messages: [{ role: 'user', content: asked }] }],
  ['audio', '/v1/audio/speech', audio, { input: 'hello', voice: 'alloy', instructions: asked }],
  ['an image', '/v1/images/generations', image, { prompt: asked, response_format: 'b64_json' }],
]

describe('an answer of which nothing is taken is given up with its connection and what it held', () => {
  test.each(calls)('%s', async (_name, path, play, body) => {
    const { model } = await serve(app, { baseUrl: scripted.play(play) })
    const caller = await connectCaller()
    caller.ask(path, { model, ...body })
    await expect.poll(caller.isGivenUp).toBe(true)
    await expect.poll(() => [app.services.underWay.size, app.services.bodies.budget.heldBytes]).toEqual([0, 0])
    await expect.poll(() => openHolds(app)).toBe(0)
    caller.socket.destroy()
  })

  describe('of the console', () => {
    // It stays as long when it is compressed.
    beforeAll(() => setOptions(app, { About: randomBytes(30_000_000).toString('base64') }))

    test.each([
      ['/api/about', 'identity'],
      ['/api/about', 'gzip'],
      ['/trpc/site.about', 'identity'],
      ['/trpc/site.about', 'gzip'],
    ])('%s, %s', async (path, encoding) => {
      const caller = await connectCaller()
      caller.ask(path, undefined, encoding)
      await expect.poll(caller.isGivenUp).toBe(true)
      caller.socket.destroy()
    })
  })

  test('a file', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'files-'))
    await writeFile(join(folder, 'large.js'), large)
    const server = createServer(serverOptions, express().use(express.static(folder)))
    endUntakenAnswers(server)
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const caller = await connectCaller(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    caller.ask('/large.js')
    await expect.poll(caller.isGivenUp).toBe(true)
    caller.socket.destroy()
    server.close()
    await rm(folder, { recursive: true })
  })
})

test('an answer that is taken slowly is taken to its end', async () => {
  // A portion of it is taken several times within that time, on a machine that stalls too.
  stallMs = 12_000
  const { model } = await serve(app, { baseUrl: scripted.play(answer) })
  const caller = await connectCaller()
  caller.ask('/v1/chat/completions', chat.body(model, 'hello', false))
  await expect.poll(caller.holds).toBe(true)
  const startedAt = performance.now()
  while (!caller.socket.destroyed && !caller.ending().endsWith('"total_tokens":3}}')) {
    await pause(2000)
    await takePortion(caller)
  }
  expect(caller.read()).toBeGreaterThan(large.length)
  expect(performance.now() - startedAt).toBeGreaterThan(stallMs)
  caller.socket.destroy()
})

test('a stream that is taken may be silent for longer than that, and so may the next call over its connection', async () => {
  stallMs = 12_000
  const silentMs = stallMs + 3000
  const { promise: taken, resolve } = Promise.withResolvers<void>()
  const end = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
  const { model } = await serve(app, { baseUrl: scripted.play({ steps: [...stream.steps, taken, silentMs, end] }) })
  const { model: late } = await serve(app, { does: `delay=${silentMs}` })
  const caller = await connectCaller()
  caller.ask('/v1/chat/completions', chat.body(model, 'hello', true))
  await expect.poll(caller.holds).toBe(true)
  caller.socket.resume()
  await expect.poll(caller.read).toBeGreaterThan(40 * event.length)
  resolve()
  await expect.poll(caller.ending).toContain('[DONE]')
  caller.ask('/v1/chat/completions', chat.body(late, 'hello', false))
  await expect.poll(caller.ending).toContain('You said')
  caller.socket.destroy()
})
