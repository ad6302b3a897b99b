import vocabulary from 'gpt-tokenizer/bpeRanks/cl100k_base'
import { describe, expect, test } from 'vitest'
import { setOptions } from '#test/relay/serve.ts'
import { chat, consumed, say, type CallerDialect, callerDialects } from '#test/relay/caller-dialects.ts'
import { startBalancedApp } from '#test/relay/relay-world.ts'

// One quota a token, the answer's too, so that a balance of N buys about N tokens.
const kinds = [
  { name: 'an OpenAI channel', type: 1, model: 'm-openai' },
  { name: 'an Anthropic channel', type: 14, model: 'm-anthropic' },
  { name: 'a Gemini channel', type: 24, model: 'm-gemini' },
]

const app = await startBalancedApp()
const names = [
  ...kinds.map(({ model }) => model),
  'm-passed',
  'm-overruled',
  'm-fresh',
  'gpt-5',
  'claude-opus-4-8',
  'deepseek-v4',
]
const prices = JSON.stringify(Object.fromEntries(names.map((model) => [model, 1])))
await setOptions(app, {
  ModelRatio: prices,
  CompletionRatio: prices,
  GroupRatio: '{"default":1}',
  RetryTimes: '0',
})
for (const { type, model } of kinds) await app.make.channel({ type, models: model })
const lenient = app.upstream.withDirectives('lenient')
await app.make.channel({ models: 'm-passed', baseUrl: lenient, setting: '{"pass_through_body_enabled":true}' })
await app.make.channel({ models: 'm-overruled', paramOverride: '{"max_tokens":50000}' })
await app.make.channel({ models: 'gpt-5,m-fresh' })
await app.make.channel({ type: 14, models: 'claude-opus-4-8' })
await app.make.channel({ type: 43, models: 'deepseek-v4' })
await app.services.channels.reload()

const text = 'tell me a story of a fox and a hare'
const header = 'x-max-tokens-lowered'

/** The output limit in a body of any kind. */
const limitIn = (body: unknown): number | undefined => {
  const found = /"(?:max_tokens|max_completion_tokens|max_output_tokens|maxOutputTokens)":(\d+)/.exec(
    JSON.stringify(body),
  )
  return found ? Number(found[1]) : undefined
}

const withLimit = (by: CallerDialect, model: string, limit: number, asked = text): Record<string, unknown> => {
  const body = by.body(model, asked, false)
  if (by.dialect === 'responses') return { ...body, max_output_tokens: limit }
  if (by.dialect === 'generateContent') return { ...body, generationConfig: { maxOutputTokens: limit } }
  return { ...body, max_tokens: limit }
}

const callerWith = async (quota: number) => {
  const user = await app.make.user({ quota })
  return { user, token: await app.make.token(user) }
}

describe.each(kinds)('an answer in one piece from $name', ({ model }) => {
  test.each(callerDialects)(
    'is limited to what the balance buys, which a caller of $dialect and the log are told',
    async (by) => {
      const { user, token } = await callerWith(3000)
      const reply = await say(app, by, { token, model, body: withLimit(by, model, 128_000) })
      expect(reply.status).toBe(200)
      const lowered = Number(reply.headers.get(header))
      expect(lowered).toBeGreaterThanOrEqual(1024)
      expect(lowered).toBeLessThan(3000)
      expect(limitIn(app.upstream.requests.at(-1)?.body)).toBe(lowered)
      await reply.text()
      expect((await consumed(app)).at(-1)?.other['max_tokens_lowered']).toBe(lowered)
      expect(await app.balanceOf(user.id)).toBeGreaterThanOrEqual(0)
    },
  )

  test.each(callerDialects)(
    'under a lowered limit that it fills costs a caller of $dialect no more than the balance',
    async (by) => {
      const { user, token } = await callerWith(3000)
      const body = withLimit(by, model, 128_000, `${text} [[words=60000,limited,usage=1]]`)
      const replies = await Promise.all(Array.from({ length: 4 }, () => say(app, by, { token, model, body })))
      // The prompt is counted apart: what is proved here is the answer.
      const served = replies.filter(({ status }) => status === 200)
      expect(served.length).toBeGreaterThan(0)
      await Promise.all(replies.map((reply) => reply.text()))
      const rows = (await consumed(app)).filter((row) => row.user_id === user.id)
      expect(rows).toHaveLength(served.length)
      for (const { completion_tokens: completion, other } of rows) {
        const lowered = Number(other['max_tokens_lowered'])
        // To the last word: the limit is what ended it.
        expect(completion).toBeGreaterThan(lowered - 20)
        expect(completion).toBeLessThanOrEqual(lowered)
      }
      const charged = rows.reduce((sum, { quota }) => sum + quota, 0)
      expect(await app.balanceOf(user.id)).toBe(3000 - charged)
      expect(charged).toBeLessThanOrEqual(3000)
    },
  )

  test('keeps the limit of a caller who can pay for it', async () => {
    const { token } = await callerWith(10_000_000)
    for (const by of callerDialects) {
      const reply = await say(app, by, { token, model, body: withLimit(by, model, 2000) })
      expect(reply.headers.get(header)).toBeNull()
      expect(limitIn(app.upstream.requests.at(-1)?.body)).toBe(2000)
      await reply.text()
    }
  })
})

