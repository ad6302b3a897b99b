import { beforeEach, describe, expect, test } from 'vitest'
import { createLimits } from '#features/limits/service.ts'
import { allowUnpriced, serve, setOptions, withOptions } from '../relay/serve.ts'
import { chat, say, callerDialects } from '../relay/caller-dialects.ts'
import { startBalancedApp } from '#test/relay/relay-world.ts'

const app = await startBalancedApp()
await allowUnpriced(app)
await setOptions(app, { RetryTimes: '0' })
const model = (await serve(app, {})).model
beforeEach(() => app.upstream.clear())

type Limit = { period: number; count: number; success: number }
const someone = async (rateLimit?: Limit, group = '') => {
  const user = await app.make.user({ quota: 1_000_000_000 })
  return app.make.token(user, { group, ...(rateLimit ? { rateLimit } : {}) })
}

/** The limit on the requests of one user: all of them, and those that succeed. */
const userLimit = (total: number, success: number, run: () => Promise<void>, more: Record<string, string> = {}) =>
  withOptions(
    app,
    {
      ModelRequestRateLimitEnabled: 'true',
      ModelRequestRateLimitDurationMinutes: '60',
      ModelRequestRateLimitCount: String(total),
      ModelRequestRateLimitSuccessCount: String(success),
      ...more,
    },
    run,
  )

const statusesOf = async (calls: Promise<Response>[]) => (await Promise.all(calls)).map(({ status }) => status)
const often = (count: number, call: () => Promise<Response>) => statusesOf(Array.from({ length: count }, call))
const inTurn = async (count: number, call: () => Promise<Response>) => {
  const statuses: number[] = []
  for (let index = 0; index < count; index += 1) {
    const reply = await call()
    await reply.arrayBuffer()
    statuses.push(reply.status)
  }
  return statuses
}

describe('the limit on the requests of a user', () => {
  test('of 50 lets exactly 50 of 200 parallel requests reach an upstream, by all requests or by successes alone', async () => {
    for (const [total, success] of [
      [50, 1000],
      [0, 50],
    ] as const) {
      await userLimit(total, success, async () => {
        const token = await someone()
        app.upstream.clear()
        const statuses = await often(200, () => say(app, chat, { token, model }))
        expect(statuses.filter((status) => status === 200)).toHaveLength(50)
        expect(statuses.filter((status) => status === 429)).toHaveLength(150)
        expect(app.upstream.total).toBe(50)
      })
    }
  })

  test('counts what failed among all requests, and not among the successful ones', async () => {
    const failing = '[[status=400]] no'
    await userLimit(0, 2, async () => {
      const token = await someone()
      expect(await inTurn(4, () => say(app, chat, { token, model, text: failing }))).toEqual([400, 400, 400, 400])
      expect(await inTurn(3, () => say(app, chat, { token, model }))).toEqual([200, 200, 429])
    })
    await userLimit(2, 1000, async () => {
      const token = await someone()
      expect(await inTurn(3, () => say(app, chat, { token, model, text: failing }))).toEqual([400, 400, 429])
    })
  })

  test('is one for all tokens of the user, and none of anybody else’s', async () => {
    await userLimit(2, 1000, async () => {
      const user = await app.make.user()
      const tokens = await Promise.all([app.make.token(user), app.make.token(user), someone()])
      const statuses = []
      for (const token of tokens) statuses.push((await say(app, chat, { token, model })).status)
      expect(statuses).toEqual([200, 200, 200])
      expect((await say(app, chat, { token: tokens[0], model })).status).toBe(429)
    })
  })

  test.each(callerDialects)('refuses in $dialect with one error, the time to wait and what is left', async (by) => {
    const named = (what: string) =>
      by.dialect === 'messages' ? `anthropic-ratelimit-requests-${what}` : `x-ratelimit-${what}-requests`
    await userLimit(2, 1000, async () => {
      const token = await someone()
      const first = await say(app, by, { token, model })
      expect([first.headers.get(named('limit')), first.headers.get(named('remaining'))]).toEqual(['2', '1'])
      expect((await say(app, by, { token, model })).headers.get(named('remaining'))).toBe('0')
      const asked = app.upstream.total
      const reply = await say(app, by, { token, model, stream: true })
      expect(reply.status).toBe(429)
      const wait = Number(reply.headers.get('retry-after'))
      expect(wait).toBeGreaterThan(0)
      expect(wait).toBeLessThanOrEqual(3600)
      expect(reply.headers.get(named('remaining'))).toBe('0')
      expect(reply.headers.get(named('reset'))).toBeTruthy()
      const text = await reply.text()
      expect(by.readError(JSON.parse(text)).message).toContain('请求过多：60 分钟内最多 2 次（含失败请求）')
      expect(app.upstream.total).toBe(asked)
    })
    await userLimit(0, 1, async () => {
      const token = await someone()
      await say(app, by, { token, model })
      const reply = await say(app, by, { token, model })
      expect(by.readError(await reply.json()).message).toContain('请求过多：60 分钟内最多成功 1 次')
    })
  })

  test('has numbers of its own for a group, and none for the exempt one', async () => {
    const groups = {
      UserUsableGroups: '{"default":"","vip":"","bulk-ok":""}',
      GroupRatio: '{"default":1,"vip":1,"bulk-ok":1}',
    }
    const { model: shared } = await serve(app, { group: 'default,vip,bulk-ok' })
    const limits = { ...groups, ModelRequestRateLimitGroup: '{"vip":[3,1000]}' }
    await userLimit(
      1,
      1000,
      async () => {
        const [usual, vip, bulk] = await Promise.all([
          someone(),
          someone(undefined, 'vip'),
          someone(undefined, 'bulk-ok'),
        ])
        const asking = (token: typeof usual) => () => say(app, chat, { token, model: shared })
        expect(await inTurn(2, asking(usual))).toEqual([200, 429])
        expect(await inTurn(4, asking(vip))).toEqual([200, 200, 200, 429])
        expect(await inTurn(2, asking(bulk))).toEqual([200, 429])
        await setOptions(app, { 'global.rate_limit_exempt_enabled': 'true' })
        expect(await inTurn(3, asking(bulk))).toEqual([200, 200, 200])
        const limited = await someone({ period: 3600, count: 1, success: 0 }, 'bulk-ok')
        expect(await inTurn(2, asking(limited))).toEqual([200, 429])
        const another = await someone(undefined, 'bulk-ok')
        await withOptions(app, { 'global.rate_limit_exempt_group': 'vip' }, async () => {
          expect(await inTurn(2, asking(another))).toEqual([200, 429])
          expect(await inTurn(2, asking(vip))).toEqual([200, 200])
        })
        await setOptions(app, { 'global.rate_limit_exempt_enabled': 'false' })
      },
      limits,
    )
  })

  test('does not hold for model lists, balances and the playground, nor where it is switched off or has no duration', async () => {
    const user = await app.make.user()
    const token = await app.make.token(user)
    const get = (path: string) => fetch(app.url + path, { headers: { authorization: `Bearer sk-${token.key}` } })
    await userLimit(1, 1000, async () => {
      expect(await inTurn(2, () => say(app, chat, { token, model }))).toEqual([200, 429])
      expect(await inTurn(3, () => get('/v1/models'))).toEqual([200, 200, 200])
      expect(await inTurn(3, () => get('/v1/dashboard/billing/usage'))).toEqual([200, 200, 200])
      const play = () =>
        fetch(`${app.url}/pg/chat/completions`, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            cookie: `session=${user.sessionId}`,
            'x-user-id': String(user.id),
            origin: app.url,
          },
          body: JSON.stringify(chat.body(model, 'hello', false)),
        })
      expect(await inTurn(3, play)).toEqual([200, 200, 200])
    })
    const thrice = async () => expect(await inTurn(3, () => say(app, chat, { token, model }))).toEqual([200, 200, 200])
    await userLimit(1, 1, thrice, { ModelRequestRateLimitDurationMinutes: '0' })
    await userLimit(1, 1, thrice, { ModelRequestRateLimitEnabled: 'false' })
  })

  test('that cannot be counted refuses with 500 rather than letting everybody through', async () => {
    const { limits } = app.services
    const token = await someone()
    await userLimit(1, 1, async () => {
      app.services.limits = { ...limits, admit: () => Promise.reject(new Error('nobody counts')) }
      const reply = await say(app, chat, { token, model }).finally(() => (app.services.limits = limits))
      expect(reply.status).toBe(500)
      expect(chat.readError(await reply.json()).code).toBe('rate_limit_check_failed')
      expect(app.upstream.total).toBe(0)
    })
  })
})

