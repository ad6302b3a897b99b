import { beforeEach, describe, expect, test } from 'vitest'
import { allowUnpriced, channelsOf, serve, withOptions } from './serve.ts'
import { chat, consumed, say, callerDialects } from './caller-dialects.ts'
import { startBalancedApp } from './relay-world.ts'

const app = await startBalancedApp()
await allowUnpriced(app)
const user = await app.make.user()
const token = await app.make.token(user, { remainQuota: 5_000_000 })
beforeEach(() => app.upstream.clear())

const balances = async () => {
  const { rows } = await app.pool.query(
    `select u.quota::int, u.used_quota::int, t.remain_quota::int, t.used_quota::int as token_used,
       (select count(*)::int from holds where status = 'open') as holds from users u join tokens t on t.user_id = u.id where t.id = $1`,
    [token.id],
  )
  return rows[0]
}
const directives = () => app.upstream.requests.map(({ directives: given }) => given['header'] ?? '')
describe('the log of failures', () => {
  const rowsOf = async (model: string) => {
    await app.services.failureLog.flushed()
    const rows = (await app.logs())
      .filter(({ model_name: name }) => name === model)
      .map(({ type, other }) => ({ type, chain: (other['admin_info'] as { use_channel: string[] }).use_channel }))
    const { rows: sums } = await app.pool.query<{ calls: number; attempts: number }>(
      `select coalesce(sum(calls), 0)::int as calls, coalesce(sum(attempts), 0)::int as attempts from failures_hourly where model_name = $1`,
      [model],
    )
    return { rows, sums: sums[0] }
  }

  test('has one row for a call, with all its attempts, however often it was tried', async () => {
    const { model, ids } = await serve(app, { priority: 2, does: 'status=500' }, { priority: 1, does: 'status=503' })
    await withOptions(app, { RetryTimes: '1' }, async () => {
      expect((await say(app, chat, { token, model })).status).toBe(503)
    })
    const { rows, sums } = await rowsOf(model)
    expect(rows).toEqual([{ type: 6, chain: ids.map(String) }])
    expect(sums).toEqual({ calls: 1, attempts: 2 })
  })

  test('names what is ours to say in the text, in each attempt and in an answer cut short, for readers of either language', async () => {
    const { model } = await serve(app, { baseUrl: 'http://127.0.0.1:9' })
    const refusal = { code: 'relay.connection_failed', params: {} }
    const { model: other } = await serve(app, { does: 'status=500' })
    await withOptions(app, { RetryTimes: '0' }, async () => {
      for (const name of [model, other]) await say(app, chat, { token, model: name })
    })
    await app.services.failureLog.flushed()
    const failed = (await app.logs()).find((row) => row.model_name === model)
    expect(failed?.content).toBe('status code 500: 无法连接上游服务')
    expect(failed?.other).toMatchObject({ refusal, admin_info: { attempts: [{ refusal }] } })
    expect((await app.logs()).find((row) => row.model_name === other)?.other).not.toHaveProperty('refusal')

    const { model: cut } = await serve(app, { does: 'cut=2' })
    await (await say(app, chat, { token, model: cut, stream: true })).text()
    const charged = (await app.logs()).find((row) => row.model_name === cut)
    expect(charged?.other).toMatchObject({ end: 'failed', refusal, admin_info: { attempts: [{ refusal }] } })
  })

  test('leaves a call that was answered in the end to its charge, and counts the attempts before', async () => {
    const { model, ids } = await serve(app, { priority: 1, does: 'status=500' }, {})
    expect((await say(app, chat, { token, model })).status).toBe(200)
    const { rows, sums } = await rowsOf(model)
    expect(rows).toEqual([{ type: 2, chain: ids.map(String) }])
    expect(sums).toEqual({ calls: 0, attempts: 1 })
  })

  test('counts failures that the operator does not want logged', async () => {
    const { model } = await serve(app, { does: 'status=500' })
    await withOptions(app, { LogErrorEnabled: 'false', RetryTimes: '0' }, async () => {
      await say(app, chat, { token, model })
      const { rows, sums } = await rowsOf(model)
      expect(rows).toEqual([])
      expect(sums).toEqual({ calls: 1, attempts: 1 })
    })
  })

  test('knows nothing of refusals that no upstream had a part in', async () => {
    const { model } = await serve(app, {})
    const poor = await app.make.token(user, { remainQuota: 0 })
    expect((await say(app, chat, { token: poor, model })).status).toBeGreaterThanOrEqual(400)
    expect(await rowsOf(model)).toEqual({ rows: [], sums: { calls: 0, attempts: 0 } })
  })
})

