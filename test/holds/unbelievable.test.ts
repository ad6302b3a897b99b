import { describe, expect, test } from 'vitest'
import { serve, setOptions, withOptions } from '#test/relay/serve.ts'
import { chat, consumed, say } from '#test/relay/caller-dialects.ts'
import { type AnswerLengths, createAnswerLengths } from '#relay/billing/answer-lengths.ts'
import { startBalancedApp } from '#test/relay/relay-world.ts'

const app = await startBalancedApp()
await setOptions(app, { GroupRatio: '{"default":1}', RetryTimes: '0' })

describe('figures of an upstream that cannot be believed', () => {
  test.each([1, 14, 24])('neither cut a stream that can be paid nor hold more for it (type %i)', async (type) => {
    const { model } = await serve(app, { type, does: 'usage=1e308:1e308,words=900' })
    await withOptions(app, { ModelRatio: `{"${model}":1}`, CompletionRatio: `{"${model}":1}` }, async () => {
      const user = await app.make.user({ quota: 5000 })
      const token = await app.make.token(user)
      for (let call = 0; call < 3; call += 1) {
        const text = await (await say(app, chat, { token, model, stream: true, text: 'a story' })).text()
        expect(text).toContain('"finish_reason":"stop"')
      }
      const rows = (await consumed(app)).filter((row) => row.user_id === user.id)
      expect(rows.map((row) => row.other['end'])).toEqual([undefined, undefined, undefined])
      expect(rows.every((row) => row.completion_tokens >= 900 && row.completion_tokens < 1300)).toBe(true)
    })
    expect(app.services.holds.lengths.expect('nobody', model)).toMatchObject({ tokens: undefined, most: 0 })
  })
})

type SeenAnswer = Parameters<AnswerLengths['learn']>[2]

describe('lengths that are learned', () => {
  const usual: SeenAnswer = {
    completionTokens: 500,
    choices: 1,
    promptTokens: 1000,
    cheapPromptTokens: 1000,
    countedTokens: 500,
  }
  const absurd: SeenAnswer = { ...usual, completionTokens: 1e9, promptTokens: 1e9 }

  test('one answer of a billion tokens is forgotten after a few usual ones', () => {
    const lengths = createAnswerLengths()
    lengths.learn('payer', 'model', usual)
    lengths.learn('payer', 'model', absurd)
    expect(lengths.expect('payer', 'model').most).toBeLessThanOrEqual(131_072)
    for (let call = 0; call < 60; call += 1) lengths.learn('payer', 'model', usual)
    const expected = lengths.expect('payer', 'model')
    expect(expected.tokens).toBeLessThan(1000)
    expect(expected.promptRatio).toBeLessThan(1.1)
    expect(expected.hides).toBe(false)
  })
})
