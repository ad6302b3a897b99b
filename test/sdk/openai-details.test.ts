import type OpenAI from 'openai'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { openAiClient, openAiLibrary } from './clients/openai.ts'
import { thrownBy } from './clients/client.ts'
import { channelKinds, startWorld, strictModel } from './world.ts'

const world = await startWorld(openAiClient)
afterAll(() => world.close())
const library = openAiLibrary(world.app.url, world.token.key)
// What an earlier test left behind is not this one's.
beforeEach(() => world.newCharges())

const tool = (name: string, property: string) => ({
  type: 'function' as const,
  function: {
    name,
    parameters: { type: 'object', properties: { [property]: { type: 'string' } }, required: [property] },
  },
})

const user = (content: string) => ({ role: 'user' as const, content })

describe.each(channelKinds)('the openai library against $name', ({ type, model, usage, charge }) => {
  const [input = 0, output = 0] = usage.split(':').map(Number)

  test('a stream reports its usage once, at the end, to who asks, and never to who does not', async () => {
    for (const asks of [true, false]) {
      const stream = await library.chat.completions.create({
        model,
        messages: [user(`hello [[usage=${usage}]]`)],
        stream: true,
        ...(asks ? { stream_options: { include_usage: true } } : {}),
      })
      const chunks: OpenAI.Chat.Completions.ChatCompletionChunk[] = []
      for await (const chunk of stream) chunks.push(chunk)
      const withUsage = chunks.filter((chunk) => chunk.usage)
      expect(withUsage.map((chunk) => chunk.usage?.total_tokens)).toEqual(asks ? [input + output] : [])
      expect(chunks.filter((chunk) => chunk.choices.length === 0)).toEqual(withUsage)
      if (asks) expect(withUsage[0]).toBe(chunks.at(-1))
      expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).toBe('You said: hello')
      expect(chunks.filter((chunk) => chunk.choices[0]?.finish_reason)).toHaveLength(1)
      expect(await world.newCharges()).toEqual([charge])
    }
  })

  test('tools called side by side keep their own ids, arguments and results', async () => {
    const tools = [tool('get_weather', 'city'), tool('get_time', 'zone')]
    const messages = [user(`get_weather and get_time, city is Paris, zone is CET [[usage=${usage}]]`)]
    for (const stream of [false, true]) {
      const first = stream
        ? await library.chat.completions.stream({ model, messages, tools }).finalChatCompletion()
        : await library.chat.completions.create({ model, messages, tools })
      const message = first.choices[0]?.message
      const calls = (message?.tool_calls ?? []).flatMap((call) => (call.type === 'function' ? [call] : []))
      expect(calls.map((call) => [call.function.name, call.function.arguments])).toEqual([
        ['get_weather', '{"city":"Paris"}'],
        ['get_time', '{"zone":"CET"}'],
      ])
      expect(new Set(calls.map((call) => call.id)).size).toBe(2)
      const second = await library.chat.completions.create({
        model,
        tools,
        messages: [
          ...messages,
          { role: 'assistant', tool_calls: calls },
          { role: 'tool', tool_call_id: calls[0]?.id ?? '', content: 'sunny' },
          { role: 'tool', tool_call_id: calls[1]?.id ?? '', content: 'noon' },
        ],
      })
      expect(second.choices[0]?.message.content).toMatch(/sunny.* \| .*noon/)
      expect(await world.newCharges()).toEqual([charge, charge])
    }
  })

  test('a system prompt reaches the model, a limit ends the answer with "length"', async () => {
    const completion = await library.chat.completions.create({
      model,
      messages: [{ role: 'system', content: 'be brief' }, user('system?')],
    })
    expect(completion.choices[0]?.message.content).toBe('System: be brief')
    const text = 'one two three four five six seven eight nine ten'
    const short = await library.chat.completions.create({ model, messages: [user(text)], max_tokens: 4 })
    expect(short.choices[0]).toMatchObject({ finish_reason: 'length', message: { content: 'You said: one' } })
    const streamed = await library.chat.completions
      .stream({ model, messages: [user(text)], max_completion_tokens: 4 })
      .finalChatCompletion()
    expect(streamed.choices[0]).toMatchObject({ finish_reason: 'length', message: { content: 'You said: one' } })
    expect(await world.newCharges()).toHaveLength(3)
  })

  test('an answer by schema is JSON of that schema', async () => {
    const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
    const completion = await library.chat.completions.create({
      model: strictModel(type),
      messages: [user('city is Rome')],
      response_format: { type: 'json_schema', json_schema: { name: 'place', schema } },
    })
    expect(JSON.parse(completion.choices[0]?.message.content ?? '')).toEqual({ city: 'Rome' })
    expect(await world.newCharges()).toHaveLength(1)
  })

  test('a stream that fails half way throws, and what was delivered is charged', async () => {
    const error = await thrownBy(async () => {
      const messages = [user('[[errorevent=6,events=40,message=it broke]] tell me a long story about the sea')]
      const stream = await library.chat.completions.create({ model, messages, stream: true })
      for await (const chunk of stream) expect(chunk.choices[0]?.finish_reason ?? null).toBeNull()
    })
    expect(error.message).toContain('it broke')
    const [paid = 0, ...others] = await world.newCharges()
    expect(paid).toBeGreaterThan(0)
    expect(others).toEqual([])
    const row = (await world.app.logs()).at(-1)
    expect(row?.other).toMatchObject({ end: 'failed', usage_source: type === 1 ? 'estimated' : expect.any(String) })
  })

  test('reasoning is distinguished from the answer', async () => {
    const messages = [user('[[thinking=3]] why')]
    const unstreamed = await library.chat.completions.create({ model, messages })
    expect(unstreamed.choices[0]?.message).toMatchObject({
      content: 'You said: why',
      reasoning_content: 'Thinking about: why',
    })
    const collected = { content: '', reasoning_content: '' }
    for await (const chunk of await library.chat.completions.create({ model, messages, stream: true })) {
      const delta: { content?: string | null; reasoning_content?: string } = chunk.choices[0]?.delta ?? {}
      collected.content += delta.content ?? ''
      collected.reasoning_content += delta.reasoning_content ?? ''
    }
    expect(collected).toEqual({ content: 'You said: why', reasoning_content: 'Thinking about: why' })
    expect(await world.newCharges()).toHaveLength(2)
  })
})

