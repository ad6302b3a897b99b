import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { afterAll, expect, test } from 'vitest'
import { channelsOf, serve, withOptions } from '../relay/serve.ts'
import { consumed, say, type CallerDialect, callerDialects } from '../relay/caller-dialects.ts'
import { startRelay } from '../relay/relay-world.ts'

/** Takes connections and never says a word. */
const mute = createServer((socket) => {
  held.add(socket)
  socket.on('error', () => {})
})
const held = new Set<Socket>()
const { app, token } = await startRelay()
mute.listen(0, '127.0.0.1')
await once(mute, 'listening')
afterAll(async () => {
  for (const socket of held) socket.destroy()
  await new Promise((resolve) => mute.close(resolve))
})

const setting = '{"connect_timeout":0.3,"first_byte_timeout":0.4}'
const mutePort = (): number => (mute.address() as { port: number }).port
const faults: [name: string, route: () => { baseUrl?: string; does?: string; setting?: string }, status: number][] = [
  ['a refused connection', () => ({ baseUrl: 'http://127.0.0.1:9' }), 500],
  [
    'a name that nobody knows',
    () => ({ baseUrl: 'http://no-such-upstream.invalid', setting: '{"connect_timeout":60}' }),
    500,
  ],
  ['a TLS handshake with something else', () => ({ baseUrl: app.upstream.url.replace('http:', 'https:') }), 500],
  ['a TLS handshake that never ends', () => ({ baseUrl: `https://127.0.0.1:${mutePort()}`, setting }), 504],
  ['a connection that swallows everything', () => ({ baseUrl: `http://127.0.0.1:${mutePort()}`, setting }), 504],
  ['headers that never come', () => ({ does: 'hang', setting }), 504],
  ['a body that never comes', () => ({ does: 'stall=0', setting }), 504],
]

const calls = callerDialects.flatMap((by) => [false, true].map((stream) => ({ by, stream })))

test.each(faults)(
  '%s leads to the next channel, and alone to an error in bounded time, in every dialect',
  async (_name, route, status) => {
    const passesOn = async ({ by, stream }: (typeof calls)[number]) => {
      const { model, ids } = await serve(app, { priority: 1, ...route() }, {})
      const reply = await say(app, by, { token, model, stream })
      expect([reply.status, await reply.text()]).toEqual([200, expect.stringContaining('hello') as string])
      const rows = (await consumed(app)).filter((row) => row.model_name === model)
      expect(rows.map(channelsOf)).toEqual([ids])
    }
    const ends = async ({ by, stream }: (typeof calls)[number]) => {
      const { model } = await serve(app, route())
      const startedAt = performance.now()
      const refused = await say(app, by, { token, model, stream })
      const text = await refused.text()
      expect([stream, refused.status, text]).toEqual([stream, status, expect.stringContaining('request id') as string])
      expect(by.readError(JSON.parse(text)).kind).toBe(by.kindOf(status))
      expect(text).not.toMatch(/127\.0\.0\.1|no-such-upstream|ECONN|ENOTFOUND|ERR_SSL/)
      // The limits of the channel, with slack for a busy machine.
      expect(performance.now() - startedAt).toBeLessThan(60_000)
    }
    // Most of it is waiting for these limits.
    await Promise.all(calls.map(passesOn))
    await withOptions(app, { RetryTimes: '0' }, async () => void (await Promise.all(calls.map(ends))))
  },
)

test('the operator reads in the log where an attempt went and what the network said, or who refused it', async () => {
  const faulty: [route: { baseUrl?: string; does?: string }, reason: RegExp][] = [
    [{ baseUrl: 'http://127.0.0.1:9' }, /: http:\/\/127\.0\.0\.1:9\/v1\/chat\/completions \(.+\)$/],
    [{ does: 'status=500' }, /\(http:\/\/127\.0\.0\.1:\d+\/.*v1\/chat\/completions\)$/],
  ]
  for (const [route, reason] of faulty) {
    const { model } = await serve(app, { priority: 1, ...route }, {})
    const reply = await say(app, callerDialects[0] as CallerDialect, { token, model, stream: false })
    expect(reply.status).toBe(200)
    await reply.text()
    const { other } = (await consumed(app)).at(-1) as { other: Record<string, unknown> }
    const [failed] = (other['admin_info'] as { attempts: { reason: string }[] }).attempts
    expect(failed?.reason).toMatch(reason)
  }
})
