import { describe, expect, test } from 'vitest'
import { serve, setOptions } from '#test/relay/serve.ts'
import { consumed, say, type CallerDialect, callerDialects } from '#test/relay/caller-dialects.ts'
import { startBalancedApp } from '#test/relay/relay-world.ts'

// One quota a token, the answer's too, so that a balance of N buys about N tokens.
const kinds = [
  { name: 'an OpenAI channel', type: 1, model: 'm-openai' },
  { name: 'an Anthropic channel', type: 14, model: 'm-anthropic' },
  { name: 'a Gemini channel', type: 24, model: 'm-gemini' },
]

const app = await startBalancedApp()
/** What channels call a model that their callers know by another name. */
const renamed = 'vendor-model'
const prices = Object.fromEntries([...kinds.map(({ model }) => model), renamed].map((model) => [model, 1]))
await setOptions(app, {
  ModelRatio: JSON.stringify(prices),
  CompletionRatio: JSON.stringify(prices),
  GroupRatio: '{"default":1}',
  RetryTimes: '0',
})
for (const { type, model } of kinds) await app.make.channel({ type, models: model })
await app.services.channels.reload()

const long = 'tell me a story of a fox and a hare [[words=1500]]'
/** The upstream is never at its end before it is stopped. */
const unending = 'tell me a story of a fox and a hare [[words=4000,gate=never,gateat=2000]]'

/** How each dialect says that the output limit was reached. */
const limitReached: Record<string, RegExp> = {
  'chat completions': /"finish_reason":"length".*\n\ndata: \[DONE\]\n\n$/s,
  responses: /event: response\.incomplete\ndata: .*"reason":"max_output_tokens".*\n\n$/,
  messages: /"stop_reason":"max_tokens".*event: message_stop\ndata: .*\n\n$/s,
  generateContent: /"finishReason":"MAX_TOKENS".*\n\n$/,
}

/** A body without any limit of its own, or with one that the answer never reaches. */
const bodyOf = (by: CallerDialect, model: string, text = long): Record<string, unknown> => {
  const body = by.body(model, text, true)
  return 'max_tokens' in body ? { ...body, max_tokens: 128_000 } : body
}

describe.each(kinds)('a stream of $name that can no longer be paid', ({ model }) => {
  test.each(callerDialects)(
    'ends as at a reached limit for a caller of $dialect, and is charged for what was delivered',
    async (by) => {
      const user = await app.make.user({ quota: 600 })
      const token = await app.make.token(user)
      const aborted = app.upstream.aborted
      const reply = await say(app, by, { token, model, stream: true, body: bodyOf(by, model, unending) })
      expect(reply.status).toBe(200)
      const text = await reply.text()
      expect(text.slice(-20_000)).toMatch(limitReached[by.dialect] as RegExp)
      // Google's clients take every line for data.
      const hasComments = by.dialect !== 'generateContent'
      expect(text.includes(': cut short: the balance or the quota of the token is used up')).toBe(hasComments)
      const row = (await consumed(app)).at(-1)
      expect(row).toMatchObject({ is_stream: true, other: { end: 'unpaid' } })
      // Most of what was there was delivered, and nothing beyond it.
      expect(row?.quota).toBeGreaterThan(400)
      expect(await app.balanceOf(user.id)).toBe(600 - (row?.quota ?? 0))
      expect(await app.balanceOf(user.id)).toBeGreaterThanOrEqual(-10)
      await expect.poll(() => app.upstream.aborted).toBeGreaterThan(aborted)
    },
  )
})

test('a JSON array of a Gemini caller is closed, with the reason of a reached limit in its last element', async () => {
  const body = { contents: [{ role: 'user', parts: [{ text: long }] }] }
  for (const { model } of kinds) {
    const user = await app.make.user({ quota: 600 })
    const own = await app.make.token(user)
    const reply = await app.relay(own, `/v1beta/models/${model}:streamGenerateContent`, body)
    const parts = (await reply.json()) as { candidates: { finishReason?: string }[] }[]
    expect(parts.at(-1)?.candidates[0]?.finishReason).toBe('MAX_TOKENS')
    expect(await app.balanceOf(user.id)).toBeGreaterThanOrEqual(-10)
  }
})

test.each([
  { dialect: 'chat completions', type: 1 },
  { dialect: 'responses', type: 1 },
  { dialect: 'generateContent', type: 24 },
])('a stream of $dialect that is cut names its model to the end as its caller does', async ({ dialect, type }) => {
  const by = callerDialects.find((each) => each.dialect === dialect) as CallerDialect
  const { model } = await serve(app, { type, upstreamModel: renamed })
  const token = await app.make.token(await app.make.user({ quota: 600 }))
  const text = await (await say(app, by, { token, model, stream: true, body: bodyOf(by, model) })).text()
  expect(text.slice(-20_000)).toMatch(limitReached[dialect] as RegExp)
  expect(text).toContain(model)
  expect(text).not.toContain(renamed)
})

test('the quota of a token ends a stream like the balance does', async () => {
  const user = await app.make.user({ quota: 1_000_000 })
  const token = await app.make.token(user, { remainQuota: 600 })
  const by = callerDialects[0] as CallerDialect
  const text = await (
    await say(app, by, { token, model: 'm-openai', stream: true, body: bodyOf(by, 'm-openai') })
  ).text()
  expect(text.slice(-3000)).toMatch(limitReached['chat completions'] as RegExp)
  const { rows } = await app.pool.query<{ left: number }>(
    'select remain_quota::int as left from tokens where id = $1',
    [token.id],
  )
  expect(rows[0]?.left).toBeGreaterThanOrEqual(-10)
  expect(rows[0]?.left).toBeLessThan(200)
})

test('a stream that can be paid is served in full, however often its hold has to grow', async () => {
  const user = await app.make.user({ quota: 20_000 })
  const token = await app.make.token(user)
  for (const by of callerDialects) {
    for (const { model } of kinds) {
      const quota = await app.balanceOf(user.id)
      await app.pool.query('update users set quota = quota + $2 where id = $1', [user.id, 20_000 - quota])
      await app.pool.query("insert into grants (kind, key, user_id, amount) values ('test', $1, $2, $3)", [
        `${by.dialect} ${model}`,
        user.id,
        20_000 - quota,
      ])
      const text = await (await say(app, by, { token, model, stream: true, body: bodyOf(by, model) })).text()
      expect(text.slice(-60_000)).toMatch(by.closing)
      expect((await consumed(app)).at(-1)?.other['end']).toBeUndefined()
    }
  }
})