describe('where a call goes when a channel fails', () => {
  test('down the priorities; the one that answers is charged, once, and the log names them all', async () => {
    const { model, ids } = await serve(
      app,
      { priority: 10, does: 'status=500,header=x:top' },
      { priority: 0, does: 'usage=100:20,header=x:low' },
      { priority: 5, does: 'status=503,header=x:middle' },
    )
    const [top, low, middle] = ids
    const before = await consumed(app)
    const reply = await say(app, chat, { token, model })
    expect(reply.status).toBe(200)
    expect(directives()).toEqual(['x:top', 'x:middle', 'x:low'])
    const rows = (await consumed(app)).slice(before.length)
    // (100 + 20) × 37.5
    expect(rows.map((row) => [row.quota, row.channel_id])).toEqual([[4500, low]])
    expect(channelsOf(rows[0])).toEqual([top, middle, low])
    const { rows: used } = await app.pool.query<{ id: number; used: number }>(
      'select id, used_quota::int as used from channels where id = any ($1::int[]) order by id',
      [ids],
    )
    expect(used).toEqual([
      { id: top, used: 0 },
      { id: low, used: 4500 },
      { id: middle, used: 0 },
    ])
  })

  test('to each once before to any twice', async () => {
    const failing = ['a', 'b', 'c'].map((name) => ({ does: `status=500,header=x:${name}` }))
    const { model } = await serve(app, ...failing)
    for (let round = 0; round < 5; round += 1) {
      app.upstream.clear()
      expect((await say(app, chat, { token, model })).status).toBe(500)
      expect(directives().toSorted()).toEqual(['x:a', 'x:b', 'x:c'])
    }
    await withOptions(app, { RetryTimes: '4' }, async () => {
      app.upstream.clear()
      expect((await say(app, chat, { token, model })).status).toBe(500)
      expect(directives()).toHaveLength(5)
      expect(directives().slice(0, 3).toSorted()).toEqual(['x:a', 'x:b', 'x:c'])
    })
  })

  test('to another channel before to another key of the same', async () => {
    const { model } = await serve(app, { does: 'status=500', key: 'sk-one,sk-two' }, { does: 'status=500' })
    await say(app, chat, { token, model })
    const keys = app.upstream.requests.map((request) => request.key)
    expect(keys.toSorted()).toEqual(['sk-one', 'sk-two', 'sk-upstream'])
    expect(keys.indexOf('sk-upstream')).toBeLessThan(2)
  })

  test('nowhere else when the key names its channel', async () => {
    const admin = await app.make.user({ role: 10 })
    const adminToken = await app.make.token(admin)
    const { model, ids } = await serve(app, { does: 'status=500' }, {})
    const reply = await say(app, chat, { token: adminToken, key: `${adminToken.key}-${ids[0]}`, model })
    expect(reply.status).toBe(500)
    expect(app.upstream.total).toBe(1)
    const other = await say(app, chat, { token: adminToken, key: `${adminToken.key}-${ids[1]}`, model: 'any-model' })
    expect(other.status).toBe(200)
  })

  test('on past connections refused, reset or silent', async () => {
    const { model } = await serve(
      app,
      { priority: 3, baseUrl: 'http://127.0.0.1:9' },
      { priority: 2, does: 'reset' },
      { priority: 1, does: 'hang', setting: '{"first_byte_timeout":0.2}' },
      { priority: 0 },
    )
    await withOptions(app, { RetryTimes: '3' }, async () => {
      for (const stream of [false, true]) {
        const reply = await say(app, chat, { token, model, stream })
        expect(await reply.text()).toContain('hello')
      }
    })
  })
})

