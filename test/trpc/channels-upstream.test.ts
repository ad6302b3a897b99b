import { createServer, type IncomingMessage } from 'node:http'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { createTransport } from '#relay/transport/send.ts'
import { startUpstream } from '#test/simulator/index.ts'
import { sparkKeyText } from '#test/simulator/spark/vendor.ts'
import type { RouterInputs } from '#server/app-router.ts'
import { startConsole } from '#test/support/console-app.ts'
import { listenLocally } from '#test/support/local-server.ts'
import { completion } from '#test/support/receiver.ts'

const secret = 'sk-upstream-secret-1'

type Seen = { path: string; headers: IncomingMessage['headers']; body: Record<string, unknown> }
type Answer = { status?: number; body: unknown; hangUp?: boolean; headers?: Record<string, string> }

const app = await startConsole()
app.services.transport = createTransport()
// The first account is the one that tests are booked under.
const admin = await app.person({ role: 100, username: 'root', group: 'vip' })
const upstream = { url: '', seen: [] as Seen[], answer: (_seen: Seen): Answer => ({ body: {} }) }
const server = createServer((req, res) => {
  const chunks: Buffer[] = []
  req.on('data', (chunk: Buffer) => chunks.push(chunk))
  req.on('end', () => {
    const text = Buffer.concat(chunks).toString()
    const seen = { path: req.url ?? '', headers: req.headers, body: text === '' ? {} : JSON.parse(text) }
    upstream.seen.push(seen)
    const { status = 200, body, hangUp, headers = {} } = upstream.answer(seen)
    if (hangUp) return res.destroy()
    res.writeHead(status, { 'content-type': 'application/json', ...headers })
    return res.end(typeof body === 'string' ? body : JSON.stringify(body))
  })
})
const listening = await listenLocally(server)
upstream.url = listening.url
afterAll(async () => {
  await listening[Symbol.asyncDispose]()
  await app.services.transport.close()
  await app[Symbol.asyncDispose]()
})
beforeEach(async () => {
  upstream.seen.length = 0
  await app.sql('truncate channels, channel_keys, abilities, channel_probes, logs')
})

const channels = async () => (await app.trpc(admin)).admin.channels

type Input = Partial<RouterInputs['admin']['channels']['create']>
const create = async (wanted: Input = {}) =>
  (await channels()).create({
    name: 'one',
    type: 1,
    key: `${secret},sk-upstream-secret-2`,
    models: ['gpt-4o-mini'],
    baseUrl: upstream.url,
    ...wanted,
  })

const refusalOf = async (call: Promise<unknown>): Promise<{ code?: string; message?: string }> => {
  const error = await call.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  return (error as { cause?: { code?: string; message?: string } }).cause ?? {}
}

