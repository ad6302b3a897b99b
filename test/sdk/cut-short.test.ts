import { afterAll, describe, expect, test } from 'vitest'
import { closeWithoutViolations } from '#test/relay/caller-dialects.ts'
import { anthropicClient, anthropicFacts } from './clients/anthropic.ts'
import { googleClient, googleFacts } from './clients/google.ts'
import { openAiClient, openAiFacts } from './clients/openai.ts'
import { openAiResponsesClient } from './clients/openai-responses.ts'
import { type ChannelKind, channelKinds, startWorld } from './world.ts'

const libraries = [
  { name: 'the openai library, chat', create: openAiClient, limit: openAiFacts.length },
  { name: 'the openai library, responses', create: openAiResponsesClient, limit: 'incomplete' },
  { name: 'the @anthropic-ai/sdk library', create: anthropicClient, limit: anthropicFacts.length },
  { name: 'the @google/genai library', create: googleClient, limit: googleFacts.length },
]

/** What about 800 tokens of an answer cost. */
const budgets: Record<ChannelKind['type'], number> = { 1: 240, 14: 6000, 24: 1000 }

const world = await startWorld(openAiClient)
afterAll(() => closeWithoutViolations(world.app))

describe.each(libraries)('a stream that can no longer be paid, read by $name', ({ create, limit }) => {
  test.each(channelKinds)('ends normally, as at a reached limit, from $name', async ({ type, model }) => {
    const { app } = world
    const user = await app.make.user({ quota: budgets[type] })
    const token = await app.make.token(user)
    await app.settled()
    const turn = await create(app.url, token.key).ask({
      model,
      text: 'tell me a story [[words=4000,gap=1]]',
      stream: true,
      maxTokens: 16_000,
    })
    expect(turn.stop).toBe(limit)
    expect(turn.text.length).toBeGreaterThan(500)
    const { rows } = await app.pool.query<{ end: string }>(
      "select other->>'end' as end from logs where type = 2 and user_id = $1",
      [user.id],
    )
    expect(rows).toEqual([{ end: 'unpaid' }])
  })
})