describe('a channel that cannot take the call', () => {
  test('is passed over without being asked: what it cannot express, what is too long for it', async () => {
    const two = (model: string) => ({ ...chat.body(model, 'hello', false), n: 2 })
    const { model: single, ids } = await serve(app, { priority: 1, type: 14 }, {})
    const both = await say(app, chat, { token, body: two(single) })
    expect(((await both.json()) as { choices: unknown[] }).choices).toHaveLength(2)
    expect(app.upstream.total).toBe(1)
    expect(channelsOf((await consumed(app)).at(-1))).toEqual(ids)
    // The log has the reason in the words of whoever reads it.
    const reason = { reason: '该模型不支持大于 1 的 n', refusal: { code: 'unsupported.answers' } }
    expect((await consumed(app)).at(-1)?.other).toMatchObject({ admin_info: { attempts: [reason, {}] } })

    const { model: short, ids: places } = await serve(app, { priority: 1 }, {})
    await app.pool.query('update channels set max_input_tokens = 50 where id = $1', [places[0]])
    await app.services.channels.reload()
    await say(app, chat, { token, model: short })
    expect((await consumed(app)).at(-1)?.channel_id).toBe(places[0])
    await say(app, chat, { token, model: short, text: 'word '.repeat(100) })
    expect((await consumed(app)).at(-1)?.channel_id).toBe(places[1])
  })

  test('and is the only one refuses with the reason', async () => {
    const { model, ids } = await serve(app, { type: 14 })
    await app.pool.query('update channels set max_input_tokens = 50 where id = $1', [ids[0]])
    await app.services.channels.reload()
    const two = { ...chat.body(model, 'hello', false), n: 2 }
    for (const [body, message, language] of [
      [two, '该模型不支持大于 1 的 n', ''],
      [two, 'n greater than 1 is not supported by this model', 'en'],
      [chat.body(model, 'word '.repeat(100), false), 'maximum context length is 50 tokens', ''],
    ] as const) {
      const reply = await say(app, chat, { token, body, headers: { 'accept-language': language } })
      expect(reply.status).toBe(400)
      expect(chat.readError(await reply.json()).message).toContain(message)
    }
    expect(app.upstream.total).toBe(0)
  })
})

describe('what is tried again', () => {
  const statuses = (list: number[], retried: boolean) => list.map((status) => ({ status, retried }))
  test.each([
    ...statuses([401, 402, 403, 404, 409, 413, 422, 429, 500, 502, 503, 520, 529, 307], true),
    ...statuses([400, 408, 504, 524], false),
  ])('$status: $retried', async ({ status, retried }) => {
    const { model } = await serve(app, { priority: 1, does: `status=${status}` }, {})
    const reply = await say(app, chat, { token, model })
    expect(reply.status).toBe(retried ? 200 : status)
    expect(app.upstream.total).toBe(retried ? 2 : 1)
    // What may pass, official clients try again by themselves; what is wrong with the call they leave.
    if (!retried) expect(reply.headers.get('x-should-retry')).toBe(status === 400 ? 'false' : null)
  })

  test('400 of a channel that answers so for faults of its own', async () => {
    const { model } = await serve(app, { priority: 1, type: 14, does: 'status=400' }, {})
    expect((await say(app, chat, { token, model })).status).toBe(200)
  })

  test('by the operator’s list alone, where there is one', async () => {
    const { model: mild } = await serve(app, { priority: 1, does: 'status=400' }, {})
    const { model: hard } = await serve(app, { priority: 1, does: 'status=500' }, {})
    await withOptions(app, { 'global.auto_retry_enabled': 'true', RetryTimes: '0' }, async () => {
      expect((await say(app, chat, { token, model: mild })).status).toBe(200)
      expect((await say(app, chat, { token, model: hard })).status).toBe(200)
    })
    const codes = { 'global.auto_retry_status_codes': '400,501-599' }
    await withOptions(app, { 'global.auto_retry_enabled': 'true', ...codes }, async () => {
      expect((await say(app, chat, { token, model: mild })).status).toBe(200)
      expect((await say(app, chat, { token, model: hard })).status).toBe(500)
    })
  })

  test('on the same channel once all were tried, unless the operator wants another one each time', async () => {
    const { model } = await serve(app, { does: 'status=500' })
    expect((await say(app, chat, { token, model })).status).toBe(500)
    expect(app.upstream.total).toBe(3)
    await withOptions(app, { 'global.auto_retry_force_channel_switch': 'true' }, async () => {
      app.upstream.clear()
      const reply = await say(app, chat, { token, model })
      expect(reply.status).toBe(500)
      expect(chat.readError(await reply.json()).message).toContain('Simulated failure 500.')
      expect(app.upstream.total).toBe(1)
    })
  })
})

