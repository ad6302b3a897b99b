import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { watchHeartbeat } from './heartbeat.ts'

/** Both ends of a socket; `answers` is whether the far end answers pings. */
async function pair(answers: boolean) {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  await once(server, 'listening')
  const arrival = once(server, 'connection')
  const far = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`, { autoPong: answers })
  const [near] = (await arrival) as [WebSocket]
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
  // A process that stalls must not be taken for a side that is silent.
  const everyMs = 500
  const stop = watchHeartbeat(near, { everyMs, isPaused: () => paused })
  await pause(everyMs * 3.5)
  expect(near.readyState).toBe(WebSocket.OPEN)
  stop()
  close()
})
