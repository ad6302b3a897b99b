import { once } from 'node:events'
import { setFlagsFromString } from 'node:v8'
import { Worker } from 'node:worker_threads'
import { afterAll, expect, test } from 'vitest'
import type { CountOrder } from '#relay/billing/token-counter.ts'
import { startProduct, until } from '../support/processes.ts'
import { sendHead } from '../support/raw-request.ts'
import { memoryOf } from './attackers.ts'
import { startEndlessUpstream } from './endless-upstream.ts'
import { callOnce, untilStreamed } from './traffic.ts'
import { createWorld } from './world.ts'

const world = await createWorld()
await world.make.channel()
const token = await world.make.token(await world.make.user({ quota: 1_000_000_000 }))
const product = await startProduct({
  isPatient: true,
  environment: {
    ...world.environment,
    WORKERS: '1',
    LOG_LEVEL: 'debug',
    // As `npm start` starts it.
    NODE_OPTIONS: '--expose-gc --max-semi-space-size=16',
  },
})
afterAll(async () => {
  await product.killAll()
  await world[Symbol.asyncDispose]()
})

const megabyte = 1024 * 1024
const readers = 100

/** Asks for a stream that does not end and reads nothing of it. */
async function neverReading() {
  const body = JSON.stringify({ model: 'endless', stream: true, messages: [{ role: 'user', content: 'tell' }] })
  const { socket } = await sendHead(product.url, {
    path: '/v1/chat/completions',
    headers: { authorization: `Bearer sk-${token.key}`, 'content-length': Buffer.byteLength(body) },
  })
  socket.pause()
  socket.write(body)
  return socket
}

test('what a crowd of callers has left is collected once nobody calls any more', async () => {
  await using endless = await startEndlessUpstream()
  await world.make.channel({ models: 'endless', baseUrl: endless.url })
  await world.make.option('ModelRatio', JSON.stringify({ endless: 1, 'gpt-4o-mini': 0.075 }))
  await untilStreamed(product.url, token, 'endless')
  await until(() => endless.open === 0, { what: 'the first stream goes on' })
  // Warm, the thread that counts included.
  for (const kind of ['plain', 'stream', 'hung-up'] as const) await callOnce(product.url, token, { kind })
  let left = product.output().length
  const isCollected = () => product.output().slice(left).includes('collected the garbage of a busy time')
  // The engine may have collected by itself what one crowd has left: then too little of it is there, and another one comes.
  for (let crowds = 1; !isCollected(); crowds += 1) {
    const sent = endless.sentBytes
    const sockets = await Promise.all(Array.from({ length: readers }, neverReading))
    await until(() => endless.open === readers && endless.sentBytes > sent + readers * megabyte, {
      what: 'the streams do not begin',
    })
    left = product.output().length
    for (const socket of sockets) socket.destroy()
    await until(() => endless.open === 0, { what: 'upstreams go on for nobody' })
    await until(isCollected, {
      seconds: 60,
      what: () => `${Math.round(memoryOf(product.pid).now / megabyte)} MB are remaining`,
    }).catch((error: unknown) => {
      if (crowds === 5) throw error
    })
  }
  expect((await callOnce(product.url, token, { kind: 'plain' })).complete).toBe(true)
})

test('the thread that counts gives back what an order took once it gets no more of them', async () => {
  // The thread reads it when it starts, and whoever starts another in this process finds what it was.
  setFlagsFromString('--expose-gc')
  const thread = new Worker(new URL('../../relay/billing/count-thread.ts', import.meta.url))
  try {
    // Held until it is answered; from then on the thread allocates nothing that would have the engine collect it.
    const bytes = new Uint8Array(64 * megabyte)
    const answered = once(thread, 'message')
    thread.postMessage({ id: 1, kind: 'sound', bytes, mediaType: 'audio/mpeg' } satisfies CountOrder)
    expect(await answered).toEqual([{ id: 1, value: null }])
    const remaining = async () => (await thread.getHeapStatistics()).external_memory
    // In the end the engine would collect it unasked, after minutes and the sooner the more often it is asked.
    await until(async () => (await remaining()) < bytes.length, {
      what: 'the recording is remaining',
      everyMs: 1000,
      seconds: 60,
    })
  } finally {
    await thread.terminate()
    setFlagsFromString('--no-expose-gc')
  }
})
