import { gzipSync } from 'node:zlib'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { App } from '#test/support/app.ts'
import { randomKey, type TestToken } from '#test/support/factories.ts'
import { serve } from '../relay/serve.ts'
import { chat, closeSoundly, consumed, openHolds, say } from '../relay/caller-dialects.ts'
import { startRelay } from '../relay/relay-world.ts'

let app: App
let token: TestToken
let model: string
beforeAll(async () => {
  ;({ app, token } = await startRelay())
  model = (await serve(app, { does: 'usage=5:5' })).model
})
afterAll(() => closeSoundly(app))

describe('a flood of unknown keys', () => {
  test('costs a query a batch, not a key, and the next of the same key none', async () => {
    const query = vi.spyOn(pg.Pool.prototype, 'query')
    const lookups = () =>
      query.mock.calls.filter(([asked]) => (asked as unknown as { name?: string })?.name === 'relay_tokens').length
    try {
      const keys = Array.from({ length: 500 }, () => randomKey())
      const ask = (key: string) => say(app, chat, { token, key, model }).then(({ status }) => status)
      expect(new Set(await Promise.all(keys.map(ask)))).toEqual(new Set([401]))
      const first = lookups()
      expect(first).toBeLessThan(keys.length / 2)
      expect(new Set(await Promise.all(keys.map(ask)))).toEqual(new Set([401]))
      expect(lookups()).toBe(first)
      for (const key of ['', 'short', 'x'.repeat(5000), "' or 1=1 --"])
        expect([400, 401, 431]).toContain(await ask(key))
      expect(lookups()).toBe(first)
    } finally {
      query.mockRestore()
    }
    expect((await say(app, chat, { token, model })).status).toBe(200)
  })
})

describe('a body made to be dear', () => {
  const megabyte = 1024 * 1024
  const hostile: [name: string, body: () => Buffer | string, statuses: number[], headers?: Record<string, string>][] = [
    ['a million lists in each other', () => `${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}`, [400]],
    [
      'a million names',
      () => `{"model":"none",${Array.from({ length: 1_000_000 }, (_, index) => `"k${index}":1`).join(',')}}`,
      [400],
    ],
    [
      'a hundred thousand messages',
      () =>
        JSON.stringify({ model, messages: Array.from({ length: 100_000 }, () => ({ role: 'user', content: 'hi' })) }),
      [200, 400],
    ],
    ['more than may be sent', () => Buffer.alloc(65 * megabyte, 0x20), [413]],
    [
      'little that unpacks to a gigabyte',
      // Packed texts one after another are one packed text.
      () => Buffer.concat(Array<Buffer>(64).fill(gzipSync(Buffer.alloc(16 * megabyte)))),
      [413],
      { 'content-encoding': 'gzip' },
    ],
  ]
  test.each(hostile)(
    '%s is answered soon, with little memory, and keeps nobody waiting',
    async (_name, make, statuses, headers) => {
      const body = make()
      const before = process.memoryUsage().rss
      const startedAt = performance.now()
      const [status, beside] = await Promise.all([
        say(app, chat, { token, body, ...(headers ? { headers } : {}) }).then(
          (reply) => reply.arrayBuffer().then(() => reply.status),
          // The connection is closed on a caller that goes on sending.
          () => 413,
        ),
        say(app, chat, { token, model }).then((reply) => reply.status),
      ])
      expect(statuses).toContain(status)
      expect(beside).toBe(200)
      expect(performance.now() - startedAt).toBeLessThan(120_000)
      // Caller and gateway are one process here, so the sender's own copies count too.
      expect((process.memoryUsage().rss - before) / megabyte).toBeLessThan(600)
      expect((await say(app, chat, { token, model })).status).toBe(200)
    },
  )

  test('and none of it is charged or left open', async () => {
    const rows = await consumed(app)
    expect(rows.every((row) => row.model_name === model)).toBe(true)
    expect(await openHolds(app)).toBe(0)
  })
})
