import Anthropic from '@anthropic-ai/sdk'
import type { GoogleGenAI } from '@google/genai'
import type OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { googleLibrary } from './clients/google.ts'
import { openAiClient, openAiLibrary } from './clients/openai.ts'
import { channelKinds, startWorld, type World } from './world.ts'

let world: World
let openai: OpenAI
let google: GoogleGenAI
beforeAll(async () => {
  world = await startWorld(openAiClient)
  openai = openAiLibrary(world.app.url, world.token.key)
  google = googleLibrary(world.app.url, world.token.key)
})
beforeEach(() => world.newCharges())
afterAll(() => world.close())

const lastText = (): string => JSON.stringify(world.lastBody())

test('tokens are counted for every dialect on every kind of channel, and counting is neither charged nor logged', async () => {
  const anthropic = new Anthropic({ baseURL: world.app.url, apiKey: `sk-${world.token.key}`, maxRetries: 0 })
  for (const { model } of channelKinds) {
    const messages = [{ role: 'user' as const, content: 'How many tokens are these words?' }]
    const counted = await anthropic.messages.countTokens({ model, messages })
    expect(counted.input_tokens, model).toBeGreaterThan(3)
    const total = await google.models.countTokens({ model, contents: 'How many tokens are these words?' })
    expect(total.totalTokens, model).toBeGreaterThan(3)
    const input = 'How many tokens are these words?'
    const counting = await openai.responses.inputTokens.count({ model, input, tools: [] })
    expect(counting.object).toBe('response.input_tokens')
    expect(counting.input_tokens, model).toBeGreaterThan(3)
  }
  const asked = world.app.upstream.requests.map(({ path }) => path)
  expect(asked).toContain('/v1/responses/input_tokens')
  expect(await world.app.logs()).toEqual([])
})

describe.each(channelKinds)(
  'the conversations of the openai library against $name',
  ({ type, model, usage, charge }) => {
    test('are compacted by their model, charged once, and gone on from what is left of them', async () => {
      const tools = [{ type: 'function' as const, name: 'look', parameters: { type: 'object' }, strict: false }]
      const input: OpenAI.Responses.ResponseInputItem[] = [
        { role: 'user', content: 'the bird is a plover' },
        { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{}' },
        { type: 'function_call_output', call_id: 'call_1', output: 'it flew away' },
        { role: 'user', content: `where is it? [[usage=${usage}]]` },
      ]
      // As Codex asks, whose body has more than the library types.
      const body = { model, input, instructions: 'You are brief.', tools, parallel_tool_calls: false }
      const compacted = await openai.responses.compact(body)
      expect(compacted.object).toBe('response.compaction')
      expect(compacted.output.map(({ type }) => type)).toEqual(['message', 'message', 'compaction'])
      expect(JSON.stringify(compacted.output)).toContain('the bird is a plover')
      expect(lastText()).toContain('it flew away')
      if (type === 1) expect(world.app.upstream.requests.at(-1)?.path).toBe('/v1/responses/compact')
      else expect(lastText()).toContain('Summarise the conversation')
      expect(await world.newCharges()).toEqual([charge])
      const goOn = [
        ...(compacted.output as OpenAI.Responses.ResponseInputItem[]),
        { role: 'user' as const, content: 'go on' },
      ]
      const next = await openai.responses.create({ model, input: goOn, tools })
      expect(next.output_text).toMatch(/go on$/)
      if (type !== 1) expect(lastText()).toContain('was replaced by a summary')
    })
  },
)
