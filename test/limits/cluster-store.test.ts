import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

test('a count of the first process that came while a worker was busy is in time', async () => {
  const worker = fork(fileURLToPath(new URL('busy-worker.ts', import.meta.url)), {
    stdio: ['pipe', 'inherit', 'inherit', 'ipc'],
  })
  const ended = once(worker, 'exit')
  const verdict = { used: 1, msBeforeNext: 60_000 }
  const received: unknown[] = []
  worker.on('message', (message: { requestLimits?: { number: number } }) => {
    if (!message.requestLimits) return void received.push(message)
    const answer = { requestLimits: { number: message.requestLimits.number, verdict } }
    worker.send(answer, () => worker.stdin?.end())
  })
  await ended
  expect(received).toEqual([{ counted: verdict }])
})
