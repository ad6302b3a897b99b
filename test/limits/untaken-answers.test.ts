import { once } from 'node:events'
import { connect, Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
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
/** The gateway's ends of connections that were watched so. */
let watched: Set<Socket>
beforeEach(() => {
  watched = new Set()
  stallMs = 2000
  vi.spyOn(Socket.prototype, 'setTimeout').mockImplementation(function noted(this: Socket, ms, onTimeout) {
    if (ms !== 120_000) return watch.call(this, ms, onTimeout)
    watched.add(this)
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
async function connectCaller() {
  const { hostname, port } = new URL(app.url)
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
    ask: (path: string, body?: object) => {
      const text = body === undefined ? '' : JSON.stringify(body)
      const head = [
        `${body === undefined ? 'GET' : 'POST'} ${path} HTTP/1.1`,
        'host: x',
        `authorization: Bearer sk-${token.key}`,
        'content-type: application/json',
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
const calls: [name: string, path: string, play: Play | null, body: object | undefined][] = [
  ['a complete answer', '/v1/chat/completions', answer, { messages: [{ role: 'user', content: asked }] }],
  ['a stream', '/v1/chat/completions', stream, { stream: true, messages: [{ role: 'user', content: asked }] }],
  ['audio', '/v1/audio/speech', audio, { input: 'hello', voice: 'alloy', instructions: asked }],
  ['an image', '/v1/images/generations', image, { prompt: asked, response_format: 'b64_json' }],
  ['a page of the console', '/api/about', null, undefined],
]

describe('an answer of which nothing is taken', () => {
  test.each(calls)('is given up with its connection and what it held: %s', async (_name, path, play, body) => {
    if (play === null) await setOptions(app, { About: large })
    const { model } = await serve(app, play === null ? {} : { baseUrl: scripted.play(play) })
    const caller = await connectCaller()
    caller.ask(path, body && { model, ...body })
    await expect.poll(() => [...watched].map(({ destroyed }) => destroyed)).toEqual([true])
    await expect.poll(() => [app.services.underWay.size, app.services.bodies.budget.heldBytes]).toEqual([0, 0])
    await expect.poll(() => openHolds(app)).toBe(0)
    caller.socket.destroy()
  })
})

test('an answer that is taken slowly is taken to its end', async () => {
  // A portion of it is taken several times within that time, on a machine that stalls too.
  stallMs = 12_000
  const { model } = await serve(app, { baseUrl: scripted.play(answer) })
  const caller = await connectCaller()
  caller.ask('/v1/chat/completions', chat.body(model, 'hello', false))
  await expect.poll(() => watched.size).toBe(1)
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
  const { promise: taken, resolve } = Promise.withResolvers<void>()
  const end = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
  const { model } = await serve(app, { baseUrl: scripted.play({ steps: [...stream.steps, taken, 2 * stallMs, end] }) })
  const { model: late } = await serve(app, { does: `delay=${2 * stallMs}` })
  const caller = await connectCaller()
  caller.ask('/v1/chat/completions', chat.body(model, 'hello', true))
  await expect.poll(() => watched.size).toBe(1)
  caller.socket.resume()
  await expect.poll(caller.read).toBeGreaterThan(40 * event.length)
  resolve()
  await expect.poll(caller.ending).toContain('[DONE]')
  caller.ask('/v1/chat/completions', chat.body(late, 'hello', false))
  await expect.poll(caller.ending).toContain('You said')
  caller.socket.destroy()
})
