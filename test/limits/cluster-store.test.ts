import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

test('a count of the first process that came while a worker was busy is in time', async () => {
  const worker = fork(fileURLToPath(new URL('busy-worker.ts', import.meta.url)))
  const ended = once(worker, 'exit')
  const verdict = { used: 1, msBeforeNext: 60_000 }
  const received: unknown[] = []
  worker.on('message', (message: { requestLimits?: { number: number } }) => {
    if (message.requestLimits) worker.send({ requestLimits: { number: message.requestLimits.number, verdict } })
    else received.push(message)
  })
  await ended
  expect(received).toEqual([{ counted: verdict }])
})
