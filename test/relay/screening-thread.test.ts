import { afterAll, expect, test, vi } from 'vitest'
import { createScreener, type Screener } from '#relay/request/screener.ts'
import { startBalancedApp } from './relay-world.ts'
import { withOptions } from './serve.ts'
import { almost, pattern } from './slow-pattern.ts'

const by = (caller: number, signal = new AbortController().signal) => ({ caller, signal })
const screener = createScreener()
afterAll(() => screener.close())

const endless = { list: 'regex:(a?){1000}a{1000}b', texts: ['a'.repeat(1_000_000)] }
const harmless = { list: 'regex:a', texts: ['a'] }

test('what takes too long is refused, and the next text is looked through', async () => {
  const limited = createScreener({ quickMs: 500, longestMs: 12_000 })
  const first = limited.find(endless, by(1))
  const second = limited.find(harmless, by(1))
  await expect(first).rejects.toThrow('too long')
  expect(await second).toEqual(['regex:a'])
  await limited.close()
})

test('what takes longer than everyday texts is found too', async () => {
  const impatient = createScreener({ quickMs: 1, longestMs: 600_000 })
  // A second of work.
  const order = { list: pattern, texts: [`${almost} bomb how card zebra`] }
  expect(await impatient.find(order, by(1))).toEqual([pattern])
  await impatient.close()
})

test('a caller holds nobody else up with one text after another that takes too long', async () => {
  const limited = createScreener({ quickMs: 3000, longestMs: 30_000 })
  const leaving = new AbortController()
  let ended = 0
  const hostile = Array.from({ length: 8 }, () =>
    limited.find(endless, by(1, leaving.signal)).catch(() => (ended += 1)),
  )
  expect(await limited.find(harmless, by(2))).toEqual(['regex:a'])
  expect(ended).toBeLessThan(2)
  leaving.abort()
  await limited.close()
  await Promise.all(hostile)
})

test('nothing is looked through for somebody who has left meanwhile', async () => {
  const leaving = new AbortController()
  const first = screener.find(harmless, by(1))
  const second = screener.find(harmless, by(1, leaving.signal))
  leaving.abort()
  expect(await first).toEqual(['regex:a'])
  await expect(second).rejects.toThrow('aborted')
})

const app = await startBalancedApp()
const { key } = await app.make.token(await app.make.user())

const longPrompt = (end: string): string => `${'long words '.repeat(500)}${end}`
/** Every way in that is screened. Nothing serves them, so that what passes ends before an upstream is asked. */
const ways: [string, (prompt: string) => Record<string, unknown>][] = [
  ['/v1/chat/completions', (prompt) => ({ model: 'unserved', messages: [{ role: 'user', content: prompt }] })],
  ['/v1/responses', (prompt) => ({ model: 'unserved', input: prompt })],
  ['/v1/images/generations', (prompt) => ({ model: 'unserved', prompt })],
  ['/v1/audio/speech', (prompt) => ({ model: 'unserved', input: prompt, voice: 'alloy' })],
  ['/mj/submit/imagine', (prompt) => ({ prompt })],
  ['/suno/submit/music', (prompt) => ({ prompt })],
  [
    '/v1/messages/batches',
    (prompt) => ({
      requests: [
        { custom_id: 'a', params: { model: 'unserved', max_tokens: 9, messages: [{ role: 'user', content: prompt }] } },
      ],
    }),
  ],
]

test.each(ways)('a long text is screened by patterns on %s', async (path, bodyOf) => {
  const ask = async (prompt: string): Promise<{ status: number; text: string }> => {
    const headers = { authorization: `Bearer sk-${key}`, 'content-type': 'application/json' }
    const reply = await fetch(app.url + path, { method: 'POST', headers, body: JSON.stringify(bodyOf(prompt)) })
    return { status: reply.status, text: await reply.text() }
  }
  await withOptions(app, { SensitiveWords: 'regex:xyz{2}y' }, async () => {
    expect(await ask(longPrompt('say xyzzy'))).toMatchObject({
      status: 400,
      text: expect.stringMatching(/sensitive/),
    })
    expect((await ask(longPrompt('say xyzy'))).text).not.toContain('sensitive')
    const { screener: working } = app.services
    app.services.screener = { ...working, find: () => Promise.reject(new Error('died')) }
    try {
      expect((await ask(longPrompt('say xyzzy'))).status).toBe(503)
    } finally {
      app.services.screener = working
    }
  })
})

test('a text that could not be screened is logged, but not where its caller has left', async () => {
  const warn = vi.spyOn(app.services.log, 'warn')
  const warnings = () => warn.mock.calls.filter(([, message]) => message === 'a request could not be screened').length
  const { screener: working } = app.services
  const asked = Promise.withResolvers<void>()
  const find: Screener['find'] = (_order, { signal }) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason))
      asked.resolve()
    })
  app.services.screener = { ...working, find }
  const leaving = new AbortController()
  const call = (signal?: AbortSignal) =>
    fetch(`${app.url}/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer sk-${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'unserved', input: longPrompt('x') }),
      signal: signal ?? null,
    })
  try {
    await withOptions(app, { SensitiveWords: 'regex:xyz{2}y' }, async () => {
      const left = call(leaving.signal)
      await asked.promise
      leaving.abort()
      await expect(left).rejects.toThrow('aborted')
      await vi.waitFor(() => expect(app.services.underWay.size).toBe(0), { timeout: 60_000 })
      expect(warnings()).toBe(0)
      app.services.screener = { ...working, find: () => Promise.reject(new Error('died')) }
      expect((await call()).status).toBe(503)
      expect(warnings()).toBe(1)
    })
  } finally {
    app.services.screener = working
    warn.mockRestore()
  }
})
