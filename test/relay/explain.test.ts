import { afterAll, expect, test } from 'vitest'
import { type App, startApp } from '../support/app.ts'
import { channelsOf, setOptions, withOptions } from './serve.ts'
import { consumed } from './caller-dialects.ts'
import { withinAnHour } from '#test/support/within-an-hour.ts'

const app = await startApp()
afterAll(() => app[Symbol.asyncDispose]())

type Standing = { limit: number; remaining: number; reset_seconds: number }
type Limit = { requests: Standing | null; successes: Standing | null; admits: boolean; retry_after: number }
type Explanation = {
  candidates: { channel_id: number; model: string; probability: number; cooling_down: boolean; estimate: number }[]
  removed: { channel_id: number; rule: string }[]
  price_range: { least: number; most: number }
  limits: { token: Limit | null; user: Limit | null }
  balance: { user_quota: number; token_quota: number | null; admits: boolean }
  spend_caps: Record<string, unknown>[]
}

test('explain lists the channels with their probability, the others with the reason, the price and whether it can be paid, and calls no upstream', async () => {
  const heavy = await app.make.channel({ models: 'gpt-4o', weight: 90, priority: 5 })
  const light = await app.make.channel({ models: 'gpt-4o', weight: 0, priority: 5 })
  const lower = await app.make.channel({ models: 'gpt-4o' })
  const disabled = await app.make.channel({ models: 'gpt-4o', status: 2 })
  const foreign = await app.make.channel({ models: 'gpt-4o', group: 'vip' })
  await app.make.channel({ models: 'gpt-4o', group: 'closed' })
  await app.make.channel({ models: 'gpt-4o', group: 'closed', status: 2 })
  const token = await app.make.token(await app.make.user(), { remainQuota: 100 })
  await app.services.channels.reload()
  const body = { model: 'gpt-4o', max_tokens: 200, messages: [{ role: 'user', content: 'x'.repeat(400) }] }
  const reply = await app.relay(token, '/v1/explain', body)
  expect(reply.status).toBe(200)
  const explanation = (await reply.json()) as Explanation
  expect(explanation.candidates.map(({ channel_id }) => channel_id)).toEqual([heavy.id, light.id, lower.id])
  expect(explanation.candidates.map(({ probability }) => Math.round(probability * 1000))).toEqual([909, 91, 0])
  expect(explanation.candidates.map(({ cooling_down }) => cooling_down)).toEqual([false, false, false])
  expect(explanation.removed).toEqual([
    { channel_id: disabled.id, rule: 'channel_disabled' },
    { channel_id: foreign.id, rule: 'group' },
  ])
  expect(explanation.price_range.least).toBeGreaterThan(200 * 4 * 1.25)
  expect(explanation.balance).toMatchObject({ token_quota: 100, admits: false })
  expect(app.upstream.total).toBe(0)
  expect(await app.logs()).toEqual([])
})

const messages = [{ role: 'user', content: 'hello' }]
type Asked = Parameters<App['relay']>[0]
const explained = async (token: Asked, body: Record<string, unknown>): Promise<Explanation> =>
  (await (await app.relay(token, '/v1/explain', { messages, ...body })).json()) as Explanation

test('explain reports what is left of both limits and counts towards neither', async () => {
  await app.make.channel({ models: 'gpt-4.1' })
  const rateLimit = { period: 3600, count: 3, success: 2 }
  const token = await app.make.token(await app.make.user(), { rateLimit })
  await app.services.channels.reload()
  const limits = {
    ModelRequestRateLimitEnabled: 'true',
    ModelRequestRateLimitDurationMinutes: '60',
    ModelRequestRateLimitCount: '5',
    ModelRequestRateLimitSuccessCount: '4',
  }
  await withOptions(app, limits, async () => {
    const ask = () => explained(token, { model: 'gpt-4.1' })
    await ask()
    expect((await ask()).limits).toMatchObject({
      token: {
        requests: { limit: 3, remaining: 3 },
        successes: { limit: 2, remaining: 2 },
        admits: true,
        retry_after: 0,
      },
      user: {
        requests: { limit: 5, remaining: 5 },
        successes: { limit: 4, remaining: 4 },
        admits: true,
        retry_after: 0,
      },
    })
    for (let count = 0; count < 2; count += 1) {
      const reply = await app.relay(token, '/v1/chat/completions', { model: 'gpt-4.1', messages })
      expect(reply.status, await reply.text()).toBe(200)
    }
    const { token: own, user } = (await ask()).limits
    expect(user).toMatchObject({ requests: { remaining: 3 }, successes: { remaining: 2 }, admits: true })
    expect(own).toMatchObject({ requests: { remaining: 1 }, successes: { remaining: 0 }, admits: false })
    expect(own?.retry_after).toBeGreaterThan(0)
    expect((await app.relay(token, '/v1/chat/completions', { model: 'gpt-4.1', messages })).status).toBe(429)
  })
  expect((await explained(await app.make.token(await app.make.user()), { model: 'gpt-4.1' })).limits).toEqual({
    token: null,
    user: null,
  })
})

