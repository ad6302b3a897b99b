import { expect, test } from 'vitest'
import { chunks } from '#test/support/scripted-upstream.ts'
import { callerDialects, consumed, say } from './caller-dialects.ts'
import { startScriptedRelay } from './relay-world.ts'
import { serve } from './serve.ts'

const { app, scripted, token } = await startScriptedRelay()

test.each(callerDialects.filter(({ dialect }) => dialect !== 'responses'))(
  'of an answer longer than any model writes so much is kept for counting, and the rest charged by its length, in $dialect',
  async (by) => {
    const delta = (content: string) => ({ choices: [{ index: 0, delta: { content }, finish_reason: null }] })
    const finish = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }
    // 600,000 characters, which are 100,000 tokens, and half as many that would be more.
    const play = chunks(delta(' hello'.repeat(100_000)), delta(' 1'.repeat(150_000)), finish)
    const { model } = await serve(app, { baseUrl: scripted.play(play) })
    const reply = await say(app, by, { token, model, stream: true })
    expect(await reply.text()).toMatch(by.closing)
    const row = (await consumed(app)).find(({ model_name: name }) => name === model)
    // A message of Claude's form is counted without what OpenAI's puts around it: (4 or 8 + 150,000) × 37.5.
    const prompt =
      by.dialect === 'messages' ? { prompt_tokens: 4, quota: 5_625_150 } : { prompt_tokens: 8, quota: 5_625_300 }
    expect(row).toMatchObject({ ...prompt, completion_tokens: 150_000 })
  },
)

test.each(callerDialects.filter(({ dialect }) => dialect !== 'responses'))(
  'an answer that goes far beyond its limit takes a balance no more than an event below zero, in $dialect',
  async (by) => {
    const event = { choices: [{ index: 0, delta: { content: ' word'.repeat(10) }, finish_reason: null }] }
    const play = chunks(...Array.from({ length: 2000 }, () => event))
    for (const upstreamModel of ['gpt-4o', 'o3']) {
      const { model } = await serve(app, { baseUrl: scripted.play(play), upstreamModel })
      const user = await app.make.user({ quota: 100 * 37.5 * 4 })
      const limit =
        by.dialect === 'generateContent' ? { generationConfig: { maxOutputTokens: 100 } } : { max_tokens: 100 }
      const body = { ...by.body(model, 'hi', true), ...limit }
      const reply = await say(app, by, { token: await app.make.token(user), model, stream: true, body })
      expect((await reply.text()).includes(': cut short')).toBe(by.dialect !== 'generateContent')
      const row = (await consumed(app)).find(({ model_name: name }) => name === model)
      expect(row?.other).toMatchObject({ end: 'unpaid' })
      const { rows } = await app.pool.query('select quota::int from users where id = $1', [user.id])
      expect(rows[0].quota).toBeGreaterThanOrEqual(-10 * 37.5)
    }
  },
)