describe('the limit of a token', () => {
  test('of 50 lets exactly 50 of 200 parallel requests through, by either of its numbers', async () => {
    for (const numbers of [
      { count: 50, success: 0 },
      { count: 0, success: 50 },
    ]) {
      const token = await someone({ period: 3600, ...numbers })
      const statuses = await often(200, () => say(app, chat, { token, model }))
      expect(statuses.filter((status) => status === 200)).toHaveLength(50)
    }
  })

  test('refuses with its documented body until its window ends, which opens with the first request', async () => {
    const token = await someone({ period: 600, count: 1, success: 0 })
    const { limits } = app.services
    let passed = 0
    app.services.limits = createLimits({ now: () => Date.now() + passed })
    expect((await say(app, chat, { token, model })).status).toBe(200)
    const reply = await say(app, chat, { token, model })
    expect(reply.status).toBe(429)
    expect(chat.readError(await reply.json())).toMatchObject({
      kind: 'gateway_error',
      code: 'rate_limit_exceeded',
      message: expect.stringContaining('rate limit of this key exceeded') as string,
    })
    const wait = Number(reply.headers.get('retry-after'))
    expect(wait).toBeGreaterThan(0)
    expect(wait).toBeLessThanOrEqual(600)
    passed = wait * 1000
    expect((await say(app, chat, { token, model })).status).toBe(200)
    app.services.limits = limits
  })

  test('refused by its owner’s limit, a request leaves its place among the token’s successes', async () => {
    const user = await app.make.user()
    const token = await app.make.token(user, { rateLimit: { period: 3600, count: 0, success: 2 } })
    await userLimit(1, 1000, async () => {
      expect(await inTurn(4, () => say(app, chat, { token, model }))).toEqual([200, 429, 429, 429])
    })
    expect(await inTurn(2, () => say(app, chat, { token, model }))).toEqual([200, 429])
  })

  test('holds for every kind of call, the documented 501 included', async () => {
    const token = await someone({ period: 3600, count: 1, success: 0 })
    const post = (path: string) => app.relay(token, path, { model, input: 'hello' })
    expect((await post('/v1/images/variations')).status).toBe(501)
    for (const path of ['/v1/embeddings', '/v1/images/variations', '/v1/messages/count_tokens', '/v1/responses'])
      expect((await post(path)).status, path).toBe(429)
  })
})