test('explain names the spend caps that cover the call, what is left of each and when it turns, and whether they admit it', async () => {
  await withinAnHour()
  await app.make.channel({ models: 'gpt-4.1-capped' })
  await setOptions(app, { ModelPrice: '{"gpt-4.1-capped":0.0002}' })
  await app.services.channels.reload()
  const user = await app.make.user()
  const token = await app.make.token(user)
  await app.make.spendCap({ scope: 'token', id: token.id }, { period: 'day', zone: 'Asia/Shanghai', amount: 250 })
  await app.make.spendCap({ scope: 'user', id: user.id }, { seconds: 18_000, amount: 1000, models: ['gpt-4.1*'] })
  await app.make.spendCap({ scope: 'user', id: user.id }, { amount: 1, models: ['o3*'] })
  const body = { model: 'gpt-4.1-capped', messages }
  const before = await explained(token, body)
  expect(before.spend_caps).toEqual([
    {
      scope: 'token',
      period: 'day',
      zone: 'Asia/Shanghai',
      models: [],
      limit: 250,
      spent: 0,
      remaining: 250,
      turns_at: expect.any(Number),
    },
    {
      scope: 'user',
      period: 'rolling',
      seconds: 18_000,
      models: ['gpt-4.1*'],
      limit: 1000,
      spent: 0,
      remaining: 1000,
      turns_at: null,
    },
  ])
  // Midnight there.
  expect((Number(before.spend_caps[0]?.['turns_at']) + 8 * 3600) % 86_400).toBe(0)
  expect(before.balance.admits).toBe(true)
  for (let count = 0; count < 2; count += 1) {
    expect((await app.relay(token, '/v1/chat/completions', body)).status).toBe(200)
  }
  const after = await explained(token, body)
  expect(after.spend_caps.map(({ spent, remaining }) => [spent, remaining])).toEqual([
    [200, 50],
    [200, 800],
  ])
  expect(after.balance.admits).toBe(false)
  expect((await app.relay(token, '/v1/chat/completions', body)).status).toBe(429)
})

test('a virtual name is explained by all models behind it, with the probability of each, and by the channels left out', async () => {
  const first = await app.make.channel({ models: 'gpt-4o-mini' })
  const second = await app.make.channel({ models: 'gpt-4.1-mini' })
  const later = await app.make.channel({ models: 'gpt-4.1-nano' })
  const off = await app.make.channel({ models: 'gpt-4.1-nano', status: 2 })
  const mapping = {
    any: [
      { model: 'gpt-4o-mini', priorities: 5, weight: 30 },
      { model: 'gpt-4.1-mini', priorities: 5, weight: 10 },
      { model: 'gpt-4.1-nano', priorities: 1 },
      { model: 'nobody-has-it', priorities: 9 },
    ],
  }
  await setOptions(app, { global_model_mapping: JSON.stringify({ mapping }) })
  await app.services.channels.reload()
  const explanation = await explained(await app.make.token(await app.make.user()), { model: 'any' })
  expect(explanation.candidates.map(({ channel_id, model, probability }) => [channel_id, model, probability])).toEqual([
    [first.id, 'gpt-4o-mini', 0.75],
    [second.id, 'gpt-4.1-mini', 0.25],
    [later.id, 'gpt-4.1-nano', 0],
  ])
  expect(explanation.removed).toEqual([{ channel_id: off.id, rule: 'channel_disabled' }])
})

test('a session is explained by the one channel that its calls go to', async () => {
  for (let count = 0; count < 6; count += 1) await app.make.channel({ models: 'gpt-4' })
  await app.services.channels.reload()
  const token = await app.make.token(await app.make.user())
  for (const session of ['a', 'b', 'c', 'd', 'e']) {
    const body = { model: 'gpt-4', prompt_cache_key: session }
    const chosen = (await explained(token, body)).candidates.filter(({ probability }) => probability > 0)
    expect(chosen.map(({ probability }) => probability)).toEqual([1])
    expect((await app.relay(token, '/v1/chat/completions', { ...body, messages })).status).toBe(200)
    expect(channelsOf((await consumed(app)).at(-1))).toEqual([chosen[0]?.channel_id])
  }
})
