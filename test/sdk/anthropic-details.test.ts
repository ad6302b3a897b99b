import type { MessageParam, Tool } from '@anthropic-ai/sdk/resources/messages'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { anthropicClient, anthropicLibrary } from './clients/anthropic.ts'
import { thrownBy } from './clients/client.ts'
import { channelKinds, startWorld } from './world.ts'

const world = await startWorld(anthropicClient)
afterAll(() => world.close())
const library = anthropicLibrary(world.app.url, world.token.key)
// What an earlier test left behind is not this one's.
beforeEach(() => world.newCharges())

const claude = 'claude-sonnet-4-20250514'
const user = (content: string): MessageParam => ({ role: 'user', content })
const tools: Tool[] = [
  {
    name: 'get_weather',
    input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
  { name: 'get_time', input_schema: { type: 'object', properties: { zone: { type: 'string' } }, required: ['zone'] } },
]

describe.each(channelKinds)('the @anthropic-ai/sdk library against $name', ({ model, usage, floored }) => {
  test('tools called side by side keep their own ids, arguments and results', async () => {
    const question = user(`get_weather and get_time, city is Paris, zone is CET [[usage=${usage}]]`)
    for (const stream of [false, true]) {
      const body = { model, max_tokens: 500, messages: [question], tools }
      const first = stream ? await library.messages.stream(body).finalMessage() : await library.messages.create(body)
      const calls = first.content.flatMap((block) => (block.type === 'tool_use' ? [block] : []))
      expect(calls.map((call) => [call.name, call.input])).toEqual([
        ['get_weather', { city: 'Paris' }],
        ['get_time', { zone: 'CET' }],
      ])
      expect(new Set(calls.map((call) => call.id)).size).toBe(2)
      const results = calls.map((call, index) => ({
        type: 'tool_result' as const,
        tool_use_id: call.id,
        content: ['sunny', 'noon'][index] ?? '',
      }))
      const second = await library.messages.create({
        ...body,
        messages: [question, { role: 'assistant', content: first.content }, { role: 'user', content: results }],
      })
      expect(second.content[0]).toMatchObject({ type: 'text', text: expect.stringMatching(/sunny.* \| .*noon/) })
      expect(await world.newCharges()).toEqual([floored, floored])
    }
  })

  test('a system prompt reaches the model, a limit ends the answer with "max_tokens"', async () => {
    const system = [{ type: 'text' as const, text: 'be brief', cache_control: { type: 'ephemeral' as const } }]
    const message = await library.messages.create({ model, max_tokens: 50, system, messages: [user('system?')] })
    expect(message.content).toMatchObject([{ type: 'text', text: 'System: be brief' }])
    const long = [user('one two three four five six seven eight nine ten')]
    const short = await library.messages.stream({ model, max_tokens: 4, messages: long }).finalMessage()
    expect(short).toMatchObject({ stop_reason: 'max_tokens', content: [{ type: 'text', text: 'You said: one' }] })
    expect(await world.newCharges()).toHaveLength(2)
  })

  test('reasoning stands in blocks of its own and may be sent back with a tool result', async () => {
    const question = user('[[thinking=4]] get_weather, city is Oslo')
    for (const stream of [false, true]) {
      const body = {
        model,
        max_tokens: 4000,
        thinking: { type: 'enabled' as const, budget_tokens: 1024 },
        messages: [question],
        tools,
      }
      const first = stream ? await library.messages.stream(body).finalMessage() : await library.messages.create(body)
      expect(first.content.map((block) => block.type)).toEqual(['thinking', 'tool_use'])
      expect(first.content[0]).toMatchObject({ thinking: expect.stringContaining('Thinking about: get_weather,') })
      if (model === claude) expect(first.content[0]).toMatchObject({ signature: expect.stringMatching(/^sim-/) })
      const call = first.content.find((block) => block.type === 'tool_use')
      for (const next of channelKinds) {
        const second = await library.messages.create({
          ...body,
          model: next.model,
          messages: [
            question,
            { role: 'assistant', content: first.content },
            { role: 'user', content: [{ type: 'tool_result', tool_use_id: call?.id ?? '', content: 'snow' }] },
          ],
        })
        expect(JSON.stringify(second.content), `${model} → ${next.model}`).toContain('snow')
      }
    }
    expect(await world.newCharges()).toHaveLength(8)
  })

  test('a stream that fails half way throws, and what was delivered is charged', async () => {
    const error = await thrownBy(() =>
      library.messages
        .stream({
          model,
          max_tokens: 500,
          messages: [user('[[errorevent=6,events=40,message=it broke]] tell me a long story about the sea')],
        })
        .finalMessage(),
    )
    expect(error.message).toContain('it broke')
    const charges = await world.newCharges()
    expect(charges).toHaveLength(1)
    expect(charges[0]).toBeGreaterThan(0)
  })
})

test('a stop sequence is named, cached input is distinguished and charged at its own price', async () => {
  const stopped = await library.messages.create({
    model: claude,
    max_tokens: 100,
    stop_sequences: ['three'],
    messages: [user('one two three four')],
  })
  expect(stopped).toMatchObject({ stop_reason: 'stop_sequence', stop_sequence: 'three' })
  await world.newCharges()
  const ask = async (model: string, usage: string) => {
    const message = await library.messages.create({ model, max_tokens: 9, messages: [user(`a [[usage=${usage}]]`)] })
    return message.usage
  }
  // (610 + 400 × 0.5 + 200 × 4) × 0.075 = 120.75, rounded down
  expect(await ask('gpt-4o-mini', '1010:200:400')).toMatchObject({
    input_tokens: 610,
    cache_read_input_tokens: 400,
    output_tokens: 200,
  })
  // (500 + 300 × 0.1 + 200 × 1.25 + 201 × 5) × 1.5 = 2677.5, rounded down
  expect(await ask(claude, '1000:201:300:200')).toMatchObject({
    input_tokens: 500,
    cache_read_input_tokens: 300,
    cache_creation_input_tokens: 200,
    output_tokens: 201,
  })
  expect(await world.newCharges()).toEqual([120, 2677])
})

test('reasoning of another vendor never reaches this one, whose proofs it lacks', async () => {
  const question = user('[[thinking=4]] hello')
  const body = { max_tokens: 4000, thinking: { type: 'enabled' as const, budget_tokens: 1024 } }
  const first = await library.messages.create({ ...body, model: 'gpt-4o-mini', messages: [question] })
  expect(first.content.map((block) => block.type)).toEqual(['thinking', 'text'])
  const second = await library.messages.create({
    ...body,
    model: claude,
    messages: [question, { role: 'assistant', content: first.content }, user('and now?')],
  })
  expect(JSON.stringify(second.content)).toContain('You said: and now?')
})

test.each([false, true])(
  'a thread goes on by its new messages alone, as tool runners ask (stream: %s)',
  async (stream) => {
    const headers = { 'anthropic-beta': 'message-threads-2026-08-12' }
    const ask = async (messages: MessageParam[], thread: object, more: object = {}) => {
      const body = { model: claude, max_tokens: 500, messages, ...more, thread }
      return stream
        ? await library.messages.stream(body, { headers }).finalMessage()
        : await library.messages.create(body, { headers })
    }
    const first = await ask([user('get_weather, city is Oslo')], { type: 'create' }, { tools })
    const result = {
      type: 'tool_result' as const,
      tool_use_id: first.content.find((block) => block.type === 'tool_use')?.id ?? '',
      content: 'sunny',
    }
    const second = await ask([{ role: 'user', content: [result] }], { type: 'continue', previous_message_id: first.id })
    expect(JSON.stringify(second.content)).toContain('sunny')
    const third = await ask([user('and now?')], { type: 'continue', previous_message_id: second.id })
    expect(JSON.stringify(third.content)).toContain('You said: and now?')
    expect(await world.newCharges()).toHaveLength(3)
  },
)