describe('what a caller reads of a failure', () => {
  test.each(callerDialects)('in $dialect: the upstream’s words, the status, the request id', async (by) => {
    const { model } = await serve(app, { does: 'status=400,message=no%2C not so' })
    const reply = await say(app, by, { token, model })
    expect(reply.status).toBe(400)
    const { message } = by.readError(await reply.json())
    expect(message).toBe(`no, not so (request id: ${reply.headers.get('x-request-id')})`)
  })

  test('without the channel’s key or address', async () => {
    const key = 'sk-upstream-very-secret'
    const message = `message=key ${key} at ${app.upstream.url} is bad`.replaceAll('/', '%2F')
    for (const status of [400, 401, 500]) {
      const { model } = await serve(app, { key, does: `status=${status},${message}` })
      const text = await (await say(app, chat, { token, model })).text()
      expect(text).not.toContain(key)
      // The digits of an id may be those of the port.
      expect(text.replace(/request id: \w+/, '')).not.toContain(String(app.upstream.port))
    }
  })

  test('less, where the operator hides it', async () => {
    const { model } = await serve(app, { does: 'status=400,message=secret words,type=strange,code=odd' })
    const { model: busy } = await serve(app, { does: 'status=429,retryafter=7' })
    await withOptions(app, { 'global.hide_upstream_error_enabled': 'true', RetryTimes: '0' }, async () => {
      const reply = await say(app, chat, { token, model })
      expect(reply.status).toBe(400)
      expect(await reply.json()).toEqual({
        error: {
          message: `upstream returned status 400 (request id: ${reply.headers.get('x-request-id')})`,
          type: 'upstream_error',
          param: '400',
          code: 'bad_response_status_code',
        },
      })
      const refused = await say(app, chat, { token, model: busy })
      expect(refused.status).toBe(429)
      expect(refused.headers.get('retry-after')).toBe('7')
      expect(chat.readError(await refused.json()).message).toContain('上游繁忙，请稍后重试')
    })
  })

  test.each(callerDialects)(
    'in $dialect: of an upstream that is busy that it is, or what it says of it',
    async (by) => {
      const { model } = await serve(app, { does: 'status=429,message=come back at noon' })
      await withOptions(app, { RetryTimes: '0' }, async () => {
        const reply = await say(app, by, { token, model })
        expect(reply.status).toBe(429)
        const { message } = by.readError(await reply.json())
        const isOfOpenAi = by.readError === chat.readError
        expect(message).toContain(isOfOpenAi ? '上游繁忙，请稍后重试' : 'come back at noon')
      })
    },
  )

  test('the status the channel maps it to, which also decides about the next attempt', async () => {
    const statusCodeMapping = '{"400":"500","500":"418"}'
    const { model: retried } = await serve(app, { priority: 1, statusCodeMapping, does: 'status=400' }, {})
    expect((await say(app, chat, { token, model: retried })).status).toBe(200)
    const { model: mappedModel } = await serve(app, { statusCodeMapping, does: 'status=500' })
    expect((await say(app, chat, { token, model: mappedModel })).status).toBe(418)
  })

  test.each([
    ['refused', 'http://127.0.0.1:9', 500, '无法连接上游服务'],
    ['silent', undefined, 504, '上游响应超时'],
  ])('of a connection that is %s no more than that', async (_name, baseUrl, status, message) => {
    const setting = '{"first_byte_timeout":0.2}'
    const route = baseUrl === undefined ? { does: 'hang', setting } : { baseUrl }
    const { model } = await serve(app, route)
    await withOptions(app, { RetryTimes: '0' }, async () => {
      for (const by of callerDialects) {
        const reply = await say(app, by, { token, model })
        expect(reply.status).toBe(status)
        expect(by.readError(await reply.json()).message).toContain(message)
      }
    })
  })
})

test('money set aside for a call that fails before its first byte is given back to user and token', async () => {
  const before = await balances()
  await withOptions(app, { RetryTimes: '0' }, async () => {
    for (const does of ['status=500', 'status=400', 'reset', 'empty', 'errorevent=0', 'cut=0', 'hang']) {
      const { model } = await serve(app, { does, setting: '{"first_byte_timeout":0.2}' })
      // What goes wrong in an event goes wrong only where there are events.
      for (const stream of does.startsWith('error') ? [true] : [false, true]) {
        const reply = await say(app, chat, { token, model, stream })
        expect(reply.status, `${does} ${stream}: ${await reply.text()}`).toBeGreaterThanOrEqual(400)
        // A caller is answered, after a second, although the database has yet to answer.
        await expect.poll(balances, { message: does }).toEqual(before)
      }
    }
  })
})