test('a caller without a limit is given one that no model refuses, and none where the balance covers the longest answer', async () => {
  const poor = await callerWith(20_000)
  const limited = await say(app, chat, {
    token: poor.token,
    model: 'm-openai',
    body: chat.body('m-openai', text, false),
  })
  expect(limited.headers.get(header)).toBe('4096')
  expect(limitIn(app.upstream.requests.at(-1)?.body)).toBe(4096)
  const rich = await callerWith(10_000_000)
  const free = await say(app, chat, { token: rich.token, model: 'm-openai', body: chat.body('m-openai', text, false) })
  expect(free.headers.get(header)).toBeNull()
  expect(limitIn(app.upstream.requests.at(-1)?.body)).toBeUndefined()
})

test('a balance for less than a useful answer is refused before any upstream is called', async () => {
  const { token } = await callerWith(100)
  const before = app.upstream.total
  const reply = await say(app, chat, { token, model: 'm-fresh', body: withLimit(chat, 'm-fresh', 128_000) })
  expect(reply.status).toBe(403)
  expect(app.upstream.total).toBe(before)
  // The caller's own limit is a useful answer, however short.
  const short = await say(app, chat, { token, model: 'm-fresh', body: withLimit(chat, 'm-fresh', 10) })
  expect(short.status).toBe(200)
})

test('tools that a conversation has withdrawn are set aside for where they are sent, and nowhere else', async () => {
  const body = {
    max_tokens: 10,
    tools: [{ name: 'a', description: 'word '.repeat(1000), input_schema: { type: 'object', properties: {} } }],
    messages: [
      { role: 'user', content: text },
      { role: 'system', content: [{ type: 'tool_removal', tool: { type: 'tool_reference', name: 'a' } }] },
    ],
  }
  const { token } = await callerWith(700)
  const before = app.upstream.total
  expect((await app.relay(token, '/v1/messages', { model: 'claude-opus-4-8', ...body })).status).toBe(403)
  expect(app.upstream.total).toBe(before)
  expect((await app.relay(token, '/v1/messages', { model: 'm-openai', ...body })).status).toBe(200)
})

test('tokens that are embedded as texts are set aside for as such', async () => {
  // One stands for a long text.
  const longest = vocabulary.reduce<number>(
    (found, piece, token) => (piece.length > (vocabulary[found]?.length ?? 0) ? token : found),
    0,
  )
  const input = Array.from({ length: 100 }, () => longest)
  const { user, token } = await callerWith(500)
  const before = app.upstream.total
  expect((await app.relay(token, '/v1/embeddings', { model: 'm-gemini', input })).status).toBe(403)
  expect(app.upstream.total).toBe(before)
  expect(await app.balanceOf(user.id)).toBe(500)
  expect((await app.relay(token, '/v1/embeddings', { model: 'm-openai', input })).status).toBe(200)
  const rich = await callerWith(10_000)
  expect((await app.relay(rich.token, '/v1/embeddings', { model: 'm-gemini', input })).status).toBe(200)
})

