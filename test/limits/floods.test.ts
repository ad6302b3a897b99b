import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import pg from 'pg'
import { describe, expect, test, vi } from 'vitest'
import { randomKey } from '#test/support/factories.ts'
import { serve } from '../relay/serve.ts'
import { chat, consumed, openHolds, say } from '../relay/caller-dialects.ts'
import { memoryOf } from '../faults/attackers.ts'
import { startRelay } from '../relay/relay-world.ts'

/** What others left behind would be given back in the middle of a measurement. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
}

const { app, token } = await startRelay()
const model = (await serve(app, { does: 'usage=5:5' })).model

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
  // Made by the process that sends them, whose memory and time are not the gateway's.
  const hostile: [name: string, body: string, statuses: number[], most?: number, headers?: Record<string, string>][] = [
    ['a million lists in each other', `'['.repeat(1e6) + ']'.repeat(1e6)`, [400]],
    [
      'a million names',
      `'{"model":"none",' + Array.from({ length: 1e6 }, (_, index) => '"k' + index + '":1').join() + '}'`,
      [400],
    ],
    [
      'a hundred thousand messages',
      `JSON.stringify({ model, messages: Array.from({ length: 1e5 }, () => ({ role: 'user', content: 'hi' })) })`,
      [200, 400],
      // They stand in memory as objects, and once more in the upstream that they are passed on to, which is of this process too.
      250,
    ],
    ['more than may be sent', `Buffer.alloc(65 * 2 ** 20, ' ')`, [413]],
    [
      'more than may be sent, of a length that is not told',
      `new Blob([Buffer.alloc(65 * 2 ** 20, ' ')]).stream()`,
      [413],
    ],
    [
      'little that unpacks to a gigabyte',
      // Packed texts one after another are one packed text.
      `Buffer.concat(Array(64).fill(gzipSync(Buffer.alloc(16 * 2 ** 20))))`,
      [413],
      100,
      { 'content-encoding': 'gzip' },
    ],
  ]
  const program = (body: string, headers = {}): string => `
    import { gzipSync } from 'node:zlib'
    const [, url, key, model] = process.argv
    const body = ${body}
    const headers = { ...${JSON.stringify(headers)}, 'content-type': 'application/json', authorization: 'Bearer sk-' + key }
    // The connection is closed on a caller that goes on sending.
    const refused = () => ({ status: 413, text: () => '' })
    const reply = await fetch(url + '/v1/chat/completions', { method: 'POST', headers, body, duplex: 'half' }).catch(refused)
    await reply.text()
    process.stdout.write(String(reply.status))`

  async function send(body: string, headers?: Record<string, string>): Promise<number> {
    const args = ['--input-type=module', '--eval', program(body, headers), app.url, token.key, model]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    return Number(await text(child.stdout))
  }

  test.each(hostile)(
    '%s is answered soon, with little memory, and keeps nobody waiting',
    async (_name, body, statuses, mostMegabytes = 100, headers = {}) => {
      collectGarbage()
      // From here on the system notes anew the most that this process ever held.
      writeFileSync('/proc/self/clear_refs', '5')
      const { now: before } = memoryOf(process.pid)
      const startedAt = performance.now()
      const [status, beside] = await Promise.all([
        send(body, headers),
        say(app, chat, { token, model }).then((reply) => reply.status),
      ])
      const { most } = memoryOf(process.pid)
      expect(statuses).toContain(status)
      expect(beside).toBe(200)
      expect(performance.now() - startedAt).toBeLessThan(120_000)
      // At its peak, not only afterwards: callers come at once.
      expect((most - before) / megabyte).toBeLessThan(mostMegabytes)
      expect((await say(app, chat, { token, model })).status).toBe(200)
    },
  )

  test('and none of it is charged or left open', async () => {
    const rows = await consumed(app)
    expect(rows.every((row) => row.model_name === model)).toBe(true)
    expect(await openHolds(app)).toBe(0)
  })
})
