import { setTimeout as pause } from 'node:timers/promises'
import { beforeEach, describe, expect, test } from 'vitest'
import { systemAmbient } from '#server/process.ts'
import { serve, withOptions } from '../relay/serve.ts'
import { chat, eventually, openHolds, say } from '../relay/caller-dialects.ts'
import { startRelay } from '../relay/relay-world.ts'

/** Undefined while time passes. A rest is over when the clock says so, however long calls take meanwhile. */
let stoppedClock: number | undefined
const now = () => new Date(stoppedClock ?? Date.now())

const { app, token } = await startRelay({ ambient: { ...systemAmbient, now } })
beforeEach(() => {
  stoppedClock = undefined
  app.upstream.clear()
})

const call = async (model: string) => {
  const startedAt = performance.now()
  const reply = await say(app, chat, { token, model })
  await reply.arrayBuffer()
  return { status: reply.status, ms: performance.now() - startedAt, retryAfter: reply.headers.get('retry-after') }
}

/** Moves channels to another address, as a heal or a failure of their upstream would. */
async function point(ids: number[], directives: string): Promise<void> {
  const url = directives === '' ? app.upstream.url : app.upstream.withDirectives(directives)
  await app.pool.query('update channels set base_url = $1 where id = any ($2::int[])', [url, ids])
  for (const id of ids) await app.services.channels.reload(id)
}

describe('while every channel fails', () => {
  test.each(['status=503', 'status=429'])('retries add no more than a tenth to the load: %s', async (does) => {
    // A channel whose rest ends while the machine stalls would be tried without the budget.
    stoppedClock = Date.now()
    const { model } = await serve(app, { does }, { does }, { does })
    // Three failures in a row tell of a channel that it is down.
    for (let index = 0; index < 3; index += 1) await call(model)
    app.upstream.clear()
    const calls = 300
    const startedAt = performance.now()
    for (let index = 0; index < calls; index += 20) {
      for (const { status } of await Promise.all(Array.from({ length: 20 }, () => call(model))))
        expect(status).toBe(Number(does.slice(7)))
    }
    const seconds = (performance.now() - startedAt) / 1000
    // A tenth, what was saved before, and one a second.
    expect(app.upstream.total - calls).toBeLessThanOrEqual(calls / 10 + 10 + Math.ceil(seconds))
  })

  test('every call is still tried once, so that the end of it is noticed by the next', async () => {
    const { model, ids } = await serve(app, { does: 'status=503' }, { does: 'status=503' })
    for (let index = 0; index < 20; index += 1) expect((await call(model)).status).toBe(503)
    await point(ids, '')
    expect((await call(model)).status).toBe(200)
  })
})

test('a channel that is well again gets its share back soon, found out by one call at a time', async () => {
  const { model, ids } = await serve(app, { priority: 1, does: 'status=500' }, {})
  stoppedClock = Date.now()
  for (let index = 0; index < 6; index += 1) expect((await call(model)).status).toBe(200)
  app.upstream.clear()
  for (let index = 0; index < 20; index += 1) expect((await call(model)).status).toBe(200)
  expect(app.upstream.total, 'it is left alone while it rests').toBe(20)
  await point([ids[0] ?? 0], 'header=x-answered-by:first')
  stoppedClock = undefined
  const healedAt = Date.now()
  let answered = ''
  while (answered === '' && Date.now() - healedAt < 60_000) {
    await call(model)
    answered = app.upstream.requests.at(-1)?.directives['header'] ?? ''
    await pause(100)
  }
  expect(answered).toBe('x-answered-by:first')
})

