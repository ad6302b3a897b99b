import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { long } from '../faults/world.ts'
import { type App, startApp } from '../support/app.ts'
import { until } from '../support/processes.ts'
import { allowUnpriced, channelsOf, serve, setOptions } from './serve.ts'
import { type Fixture, see, createFixture, staleAfter } from './writes-of-every-kind.ts'

/** Writes go round by round, and the shortest round has one of every kind. */
const writes = long ? 200 : 1
const isOfEveryKind = (kinds: Set<string>): void => expect(kinds.size).toBeGreaterThan(40)

let second: App
const first = await startApp()
afterAll(() => first[Symbol.asyncDispose]())
await allowUnpriced(first)

/** Calls that go on beside something else, on both nodes. */
async function beside<Result>(fixture: Fixture, run: () => Promise<Result>): Promise<Result> {
  let over = false
  const nodes = long ? [first, second, first, second] : [first, second]
  const calls = nodes.map(async ({ url }) => {
    while (!over) await see(first, url, fixture)
  })
  try {
    return await run()
  } finally {
    over = true
    await Promise.all(calls)
  }
}

test('what was saved holds for the very next call where one process does everything', async () => {
  const { kinds, stale } = await staleAfter(first, { nodes: [first.url], writes })
  expect(stale).toEqual([])
  isOfEveryKind(kinds)
})

describe('what was saved holds for the very next call', () => {
  beforeAll(async () => {
    second = await startApp({ on: first })
  })
  afterAll(() => second[Symbol.asyncDispose]())

  test('on the node that saved it and on every other', async () => {
    const { kinds, stale } = await staleAfter(first, { nodes: [first.url, second.url], writes })
    expect(stale).toEqual([])
    isOfEveryKind(kinds)
  })

  test('under load', async () => {
    const busy = await createFixture(first)
    await first.make.channel({ models: busy.model })
    const { kinds, stale } = await beside(busy, () => staleAfter(first, { nodes: [second.url, first.url], writes }))
    expect(stale).toEqual([])
    isOfEveryKind(kinds)
  })

  test('with prices that change together, of which no call takes one without the other', async () => {
    const fixture = await createFixture(first)
    const { model, root } = fixture
    await first.make.channel({ models: model })
    const prices = long ? 20 : 10
    const price = (ratio: number) =>
      first.trpc(root).admin.options.save.mutate({
        changes: [
          { key: 'ModelRatio', value: { [model]: ratio } },
          { key: 'CompletionRatio', value: { [model]: ratio + 1 } },
        ],
      })
    await price(1)
    await beside(fixture, async () => {
      for (let ratio = 2; ratio <= prices; ratio += 1) {
        await price(ratio)
        for (const { url } of [second, first]) expect((await see(first, url, fixture)).ratio).toBe(ratio)
      }
    })
    const rows = (await first.logs()).filter((row) => row.model_name === model)
    expect(rows.length).toBeGreaterThan(2 * prices)
    for (const { other, quota, prompt_tokens: prompt, completion_tokens: completion } of rows) {
      const ratio = Number(other['model_ratio'])
      expect(other['completion_ratio']).toBe(ratio + 1)
      expect(quota).toBe(Math.round(ratio * (prompt + (ratio + 1) * completion)))
    }
  })

  test('with a key that a call found invalid, before that call is answered', async () => {
    await setOptions(first, { AutomaticDisableChannelEnabled: 'true', RetryTimes: '0' })
    await second.services.options.reload()
    const fixture = await createFixture(first)
    for (let round = 0; round < 5; round += 1) {
      const dead = { does: 'status=401,code=invalid_api_key', priority: 10 }
      const { model, ids } = await serve(first, dead, {})
      await first.pool.query('insert into channel_keys (channel_id, position, key_hmac) values ($1, 0, $2)', [
        ids[0],
        first.services.secrets.hmac('sk-upstream'),
      ])
      for (const { services } of [first, second]) await services.channels.reload()
      const askedAt = performance.now()
      expect((await see(first, second.url, { ...fixture, model })).status).toBeGreaterThanOrEqual(400)
      // Its caller waits no longer than a second for the key to be out of use.
      if (performance.now() - askedAt >= 1000) continue
      const next = await Promise.all([first, second].map(({ url }) => see(first, url, { ...fixture, model })))
      expect(next.map(({ status }) => status)).toEqual([200, 200])
      const served = (await first.logs()).filter((row) => row.model_name === model && row.type === 2)
      expect(served.flatMap(channelsOf)).toEqual([ids[1], ids[1]])
    }
  })

  test('with a key or an address that was replaced while the former one was in its cooldown', async () => {
    await setOptions(first, { RetryTimes: '0' })
    const fixture = await createFixture(first)
    const coolingDown = { does: 'status=429,retryafter=300', priority: 10 }
    const { model, ids } = await serve(first, coolingDown, {})
    const id = ids[0] as number
    const asked = { ...fixture, model }
    expect((await see(first, first.url, asked)).status).toBe(429)
    expect(first.services.circuitBreaker.coolingDown()).toMatchObject([{ channelId: id }])
    // Whichever node the console speaks to, it shows what any of them sees.
    const cooldowns = () => second.trpc(fixture.root).admin.channels.cooldowns.query({ ids: [id] })
    await expect.poll(cooldowns).toMatchObject([{ channelId: id, key: 0, model, status: 429 }])
    expect((await cooldowns())[0]?.until.getTime()).toBeGreaterThan(Date.now() + 200_000)
    const { upstream } = first
    await first.trpc(fixture.root).admin.channels.update.mutate({ id, baseUrl: upstream.url, key: 'sk-another' })
    expect(await see(first, first.url, asked)).toMatchObject({ status: 200, key: 'sk-another' })
    await expect.poll(cooldowns).toEqual([])
  })

  test('with what was written directly into the database, within moments', async () => {
    const { model, ids } = await serve(first, {})
    await second.services.channels.reload()
    await first.pool.query('update channels set status = 2 where id = $1', ids)
    await until(() => [first, second].every(({ services }) => services.channels.tiers('default', model).length === 0), {
      what: 'a node still uses a channel that is off',
    })
  })
})

test('what changes while a node starts holds from its first call on', async () => {
  const { model, ids } = await serve(first, {})
  const fixture = { ...(await createFixture(first)), model }
  const starting = startApp({ on: first })
  let status: 1 | 2 = 1
  let started = false
  const writing = (async () => {
    while (!started) {
      status = status === 1 ? 2 : 1
      await first.trpc(fixture.root).admin.channels.setStatus.mutate({ id: ids[0] as number, status })
    }
  })()
  await using third = await starting
  started = true
  await writing
  expect((await see(first, third.url, fixture)).status).toBe(status === 1 ? 200 : 503)
})
