import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { systemAmbient } from '#server/process.ts'
import { createRandom } from '#test/seed/random.ts'
import { serve } from '../relay/serve.ts'
import { chat, consumed, say } from '../relay/caller-dialects.ts'
import { startRelay } from '../relay/relay-world.ts'

// The same numbers in every run: what falls outside the bounds is a fault, not bad luck.
const { app, token } = await startRelay({ ambient: { ...systemAmbient, random: createRandom(20_261_121) } })
const admin = await app.make.token(await app.make.user({ role: 10, quota: 1_000_000_000 }))

/** How often each channel answered so many calls of a model. */
async function answeredBy(model: string, count: number) {
  for (let done = 0; done < count; done += 50) {
    const calls = Array.from({ length: Math.min(50, count - done) }, () => say(app, chat, { token, model }))
    for (const reply of await Promise.all(calls)) expect(reply.status).toBe(200)
  }
  const { rows } = await app.pool.query<{ id: number; count: number }>(
    'select channel_id as id, count(*)::int as count from logs where model_name = $1 group by 1',
    [model],
  )
  return new Map(rows.map(({ id, count: hits }) => [id, hits]))
}

/** Within four standard deviations of what the shares promise. */
function expectShares(hits: ReadonlyMap<number, number>, shares: ReadonlyMap<number, number>, count: number): void {
  for (const id of hits.keys()) expect(shares.get(id) ?? 0, `channel ${id} was not to be asked`).toBeGreaterThan(0)
  for (const [id, share] of shares) {
    const expected = count * share
    const slack = 4 * Math.sqrt(count * share * (1 - share))
    expect(
      Math.abs((hits.get(id) ?? 0) - expected),
      `channel ${id}: ${hits.get(id)} of ${expected}`,
    ).toBeLessThanOrEqual(slack)
  }
}

