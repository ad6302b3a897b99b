import type { Dispatcher } from 'undici'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { exchange } from './exchange.ts'
import { timeLimits } from './limits.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

const idleTimeoutMs = 10_000
/** More than is held before the connection is paused. */
const large = Buffer.alloc(200_000)
const small = Buffer.from('.')

/** What the process reads comes before what it does next. */
const turn = () => new Promise((resolve) => setImmediate(resolve))

async function begin() {
  let isPaused = false
  const controller = {
    get paused() {
      return isPaused
    },
    pause: () => void (isPaused = true),
    resume: () => void (isPaused = false),
    abort: vi.fn<() => void>(),
  } as unknown as Dispatcher.DispatchController
  let handler: Dispatcher.DispatchHandler = {}
  const dispatcher = {
    dispatch: (_: unknown, given: Dispatcher.DispatchHandler) => {
      handler = given
      return true
    },
  } as unknown as Dispatcher
  const limits = timeLimits({ firstByteTimeoutMs: 20_000, idleTimeoutMs })
  const answer = exchange({ dispatcher, options: { path: '/', method: 'GET' }, limits, boundConnect: false })
  handler.onRequestStart?.(controller, {})
  handler.onResponseStart?.(controller, 200, {}, 'OK')
  const { body } = await answer
  return {
    reader: body[Symbol.asyncIterator](),
    arrives: (chunk: Buffer) => handler.onResponseData?.(controller, chunk),
    isPaused: () => isPaused,
  }
}

test('time in which we ourselves do not read is no silence of the upstream', async () => {
  const { reader, arrives, isPaused } = await begin()
  arrives(large)
  for (let waited = 0; waited < 3; waited += 1) {
    expect(isPaused()).toBe(true)
    vi.advanceTimersByTime(idleTimeoutMs)
    await turn()
  }
  expect(await reader.next()).toEqual({ done: false, value: large })
  expect(isPaused()).toBe(false)
  vi.advanceTimersByTime(idleTimeoutMs - 1)
  await turn()
  arrives(small)
  expect(await reader.next()).toEqual({ done: false, value: small })
  const silent = reader.next()
  vi.advanceTimersByTime(idleTimeoutMs)
  await expect(silent).rejects.toMatchObject({ kind: 'timeout-idle', sent: true })
})

test('what came while this process was busy came in time, and silence afterwards has its limit', async () => {
  const { reader, arrives } = await begin()
  for (const limitMs of [20_000, idleTimeoutMs]) {
    vi.advanceTimersByTime(limitMs)
    arrives(small)
    await turn()
    expect(await reader.next()).toEqual({ done: false, value: small })
  }
  const silent = reader.next()
  vi.advanceTimersByTime(idleTimeoutMs)
  await expect(silent).rejects.toMatchObject({ kind: 'timeout-idle' })
})
