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
  120_000,
)
