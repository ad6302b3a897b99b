import { describe, expect, test } from 'vitest'
import { handshake } from '../realtime/world.ts'
import { chat, consumed, openHolds, say, type CallerDialect, callerDialects } from './caller-dialects.ts'
import { startBalancedApp } from './relay-world.ts'

const app = await startBalancedApp()
const token = await app.make.token(await app.make.user())
await app.make.channel({ models: 'gpt-4-gizmo-*,gpt-4o-mini' })
await app.settled()

const nameOf = (length: number): string => `gpt-4-gizmo-${'n'.repeat(length)}`.slice(0, length)
const tooLong = /^模型名称不能超过 128 个字符/

/** What a refusal must not leave behind. */
async function expectNothingDone(act: () => Promise<void>): Promise<void> {
  const before = { asked: app.upstream.total, charged: (await consumed(app)).length }
  await act()
  expect({ asked: app.upstream.total, charged: (await consumed(app)).length }).toEqual(before)
  expect(await openHolds(app)).toBe(0)
}

describe.each(callerDialects)('in $dialect', (by: CallerDialect) => {
  test.each([129, 12_000])('a model name of %i characters is refused, streamed or not', async (length) => {
    // The path of a request is shorter than that anyway.
    if (by.dialect === 'generateContent' && length > 8000) return
    await expectNothingDone(async () => {
      for (const stream of [false, true]) {
        const reply = await say(app, by, { token, model: nameOf(length), stream })
        expect(reply.status).toBe(400)
        const error = by.readError(await reply.json())
        expect(error.message).toMatch(tooLong)
        expect(error.kind).toBe(by.kindOf(400))
      }
    })
  })
})

test('a model name of 128 characters is served, charged and logged in full; astral characters count once', async () => {
  const reply = await say(app, chat, { token, model: nameOf(128) })
  expect(reply.status, await reply.clone().text()).toBe(200)
  const refused = await say(app, chat, { token, model: '𝒎'.repeat(128) })
  expect(chat.readError(await refused.json()).code).toBe('model_not_found')
  expect((await consumed(app)).map((row) => row.model_name)).toContain(nameOf(128))
})

test('so it is by every operation, by counting and by realtime', async () => {
  const model = nameOf(129)
  await expectNothingDone(async () => {
    for (const [path, body] of [
      ['/v1/embeddings', { model, input: 'hello' }],
      [`/v1/engines/${model}/embeddings`, { input: 'hello' }],
      ['/v1/moderations', { model, input: 'hello' }],
      ['/v1/rerank', { model, query: 'a', documents: ['b'] }],
      ['/v1/images/generations', { model, prompt: 'a fox' }],
      ['/v1/audio/speech', { model, input: 'hello', voice: 'alloy' }],
      ['/v1/completions', { model, prompt: 'hello' }],
      ['/v1/messages/count_tokens', { model, messages: [{ role: 'user', content: 'hello' }] }],
      [`/v1beta/models/${model}:embedContent`, { content: { parts: [{ text: 'hello' }] } }],
    ] as const) {
      const reply = await app.relay(token, path, body)
      const text = await reply.text()
      expect({ path, status: reply.status, text }).toMatchObject({
        status: 400,
        text: expect.stringContaining('不能超过 128'),
      })
    }
    const headers = { authorization: `Bearer sk-${token.key}` }
    const { status, text } = await handshake(app.url, { headers, path: `/v1/realtime?model=${model}` })
    expect({ status, text }).toMatchObject({ status: 400, text: expect.stringContaining('不能超过 128') })
  })
})
