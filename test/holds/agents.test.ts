import { describe, expect, test } from 'vitest'
import { consumed } from '#test/relay/caller-dialects.ts'
import { startMeteredApp } from './metered-upstream.ts'

/**
 * $120 a million tokens of the prompt, five times that for the answer: the limit of 128,000 tokens comes to $76.80, so that a
 * balance of $25 had room for no such call at all if whole limits were set aside.
 */
const modelRatio = 60
const tokensPerEvent = 4
const perToken = modelRatio * 5
const dollars = 500_000
const model = 'agents-model'
const limit = 128_000
const agents = 20

const { app } = await startMeteredApp([{ models: model }], {
  ModelRatio: `{"${model}":${modelRatio}}`,
  CompletionRatio: `{"${model}":5}`,
})

/** The same sequence in every run. */
function lengths(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return 20 + (state % 160)
  }
}

const bodyOf = (words: number, stream: boolean) => ({
  model,
  max_tokens: limit,
  ...(stream ? { stream, stream_options: { include_usage: true } } : {}),
  messages: [{ role: 'user', content: `do the next step of the task [${words}/${tokensPerEvent}]` }],
})

describe.each([
  { how: 'streamed', stream: true },
  { how: 'in one piece', stream: false },
])('twenty parallel agents with limits of 128,000 tokens on a balance of 25 dollars, answers $how', ({ stream }) => {
  test('are served what can be paid, and the balance ends no lower than one chunk below zero', async () => {
    const user = await app.make.user({ quota: 25 * dollars })
    const token = await app.make.token(user)
    const call = async (words: number): Promise<'whole' | 'cut' | 'refused'> => {
      const reply = await app.relay(token, '/v1/chat/completions', bodyOf(words, stream))
      const text = await reply.text()
      if (reply.status !== 200) return 'refused'
      return text.includes('"finish_reason":"stop"') ? 'whole' : 'cut'
    }
    // About $13 of real cost in all: every call can be paid.
    const next = lengths(stream ? 7 : 11)
    const outcomes = await Promise.all(
      Array.from({ length: agents }, async () => {
        const own: string[] = []
        for (let step = 0; step < 10; step += 1) own.push(await call(next()))
        return own
      }),
    )
    const all = outcomes.flat()
    const complete = all.filter((outcome) => outcome === 'whole').length
    expect(complete / all.length).toBeGreaterThanOrEqual(0.95)

    // They go on until nothing is left.
    await Promise.all(
      Array.from({ length: agents }, async () => {
        for (let step = 0; step < 40; step += 1) if ((await call(next())) === 'refused') return
      }),
    )
    const left = await app.balanceOf(user.id)
    expect(left).toBeGreaterThanOrEqual(-perToken * tokensPerEvent)
    // What is left buys no useful answer any more.
    expect(left).toBeLessThan(256 * perToken + 1000)
    const rows = (await consumed(app)).filter((row) => row.user_id === user.id)
    expect(rows.reduce((sum, row) => sum + row.quota, 0)).toBe(25 * dollars - left)
  })
})