describe('the time an upstream asks for', () => {
  test('sends calls to another channel until it is over', async () => {
    // It would answer a second call, but is not asked: another address would make it another channel, of which nothing is known.
    const { model, ids } = await serve(app, { priority: 1, does: 'status=429,retryafterms=1500,fail=1' }, {})
    stoppedClock = Date.now()
    expect((await call(model)).status).toBe(200)
    expect(app.upstream.total).toBe(2)
    expect((await call(model)).status).toBe(200)
    expect(app.upstream.requests.at(-1)?.directives).toEqual({})
    expect(app.services.circuitBreaker.coolingDown().map(({ channelId }) => channelId)).toContain(ids[0])
    stoppedClock += 1600
    expect(app.services.circuitBreaker.coolingDown().map(({ channelId }) => channelId)).not.toContain(ids[0])
    expect((await call(model)).status).toBe(200)
    expect(app.upstream.requests.at(-1)?.directives).toMatchObject({ fail: '1' })
  })

  test('is waited out by a caller only where nothing else is left and it is short', async () => {
    const { model } = await serve(app, { does: 'status=429,retryafterms=700,fail=1' })
    const waited = await call(model)
    expect(waited.status).toBe(200)
    expect(waited.ms).toBeGreaterThanOrEqual(690)

    const { model: beside } = await serve(app, { priority: 1, does: 'status=429,retryafterms=1900' }, {})
    const other = await call(beside)
    expect(other.status).toBe(200)
    expect(app.upstream.requests.at(-1)?.directives, 'the other channel answered').toEqual({})

    const { model: long } = await serve(app, { does: 'status=429,retryafter=30,fail=1' })
    app.upstream.clear()
    const refused = await call(long)
    expect([refused.status, refused.retryAfter]).toEqual([429, '30'])
    expect(refused.ms).toBeLessThan(25_000)
    expect(app.upstream.total).toBe(1)
  })

  test('belongs to one model and one key of a channel', async () => {
    const { id } = await app.make.channel({ models: 'busy-one,other-one', key: 'sk-a,sk-b' })
    await app.services.channels.reload(id)
    stoppedClock = Date.now()
    await withOptions(app, { RetryTimes: '0' }, async () => {
      const text = '[[status=429,retryafter=30]] too much'
      expect((await say(app, chat, { token, model: 'busy-one', text })).status).toBe(429)
    })
    const busy = app.upstream.requests.at(-1)?.key
    const keysOf = async (model: string) => {
      app.upstream.clear()
      for (let index = 0; index < 4; index += 1) expect((await call(model)).status).toBe(200)
      return new Set(app.upstream.requests.map(({ key }) => key))
    }
    expect(await keysOf('busy-one')).toEqual(new Set([busy === 'sk-a' ? 'sk-b' : 'sk-a']))
    expect(await keysOf('other-one')).toEqual(new Set(['sk-a', 'sk-b']))
  })
})

test('a call that goes back to where it was pauses ever longer, never the same', async () => {
  await withOptions(app, { RetryTimes: '3' }, async () => {
    const pauses: number[] = []
    for (let index = 0; index < 4; index += 1) {
      // Another model each, whose channel is not known to be down.
      const { model } = await serve(app, { does: 'status=500' })
      pauses.push((await call(model)).ms)
    }
    // 100, 200 and 400 ms, each between its half and one and a half of it.
    for (const ms of pauses) expect(ms).toBeGreaterThanOrEqual(340)
    expect(new Set(pauses.map((ms) => Math.round(ms))).size).toBeGreaterThan(1)
  })
})

test('a caller who leaves during such a pause ends the call, and no further attempt is made', async () => {
  await withOptions(app, { RetryTimes: '3' }, async () => {
    const leavesInTime = async (): Promise<boolean> => {
      const { model } = await serve(app, { does: 'status=429,retryafterms=1500' })
      app.upstream.clear()
      const leave = new AbortController()
      say(app, chat, { token, model, signal: leave.signal }).catch(() => {})
      await expect.poll(() => app.upstream.total).toBeGreaterThan(0)
      await pause(50)
      leave.abort()
      const left = await eventually(
        () => openHolds(app),
        (holds) => holds === 0,
      )
      expect(left).toBe(0)
      // A machine that stalls may sleep through the pause.
      return Date.now() - (app.upstream.requests[0]?.at ?? 0) < 1500
    }
    while (!(await leavesInTime())) continue
    await pause(1600)
    expect(app.upstream.total).toBe(1)
  })
})