describe('calls are shared', () => {
  test('by weight, ten added to each, among the channels of the highest priority alone', async () => {
    const { model, ids } = await serve(
      app,
      { priority: 5, weight: 0 },
      { priority: 5, weight: 20 },
      { priority: 5, weight: 60 },
      { priority: 4, weight: 1000 },
    )
    const hits = await answeredBy(model, 1200)
    const [light = 0, middle = 0, heavy = 0] = ids
    expectShares(
      hits,
      new Map([
        [light, 10 / 110],
        [middle, 30 / 110],
        [heavy, 70 / 110],
      ]),
      1200,
    )
  })

  test('with a prefix by the plain weight, whatever the priority', async () => {
    const modelPrefix = 'by-weight/'
    const { model, ids } = await serve(
      app,
      { modelPrefix, priority: 5, weight: 0 },
      { modelPrefix, priority: 0, weight: 25 },
      { modelPrefix, priority: 9, weight: 75 },
    )
    const hits = await answeredBy(modelPrefix + model, 400)
    const [, light = 0, heavy = 0] = ids
    expectShares(
      hits,
      new Map([
        [light, 0.25],
        [heavy, 0.75],
      ]),
      400,
    )
  })

  test('evenly among the keys of a channel, in turn', async () => {
    const { model } = await serve(app, { key: 'sk-one,sk-two,sk-three' })
    app.upstream.clear()
    for (let call = 0; call < 9; call += 1) await say(app, chat, { token, model })
    const keys = app.upstream.requests.map(({ key }) => key)
    expect(keys).toEqual(Array.from({ length: 3 }, () => ['sk-one', 'sk-two', 'sk-three']).flat())
  })

  test('by session: one session stays with its channel and key, sessions are spread by weight', async () => {
    const { model, ids } = await serve(app, { weight: 0, key: 'a,b' }, { weight: 30, key: 'c,d' })
    app.upstream.clear()
    const places = new Map<string, Set<string>>()
    for (let round = 0; round < 3; round += 1) {
      await Promise.all(
        Array.from({ length: 100 }, async (_, index) => {
          const session = `session-${index}`
          const headers = { 'x-session-id': session }
          expect((await say(app, chat, { token, model, text: session, headers })).status).toBe(200)
        }),
      )
    }
    for (const { body, key } of app.upstream.requests) {
      const session = (body as { messages: { content: string }[] }).messages[0]?.content ?? ''
      places.set(session, (places.get(session) ?? new Set()).add(String(key)))
    }
    expect(places.size).toBe(100)
    for (const keys of places.values()) expect(keys.size).toBe(1)
    const hits = await answeredBy(model, 0)
    expectShares(
      new Map([...hits].map(([id, count]) => [id, count / 3])),
      new Map([
        [ids[0] ?? 0, 0.2],
        [ids[1] ?? 0, 0.8],
      ]),
      100,
    )
  })

  test('a session named in the body binds as one in a header does', async () => {
    const { model } = await serve(app, ...Array.from({ length: 5 }, () => ({})))
    const metadata = { user_id: JSON.stringify({ device_id: 'd', session_id: 'mine' }) }
    for (const named of [{ prompt_cache_key: 'mine' }, { metadata: { user_id: 'mine' } }, { metadata }]) {
      app.upstream.clear()
      const before = (await consumed(app)).length
      const body = { ...chat.body(model, 'hello', false), ...named }
      for (let call = 0; call < 10; call += 1) await say(app, chat, { token, body })
      const rows = (await consumed(app)).slice(before)
      expect(new Set(rows.map((row) => row.channel_id)).size).toBe(1)
      expect(new Set(rows.map((row) => row.other['session']))).toEqual(new Set(['mine']))
    }
  })

  test('a session named by the headers of an agent binds too, and one that names none by how it begins', async () => {
    const { model } = await serve(app, ...Array.from({ length: 5 }, () => ({})))
    const headers = ['x-claude-code-session-id', 'x-session-affinity', 'x-opencode-session', 'session_id', 'session-id']
    const instructions = { role: 'system', content: 'Be of use. '.repeat(500) }
    for (const named of [...headers.map((name) => ({ [name]: 'mine' })), {}]) {
      const before = (await consumed(app)).length
      for (let call = 0; call < 10; call += 1) {
        const later = Array.from({ length: call }, (_, at) => ({ role: 'assistant', content: `turn ${at}` }))
        const body = { model, messages: [instructions, { role: 'user', content: 'hello' }, ...later] }
        await say(app, chat, { token, body, headers: { ...named, 'x-claude-code-agent-id': 'reviewer' } })
      }
      const rows = (await consumed(app)).slice(before)
      expect(new Set(rows.map((row) => row.channel_id)).size).toBe(1)
      const [session] = new Set(rows.map((row) => row.other['session']))
      expect(session).toEqual(Object.keys(named).length > 0 ? 'mine' : expect.stringMatching(/^auto-/))
      expect(rows[0]?.other['agent']).toBe('reviewer')
    }
  })
})

type Explained = { candidates: { channel_id: number; probability: number }[] }

test('the channel that answers is among those that explain names first, and as often as it says', async () => {
  const anyRoute = fc.record({
    priority: fc.integer({ min: 0, max: 2 }),
    weight: fc.constantFrom(0, 0, 5, 40, 100),
    status: fc.constantFrom(1, 1, 1, 2),
    group: fc.constantFrom('default', 'default', 'default', 'elsewhere'),
    modelPrefix: fc.constantFrom('', '', 'x/'),
  })
  const anyRoutes = fc.tuple(fc.array(anyRoute, { minLength: 1, maxLength: 6 }), fc.boolean())
  let decided = 0
  await fc.assert(
    fc.asyncProperty(anyRoutes, async ([routes, prefixed]) => {
      const { model: bare } = await serve(app, ...routes)
      const model = prefixed ? `x/${bare}` : bare
      const reply = await app.relay(admin, '/v1/explain', chat.body(model, 'hello', false))
      const { candidates } = (await reply.json()) as Explained
      const probabilities = new Map(
        candidates.filter(({ probability }) => probability > 0).map((each) => [each.channel_id, each.probability]),
      )
      if (probabilities.size === 0) {
        expect((await say(app, chat, { token, model })).status).toBe(503)
        return
      }
      expect([...probabilities.values()].reduce((sum, probability) => sum + probability, 0)).toBeCloseTo(1, 9)
      const count = probabilities.size === 1 ? 5 : 100
      const hits = await answeredBy(model, count)
      decided += 1
      if (probabilities.size === 1) expect([...hits.keys()]).toEqual([...probabilities.keys()])
      else expectShares(hits, probabilities, count)
    }),
    { numRuns: 25, seed: 7 },
  )
  expect(decided).toBeGreaterThan(10)
})