describe('a test of a channel', () => {
  it('is a small real call with the first key, kept in the channel, its health and the log', async () => {
    upstream.answer = () => ({ body: completion })
    const { id } = await create({ openaiOrganization: 'org-1', paramOverride: '{"top_p":0.5}' })
    const result = await (await channels()).probe({ id })
    expect(result).toMatchObject({ model: 'gpt-4o-mini', success: true, message: '', retryable: false })
    expect(upstream.seen).toMatchObject([
      {
        path: '/v1/chat/completions',
        headers: { authorization: `Bearer ${secret}`, 'openai-organization': 'org-1' },
        body: { model: 'gpt-4o-mini', max_tokens: 10, top_p: 0.5, messages: [{ role: 'user', content: 'hi' }] },
      },
    ])
    const detail = await (await channels()).get({ id })
    expect(detail.responseTimeMs).toBe(Math.round(result.seconds * 1000))
    expect(detail.testedAt).not.toBeNull()
    expect(await (await channels()).health({ ids: [id] })).toMatchObject([
      { channelId: id, probes: [{ model: 'gpt-4o-mini', success: true, message: '' }] },
    ])
    expect(await app.sql('select *, quota::int as quota from logs')).toMatchObject([
      {
        user_id: admin.id,
        username: 'root',
        type: 2,
        token_name: '模型测试',
        content: '模型测试',
        quota: 0,
        prompt_tokens: 8,
        completion_tokens: 2,
        channel_id: id,
        group: 'vip',
        // (8 + 2 × 4) × 0.075, rounded.
        other: { test_quota: 1, model_ratio: 0.075, admin_info: { use_channel: [String(id)] } },
      },
    ])
    expect(await app.sql('select used_quota::int as used, request_count::int as calls from users')).toEqual([
      { used: 0, calls: 0 },
    ])
  })

  it('has no override where calls have none because bodies pass through', async () => {
    upstream.answer = () => ({ body: completion })
    const passing = { setting: '{"pass_through_body_enabled":true}' }
    const { id } = await create({ paramOverride: '{"top_p":0.5}', ...passing })
    expect(await (await channels()).probe({ id })).toMatchObject({ success: true })
    expect(upstream.seen[0]?.body).toMatchObject({ max_tokens: 10 })
    expect(upstream.seen[0]?.body).not.toHaveProperty('top_p')
  })

  it('is sent with the first key that is on, else with one that went off by itself, before what a person switched off', async () => {
    upstream.answer = () => ({ body: completion })
    const { id } = await create({ key: 'sk-key-one,sk-key-two,sk-key-three' })
    const api = await channels()
    const used = async () => {
      await api.probe({ id })
      return upstream.seen.at(-1)?.headers.authorization
    }
    await app.sql('update channel_keys set status = 2 where position = 0')
    expect(await used()).toBe('Bearer sk-key-two')
    await api.fetchModelsOf({ id }).catch(() => {})
    expect(upstream.seen.at(-1)).toMatchObject({ path: '/v1/models', headers: { authorization: 'Bearer sk-key-two' } })
    await app.sql('update channel_keys set status = 2 where position = 1')
    await app.sql('update channel_keys set status = 3 where position = 2')
    expect(await used()).toBe('Bearer sk-key-three')
    await app.sql('update channel_keys set status = 2')
    expect(await used()).toBe('Bearer sk-key-one')
  })

  it('takes the model asked for, else the chosen one, else the first, by the name the channel gives it', async () => {
    upstream.answer = () => ({ body: completion })
    const { id } = await create({ models: ['gpt-4o', 'o3-mini', 'alias'], modelMapping: '{"alias":"gpt-4o-mini"}' })
    await (await channels()).probe({ id })
    await (await channels()).update({ id, testModel: 'o3-mini' })
    await (await channels()).probe({ id })
    await (await channels()).probe({ id, model: 'alias' })
    expect(upstream.seen.map(({ body }) => body['model'])).toEqual(['gpt-4o', 'o3-mini', 'gpt-4o-mini'])
    expect(upstream.seen[1]?.body).toMatchObject({ max_completion_tokens: 10 })
    const [log] = await app.sql('select model_name, other from logs order by id desc limit 1')
    expect(log).toMatchObject({ model_name: 'alias', other: { upstream_model_name: 'gpt-4o-mini' } })
  })

  it('tries a channel of Spark over its signed socket', async () => {
    await using spark = await startUpstream()
    const wanted = { type: 18, baseUrl: spark.url, models: ['SparkDesk-v3.5'] }
    const right = await create({ ...wanted, key: sparkKeyText })
    expect(await (await channels()).probe({ id: right.id })).toMatchObject({ success: true })
    expect(spark.requests.at(-1)).toMatchObject({ path: '/v3.5/chat' })
    const wrong = await create({ ...wanted, key: 'simulated-app|wrong|simulated-key' })
    expect(await (await channels()).probe({ id: wrong.id })).toMatchObject({ success: false })
  })

  it('asks for an embedding or a ranking where the model is made for that', async () => {
    upstream.answer = ({ path }) => ({
      body: path.endsWith('rerank')
        ? { results: [{ index: 0, relevance_score: 0.9 }] }
        : { data: [{ index: 0, embedding: [0.1] }], usage: { prompt_tokens: 2 } },
    })
    const { id } = await create({ models: ['text-embedding-3-small', 'bge-rerank'] })
    await app.setOptions({ SelfUseModeEnabled: 'true' })
    expect(await (await channels()).probe({ id })).toMatchObject({ success: true })
    expect(await (await channels()).probe({ id, model: 'bge-rerank' })).toMatchObject({ success: true })
    await app.setOptions({ SelfUseModeEnabled: 'false' })
    expect(upstream.seen).toMatchObject([
      { path: '/v1/embeddings', body: { model: 'text-embedding-3-small', input: ['hello world'] } },
      { path: '/v1/rerank', body: { documents: ['hello world'] } },
    ])
  })

  it('embeds and ranks in the provider’s own words, and signs what wants a signature', async () => {
    upstream.answer = ({ path, headers }) => {
      if (path === '/v2/embed') return { body: { embeddings: { float: [[0.1]] }, meta: {} } }
      if (path === '/v2/rerank') return { body: { results: [{ index: 0, relevance_score: 0.9 }] } }
      const signed = String(headers.authorization).startsWith('AWS4-HMAC-SHA256 Credential=AK/')
      const message = { role: 'assistant', content: [{ text: 'Hi' }] }
      return signed ? { body: { output: { message }, stopReason: 'end_turn' } } : { status: 403, body: {} }
    }
    await app.setOptions({ SelfUseModeEnabled: 'true' })
    const cohere = await create({ type: 34, models: ['embed-v4.0', 'rerank-v3.5'] })
    expect(await (await channels()).probe({ id: cohere.id })).toMatchObject({ success: true })
    expect(await (await channels()).probe({ id: cohere.id, model: 'rerank-v3.5' })).toMatchObject({ success: true })
    const bedrock = await create({ type: 33, key: 'AK|secret|us-east-1', models: ['nova-pro-v1:0'] })
    expect(await (await channels()).probe({ id: bedrock.id })).toMatchObject({ success: true })
    const images = await create({ type: 56, models: ['owner/model'] })
    expect((await refusalOf((await channels()).probe({ id: images.id }))).code).toBe('channel.test_unsupported')
    await app.setOptions({ SelfUseModeEnabled: 'false' })
    expect(upstream.seen.map(({ path }) => path)).toEqual([
      '/v2/embed',
      '/v2/rerank',
      '/model/amazon.nova-pro-v1%3A0/converse',
    ])
  })

  it('understands an application that answers in a stream whatever it is asked for', async () => {
    const event = (name: string, data: object) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`
    const answer = event('conversation.message.delta', { type: 'answer', content: 'Hi' })
    const end = event('conversation.chat.completed', { usage: { input_count: 2, output_count: 1 } })
    const { id } = await create({ type: 49, other: '7342', models: ['bot'] })
    await app.setOptions({ SelfUseModeEnabled: 'true' })
    const headers = { 'content-type': 'text/event-stream' }
    upstream.answer = () => ({ body: answer + end, headers })
    expect(await (await channels()).probe({ id })).toMatchObject({ success: true })
    upstream.answer = () => ({ body: answer, headers })
    expect(await (await channels()).probe({ id })).toMatchObject({ success: false })
    await app.setOptions({ SelfUseModeEnabled: 'false' })
  })

  it('shows why it failed without the key, whatever the upstream quotes, and logs nothing', async () => {
    upstream.answer = () => ({ status: 401, body: { error: { message: `Incorrect API key provided: ${secret}.` } } })
    const { id } = await create()
    const result = await (await channels()).probe({ id })
    expect(result).toMatchObject({ success: false, retryable: false })
    expect(result.message).toBe(
      `status code 401: Incorrect API key provided: ***. (${upstream.url}/v1/chat/completions)`,
    )
    expect(JSON.stringify(await (await channels()).health({ ids: [id] }))).not.toContain(secret)
    expect((await (await channels()).get({ id })).status).toBe(1)
    expect((await (await channels()).get({ id })).testedAt).not.toBeNull()
    expect(await app.sql('select id from logs')).toEqual([])
  })

  it('names the address and the cause where nobody answers, without what stands in its query', async () => {
    const closed = 'http://127.0.0.1:9'
    const { id } = await create({ baseUrl: closed })
    expect((await (await channels()).probe({ id })).message).toBe(
      `cannot connect to the upstream: ${closed}/v1/chat/completions (ECONNREFUSED)`,
    )
    const gemini = await create({ type: 24, baseUrl: closed, models: ['gemini-2.0-flash'] })
    const { message } = await (await channels()).probe({ id: gemini.id })
    expect(message).toContain(`${closed}/v1beta/models/gemini-2.0-flash:generateContent (ECONNREFUSED)`)
    expect((await refusalOf((await channels()).fetchModelsOf({ id }))).message).toContain(
      `${closed}/v1/models (ECONNREFUSED)`,
    )
    expect((await refusalOf((await channels()).updateBalance({ id }))).message).toContain('(ECONNREFUSED)')
  })

  it('knows which failures may pass by themselves', async () => {
    const { id } = await create()
    const probeWith = async (answer: Answer) => {
      upstream.answer = () => answer
      return (await channels()).probe({ id })
    }
    expect(await probeWith({ status: 429, body: {} })).toMatchObject({ success: false, retryable: true })
    expect(await probeWith({ status: 503, body: 'busy' })).toMatchObject({ success: false, retryable: true })
    expect(await probeWith({ body: {}, hangUp: true })).toMatchObject({ success: false, retryable: true })
    expect(await probeWith({ status: 404, body: {} })).toMatchObject({ success: false, retryable: false })
    expect(await probeWith({ body: '<html>' })).toMatchObject({ success: false, retryable: false })
    expect(await probeWith({ body: { error: { message: 'no', type: 'invalid_request_error' } } })).toMatchObject({
      success: false,
    })
  })

  it('is refused for what cannot be tried and for what nobody has priced', async () => {
    const { id } = await create({ models: ['house-model', 'gpt-4o'], modelMapping: '{"gpt-4o":"upstream-name"}' })
    expect((await refusalOf((await channels()).probe({ id }))).code).toBe('channel.test_unpriced')
    // It is not forgotten, and says nothing of how fast the channel is.
    const [health] = await (await channels()).health({ ids: [id] })
    expect(health?.probes).toMatchObject([
      { model: 'house-model', success: false, message: expect.stringContaining('模型 house-model 没有价格') },
    ])
    expect(await (await channels()).get({ id })).toMatchObject({ testedAt: null })
    // What is sent is what is priced, unless calls are billed by the name they ask for.
    expect((await refusalOf((await channels()).probe({ id, model: 'gpt-4o' }))).message).toContain('upstream-name')
    const music = await create({ type: 36, models: ['suno_music'] })
    expect((await refusalOf((await channels()).probe({ id: music.id }))).code).toBe('channel.test_unsupported')
    expect((await refusalOf((await channels()).probe({ id: 999 }))).code).toBe('channel.not_found')
    expect(upstream.seen).toEqual([])
  })

  it('keeps the newest results only', async () => {
    const { id } = await create()
    await app.sql(
      `insert into channel_probes (channel_id, model, success, duration_ms) select $1, 'm', true, n from generate_series(1, 300) n`,
      [id],
    )
    upstream.answer = () => ({ body: completion })
    await (await channels()).probe({ id })
    expect(await app.sql('select count(*)::int as count from channel_probes')).toEqual([{ count: 200 }])
    const [health] = await (await channels()).health({ ids: [id], limit: 3 })
    expect(health?.probes.map(({ durationMs }) => durationMs).slice(1)).toEqual([300, 299])
  })
})

describe('the list of an upstream', () => {
  it('is fetched with a stored key or a typed one', async () => {
    upstream.answer = () => ({ body: { data: [{ id: 'b' }, { id: 'a' }, { id: 'b' }] } })
    const { id } = await create()
    expect(await (await channels()).fetchModelsOf({ id })).toEqual(['b', 'a'])
    const typed = { type: 1, baseUrl: upstream.url, key: 'sk-typed\nsk-more' }
    expect(await (await channels()).fetchModels(typed)).toEqual(['b', 'a'])
    expect(upstream.seen.map(({ path, headers }) => [path, headers.authorization])).toEqual([
      ['/v1/models', `Bearer ${secret}`],
      ['/v1/models', 'Bearer sk-typed'],
    ])
  })

  it('is fetched for a form with the stored key, wherever root says and nowhere else for others', async () => {
    upstream.answer = () => ({ body: { data: [{ id: 'a' }] } })
    const { id } = await create({ baseUrl: `${upstream.url}/old` })
    const blank = { id, type: 1, key: '' }
    const here = { ...blank, baseUrl: `${upstream.url}/old` }
    const elsewhere = { ...blank, baseUrl: upstream.url }
    const asAdmin = (await app.trpc(await app.person({ role: 10 }))).admin.channels
    expect(await asAdmin.fetchModels(here)).toEqual(['a'])
    expect((await refusalOf(asAdmin.fetchModels(elsewhere))).code).toBe('channel.key_needed_for_address')
    expect(await asAdmin.fetchModels({ ...elsewhere, key: 'sk-typed' })).toEqual(['a'])
    expect(await (await channels()).fetchModels(elsewhere)).toEqual(['a'])
    expect(upstream.seen.map(({ path, headers }) => [path, headers.authorization])).toEqual([
      ['/old/v1/models', `Bearer ${secret}`],
      ['/v1/models', 'Bearer sk-typed'],
      ['/v1/models', `Bearer ${secret}`],
    ])
  })

  it('cannot be had from everywhere, and a failure does not show the key', async () => {
    upstream.answer = () => ({ status: 403, body: { error: { message: `key ${secret} is forbidden` } } })
    const { id } = await create()
    const refusal = await refusalOf((await channels()).fetchModelsOf({ id }))
    expect(refusal).toMatchObject({ code: 'channel.fetch_models_failed' })
    expect(refusal.message).not.toContain(secret)
    upstream.answer = () => ({ body: 'no json' })
    expect((await refusalOf((await channels()).fetchModelsOf({ id }))).code).toBe('channel.fetch_models_failed')
    const { code } = await refusalOf((await channels()).fetchModels({ type: 27, key: 'k' }))
    expect(code).toBe('channel.fetch_models_unsupported')
    const aimed = { type: 1, baseUrl: 'http://169.254.169.254', key: 'k' }
    expect((await refusalOf((await channels()).fetchModels(aimed))).code).toBe('channel.address_forbidden')
    expect((await refusalOf((await channels()).fetchModels({ type: 1, key: ' ' }))).code).toBe('channel.key_required')
  })

  it('is not looked for where a redirect leads, with the key in hand', async () => {
    upstream.answer = () => ({ status: 302, body: {} })
    const { id } = await create()
    expect((await refusalOf((await channels()).fetchModelsOf({ id }))).code).toBe('channel.fetch_models_failed')
    expect(upstream.seen).toHaveLength(1)
  })
})

describe('the balance of a channel', () => {
  it('is what was granted less what was used, where resellers tell it so', async () => {
    upstream.answer = ({ path }) =>
      path.includes('subscription') ? { body: { hard_limit_usd: 120 } } : { body: { total_usage: 2050 } }
    const { id } = await create()
    expect(await (await channels()).updateBalance({ id })).toEqual({ balance: 99.5, currency: 'USD' })
    expect(await (await channels()).get({ id })).toMatchObject({ balance: 99.5 })
    expect(upstream.seen[1]?.path).toMatch(
      /^\/v1\/dashboard\/billing\/usage\?start_date=\d{4}-\d\d-\d\d&end_date=\d{4}-\d\d-\d\d$/,
    )
  })

  it('is read in the form of each provider that reports one', async () => {
    const read = async (type: number, body: unknown) => {
      upstream.answer = () => ({ body })
      const { id } = await create({ type })
      return (await (await channels()).updateBalance({ id })).balance
    }
    const cny = { currency: 'CNY', total_balance: '10.00' }
    expect(await read(43, { balance_infos: [cny, { currency: 'USD', total_balance: '1.5' }] })).toBe(1.5)
    expect(await read(43, { balance_infos: [cny] })).toBe(10)
    // Calls are paid for with the other currency then.
    expect(await read(43, { balance_infos: [{ currency: 'USD', total_balance: '0.00' }, cny] })).toBe(10)
    expect(await read(40, { code: 20_000, data: { totalBalance: '88.00' } })).toBe(88)
    expect(await read(12, { total_remaining: 3 })).toBe(3)
    expect(await read(13, { total_available: 4 })).toBe(4)
    expect(await read(10, { data: { totalPoints: 5 } })).toBe(5)
    expect(upstream.seen.at(-1)?.headers['api-key']).toBe(secret)
  })

  it('is refused where none is given', async () => {
    const claude = await create({ type: 14, models: ['claude-3-5-haiku'] })
    expect((await refusalOf((await channels()).updateBalance({ id: claude.id }))).code).toBe(
      'channel.balance_unsupported',
    )
    const { id } = await create({ type: 40 })
    upstream.answer = () => ({ body: { code: 20_012 } })
    expect((await refusalOf((await channels()).updateBalance({ id }))).code).toBe('channel.balance_failed')
    // Null is no zero, by which the channel would go off.
    const reseller = await create()
    upstream.answer = ({ path }) => ({
      body: path.includes('subscription') ? { hard_limit_usd: null } : { total_usage: 0 },
    })
    expect((await refusalOf((await channels()).updateBalance({ id: reseller.id }))).code).toBe('channel.balance_failed')
    upstream.answer = () => ({ status: 401, body: { message: `bad ${secret}` } })
    expect((await refusalOf((await channels()).updateBalance({ id }))).message).not.toContain(secret)
  })
})
