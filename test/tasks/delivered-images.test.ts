import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { afterAll, describe, expect, test } from 'vitest'
import { startBalancedApp } from '#test/relay/relay-world.ts'
import { eventually } from '#test/relay/caller-dialects.ts'
import { listenLocally } from '#test/support/local-server.ts'
import { drawingChannel, holder, imagined, poll } from './world.ts'

const app = await startBalancedApp({ environment: { BODY_WAIT_SECONDS: '1' } })
await drawingChannel(app)

/** Begins each image, and leaves it to the test to go on with it. */
const first = Buffer.alloc(100_000, 1)
let begun = Promise.withResolvers<ServerResponse>()
const host = await listenLocally(
  createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'image/webp' })
    response.write(first)
    begun.resolve(response)
  }),
)
afterAll(() => host[Symbol.asyncDispose]())

/** The address of a drawing whose image lies there. */
async function address(): Promise<string> {
  const id = await imagined(app, await holder(app), 'x [[polls=1]]')
  await poll(app)
  await app.pool.query('update drawing_tasks set image_url = $2 where mj_id = $1', [id, `${host.url}/1.webp`])
  begun = Promise.withResolvers()
  return `${app.url}/mj/image/${id}`
}

const held = () => app.services.bodies.budget.heldBytes
const untilNothingIsHeld = () => eventually(held, (bytes) => bytes === 0)

describe('an image by its address', () => {
  test('is handed on as it comes, with little of it in memory, which counts', async () => {
    const reply = await fetch(await address())
    expect([reply.status, reply.headers.get('content-type')]).toEqual([200, 'image/webp'])
    const source = await begun.promise
    const reader = reply.body!.getReader()
    let length = 0
    const read = async (bytes: number): Promise<void> => {
      while (length < bytes) length += (await reader.read()).value?.length ?? 0
    }
    await read(first.length)
    expect(held()).toBeGreaterThan(0)
    expect(held()).toBeLessThan(1_000_000)
    source.end(Buffer.alloc(3_000_000, 2))
    await read(3_100_000)
    expect((await reader.read()).done).toBe(true)
    expect(await untilNothingIsHeld()).toBe(0)
  })

  test('is fetched no further when its reader has gone', async () => {
    const leaving = new AbortController()
    const reply = await fetch(await address(), { signal: leaving.signal })
    const source = await begun.promise
    await reply.body!.getReader().read()
    leaving.abort()
    if (!source.closed) await once(source, 'close')
    expect(source.writableFinished).toBe(false)
    expect(await untilNothingIsHeld()).toBe(0)
  })

  test('that breaks off is no whole one', async () => {
    const reply = await fetch(await address())
    const source = await begun.promise
    source.destroy()
    await expect(reply.arrayBuffer()).rejects.toThrow('terminated')
    expect(await untilNothingIsHeld()).toBe(0)
  })

  test('waits for room like everything that takes memory, and says when to come again', async () => {
    const url = await address()
    const all = app.services.bodies.budget.open('127.0.0.1')
    await all.raise(app.services.bodies.limits.memoryPerAddress)
    const reply = await fetch(url)
    expect([reply.status, reply.headers.get('retry-after')]).toEqual([503, '5'])
    all.release()
  })
})