test('the quota of a token lowers the limit like the balance does', async () => {
  const user = await app.make.user({ quota: 10_000_000 })
  const token = await app.make.token(user, { remainQuota: 3000 })
  const reply = await say(app, chat, { token, model: 'm-openai', body: withLimit(chat, 'm-openai', 128_000) })
  expect(Number(reply.headers.get(header))).toBeLessThan(3000)
})

test('a passthrough body is rewritten only where its limit is lowered', async () => {
  const odd = `{ "messages" : [ {"role":"user","content":"h\\u00e9"} ],"model":"m-passed" , "max_tokens": 128000, "x_own":[1.0] }`
  const rich = await callerWith(10_000_000)
  expect((await app.relay(rich.token, '/v1/chat/completions', odd)).status).toBe(200)
  expect(app.upstream.requests.at(-1)?.body).toMatchObject({ max_tokens: 128_000, x_own: [1] })
  const poor = await callerWith(3000)
  const reply = await app.relay(poor.token, '/v1/chat/completions', odd)
  expect(reply.status).toBe(200)
  const lowered = Number(reply.headers.get(header))
  expect(app.upstream.requests.at(-1)?.body).toMatchObject({ max_tokens: lowered, x_own: [1] })
})

test('a channel’s own limit is lowered too', async () => {
  const { token } = await callerWith(3000)
  const reply = await say(app, chat, { token, model: 'm-overruled', body: withLimit(chat, 'm-overruled', 10) })
  expect(reply.status).toBe(200)
  expect(limitIn(app.upstream.requests.at(-1)?.body)).toBe(Number(reply.headers.get(header)))
})

test('a thinking budget stays below the lowered limit', async () => {
  const { token } = await callerWith(6000)
  const messages = callerDialects.find(({ dialect }) => dialect === 'messages') as CallerDialect
  const body = {
    ...withLimit(messages, 'm-anthropic', 32_000),
    thinking: { type: 'enabled', budget_tokens: 16_000 },
  }
  const reply = await say(app, messages, { token, model: 'm-anthropic', body })
  expect(reply.status).toBe(200)
  const sent = app.upstream.requests.at(-1)?.body as { max_tokens: number; thinking: { budget_tokens: number } }
  expect(sent.max_tokens).toBe(Number(reply.headers.get(header)))
  expect(sent.thinking.budget_tokens).toBeLessThanOrEqual(sent.max_tokens / 2)
})

test('a stream of a model with hidden reasoning is limited like an answer in one piece', async () => {
  const { token } = await callerWith(3000)
  const body = { ...chat.body('gpt-5', text, true), max_completion_tokens: 128_000 }
  const reply = await say(app, chat, { token, model: 'gpt-5', body })
  expect(reply.status).toBe(200)
  const lowered = Number(reply.headers.get(header))
  expect(lowered).toBeLessThan(3000)
  expect(limitIn(app.upstream.requests.at(-1)?.body)).toBe(lowered)
  expect(await reply.text()).toMatch(chat.closing)
})

test.each([
  ['chat completions', chat, 'claude-opus-4-8', 128_000],
  ['messages', callerDialects[2] as CallerDialect, 'claude-opus-4-8', 128_000],
  ['messages', callerDialects[2] as CallerDialect, 'deepseek-v4', 393_216],
] as const)(
  'a limit that is written for a caller of %s who gave none is within what is held: %s',
  async (_, by, model, most) => {
    const { token } = await callerWith(100_000_000)
    for (const stream of [false, true]) {
      const { max_tokens: __, ...body } = by.body(model, text, stream)
      const reply = await say(app, by, { token, model, body })
      expect(reply.status).toBe(200)
      await reply.text()
      // A streamed answer is followed, and its hold grows with it.
      expect(limitIn(app.upstream.requests.at(-1)?.body)).toBe(stream ? most : 32_768)
    }
  },
)