test('several answers to one prompt are charged for all of them', async () => {
  const answer = await library.chat.completions.create({
    model: 'gpt-4o-mini',
    messages: [user('hello [[usage=1010:200]]')],
    n: 2,
  })
  expect(answer.choices.map((choice) => [choice.index, choice.message.content])).toEqual([
    [0, 'You said: hello'],
    [1, 'You said: hello'],
  ])
  // (1010 + 400 × 4) × 0.075 = 195.75
  expect(await world.newCharges()).toEqual([196])
  const candidates = await library.chat.completions.create({
    model: 'gemini-2.5-flash',
    messages: [user('hello [[usage=1005:200]]')],
    n: 2,
  })
  expect(candidates.choices.map((choice) => choice.message.content)).toEqual(['You said: hello', 'You said: hello'])
  expect(candidates.usage?.completion_tokens).toBe(400)
  // (1005 + 400 × 8.3333) × 0.15 = 650.748
  expect(await world.newCharges()).toEqual([651])
})

test('cached input is reported in the caller’s words and charged at its own price', async () => {
  const ask = async (model: string, usage: string) => {
    const answer = await library.chat.completions.create({ model, messages: [user(`hello [[usage=${usage}]]`)] })
    return [answer.usage?.prompt_tokens, answer.usage?.prompt_tokens_details?.cached_tokens, answer.usage?.total_tokens]
  }
  // (610 + 400 × 0.5 + 200 × 4) × 0.075 = 120.75
  expect(await ask('gpt-4o-mini', '1010:200:400')).toEqual([1010, 400, 1210])
  // (500 + 300 × 0.1 + 200 × 1.25 + 201 × 5) × 1.5 = 2677.5, rounded down
  expect(await ask('claude-sonnet-4-20250514', '1000:201:300:200')).toEqual([1000, 300, 1201])
  expect(await world.newCharges()).toEqual([121, 2677])
})

test('a conversation may change channels: calls and reasoning of one vendor do not trip another', async () => {
  const models = channelKinds.map(({ model }) => model)
  const tools = [tool('get_weather', 'city')]
  for (const from of models) {
    const question = user('[[thinking=3]] get_weather, city is Oslo')
    const first = await library.chat.completions
      .stream({ model: from, messages: [question], tools })
      .finalChatCompletion()
    const message = first.choices[0]?.message
    const id = message?.tool_calls?.[0]?.id ?? ''
    for (const to of models) {
      const second = await library.chat.completions.create({
        model: to,
        tools,
        messages: [question, message as never, { role: 'tool', tool_call_id: id, content: 'snow' }],
      })
      expect(second.choices[0]?.message.content, `${from} → ${to}`).toContain('snow')
    }
  }
  expect(await world.newCharges()).toHaveLength(12)
})
