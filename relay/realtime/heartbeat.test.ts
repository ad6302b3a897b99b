import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { expect, test, vi } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { watchHeartbeat } from './heartbeat.ts'

/** Both ends of a socket; `answers` is whether the far end answers pings. */
async function pair(answers: boolean) {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  await once(server, 'listening')
  const arrival = once(server, 'connection')
  const far = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`, { autoPong: answers })
  const [[near]] = (await Promise.all([arrival, once(far, 'open')])) as [[WebSocket], unknown]
  return {
    near,
    far,
    close: () => {
      far.terminate()
      server.close()
    },
  }
}

test('a side that answers nothing is taken for dead', async () => {
  const { near, close } = await pair(false)
  watchHeartbeat(near, { everyMs: 30, isPaused: () => false })
  const [code] = (await once(near, 'close')) as [number]
  expect(code).toBe(1006)
  close()
})

test.each([
  ['answers pings', true, false],
  ['is not being read', false, true],
])('a side that %s is left in peace', async (_, answers, paused) => {
  const { near, close } = await pair(answers)
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  try {
    const stop = watchHeartbeat(near, { everyMs: 500, isPaused: () => paused })
    for (let question = 0; question < 3; question += 1) {
      const pong = answers ? once(near, 'pong') : undefined
      vi.advanceTimersByTime(500)
      await pong
    }
    expect(near.readyState).toBe(WebSocket.OPEN)
    stop()
  } finally {
    vi.useRealTimers()
  }
  close()
})
