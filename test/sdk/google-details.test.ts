import { type Content, type GenerateContentResponse, type GoogleGenAI, type Part, Type } from '@google/genai'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { thrownBy } from './clients/client.ts'
import { googleClient, googleLibrary } from './clients/google.ts'
import { channelKinds, startWorld, strictModel } from './world.ts'

const world = await startWorld(googleClient)
afterAll(() => world.close())
const library = googleLibrary(world.app.url, world.token.key)
// What an earlier test left behind is not this one's.
beforeEach(() => world.newCharges())

const functionOf = (name: string, property: string) => ({
  name,
  parameters: { type: Type.OBJECT, properties: { [property]: { type: Type.STRING } }, required: [property] },
})
const tools = [{ functionDeclarations: [functionOf('get_weather', 'city'), functionOf('get_time', 'zone')] }]

type Request = Parameters<GoogleGenAI['models']['generateContent']>[0]

async function partsOf(request: Request, stream: boolean): Promise<Part[]> {
  const chunks: GenerateContentResponse[] = []
  if (stream) for await (const chunk of await library.models.generateContentStream(request)) chunks.push(chunk)
  else chunks.push(await library.models.generateContent(request))
  return chunks.flatMap((chunk) => chunk.candidates?.[0]?.content?.parts ?? [])
}

describe.each(channelKinds)('the @google/genai library against $name', ({ type, model, usage, charge }) => {
  test('functions called side by side keep their own arguments and results', async () => {
    const text = `get_weather and get_time, city is Paris, zone is CET [[usage=${usage}]]`
    const question: Content = { role: 'user', parts: [{ text }] }
    for (const stream of [false, true]) {
      const parts = await partsOf({ model, contents: [question], config: { tools } }, stream)
      const calls = parts.flatMap((part) => part.functionCall ?? [])
      expect(calls.map((call) => [call.name, call.args])).toEqual([
        ['get_weather', { city: 'Paris' }],
        ['get_time', { zone: 'CET' }],
      ])
      const results = calls.map((call, index): Part => ({
        functionResponse: { ...call, response: { output: ['sunny', 'noon'][index] } },
      }))
      const contents = [question, { role: 'model', parts }, { role: 'user', parts: results }]
      const answer = await library.models.generateContent({ model, contents, config: { tools } })
      expect(answer.text).toMatch(/sunny.* \| .*noon/)
      expect(await world.newCharges()).toEqual([charge, charge])
    }
  })

  test('a stream goes back as libraries write it that leave out empty fields', async () => {
    const question: Content = { role: 'user', parts: [{ text: `get_weather, city is Paris [[usage=${usage}]]` }] }
    const parts = await partsOf({ model, contents: [question], config: { tools } }, true)
    const written = JSON.parse(JSON.stringify(parts, (_, value: unknown) => (value === '' ? undefined : value)))
    const contents: Content[] = [
      question,
      { role: 'model', parts: [...written, {}, { thoughtSignature: 'c2lnbmVk' }] },
      { role: 'user', parts: [{ functionResponse: { name: 'get_weather', response: { output: 'sunny' } } }] },
      { role: 'model', parts: [{}] },
      { role: 'user', parts: [{ text: 'and now' }] },
    ]
    expect((await library.models.generateContent({ model, contents, config: { tools } })).text).toContain('and now')
  })

  test('an instruction reaches the model, a limit ends the answer with MAX_TOKENS', async () => {
    const answer = await library.models.generateContent({
      model,
      contents: 'system?',
      config: { systemInstruction: 'be brief' },
    })
    expect(answer.text).toBe('System: be brief')
    const short = await library.models.generateContent({
      model,
      contents: 'one two three four five six seven eight nine ten',
      config: { maxOutputTokens: 4 },
    })
    expect(short.candidates?.[0]).toMatchObject({ finishReason: 'MAX_TOKENS' })
    expect(short.text).toBe('You said: one')
    expect(await world.newCharges()).toHaveLength(2)
  })

  test('an answer by schema is JSON of that schema', async () => {
    const answer = await library.models.generateContent({
      model: strictModel(type),
      contents: 'city is Rome',
      config: {
        responseMimeType: 'application/json',
        responseSchema: { type: Type.OBJECT, properties: { city: { type: Type.STRING } }, required: ['city'] },
      },
    })
    expect(JSON.parse(answer.text ?? '')).toEqual({ city: 'Rome' })
    expect(await world.newCharges()).toHaveLength(1)
  })

  test('reasoning is marked and may be sent back with a result, to any channel', async () => {
    const question: Content = { role: 'user', parts: [{ text: '[[thinking=4]] get_weather, city is Oslo' }] }
    const config = { tools, thinkingConfig: { includeThoughts: true } }
    for (const stream of [false, true]) {
      const parts = await partsOf({ model, contents: [question], config }, stream)
      const thought = parts.filter((part) => part.thought).map((part) => part.text)
      expect(thought.join('')).toContain('Thinking about: get_weather,')
      const call = parts.find((part) => part.functionCall)?.functionCall
      const result: Part = { functionResponse: { name: 'get_weather', ...call, response: { output: 'snow' } } }
      for (const next of channelKinds) {
        const contents = [question, { role: 'model', parts }, { role: 'user', parts: [result] }]
        const answer = await library.models.generateContent({ model: next.model, contents, config })
        expect(answer.text, `${model} → ${next.model}`).toContain('snow')
      }
    }
    expect(await world.newCharges()).toHaveLength(8)
  })

  test('reasoning that nobody asked to see is not shown, and may be sent back with a result all the same', async () => {
    const question: Content = { role: 'user', parts: [{ text: '[[thinking=4]] get_weather, city is Oslo' }] }
    const config = { tools, thinkingConfig: { thinkingBudget: 1024 } }
    for (const stream of [false, true]) {
      const parts = await partsOf({ model, contents: [question], config }, stream)
      // What Google sends goes on as it came.
      if (type !== 24) expect(parts.filter((part) => part.thought && part.text)).toEqual([])
      const call = parts.find((part) => part.functionCall)?.functionCall
      const result: Part = { functionResponse: { name: 'get_weather', ...call, response: { output: 'snow' } } }
      const contents = [question, { role: 'model', parts }, { role: 'user', parts: [result] }]
      const answer = await library.models.generateContent({ model, contents, config })
      expect(answer.text).toContain('snow')
    }
    expect(await world.newCharges()).toHaveLength(4)
  })

  test('a stream that fails half way throws, and what was delivered is charged', async () => {
    const contents = '[[errorevent=6,events=40,message=it broke]] tell me a long story about the sea'
    const error = await thrownBy(() => partsOf({ model, contents }, true))
    expect(error.message).toContain('it broke')
    const charges = await world.newCharges()
    expect(charges).toHaveLength(1)
    expect(charges[0]).toBeGreaterThan(0)
  })

  test('without alt=sse a stream is one JSON array, also when it fails', async () => {
    const read = async (text: string) => {
      const body = { contents: [{ role: 'user', parts: [{ text }] }] }
      const path = `/v1beta/models/${model}:streamGenerateContent`
      const reply = await world.app.relay(world.token, path, body)
      expect(reply.headers.get('content-type')).toContain('application/json')
      return (await reply.json()) as GenerateContentResponse[]
    }
    const chunks = await read(`hello [[usage=${usage}]]`)
    const parts = chunks.flatMap((chunk) => chunk.candidates?.[0]?.content?.parts ?? [])
    expect(parts.map((part) => part.text).join('')).toBe('You said: hello')
    expect(await world.newCharges()).toEqual([charge])
    const broken = await read('[[errorevent=6,events=40,message=it broke]] a story')
    expect(broken.at(-1)).toMatchObject({ error: { message: expect.stringContaining('it broke') } })
    await world.newCharges()
  })
})

test('several candidates are charged for all of them', async () => {
  const answer = await library.models.generateContent({
    model: 'gemini-2.5-flash',
    contents: 'hello [[usage=1005:200]]',
    config: { candidateCount: 2 },
  })
  expect(answer.candidates).toHaveLength(2)
  // (1005 + 400 × 8.3333) × 0.15 = 650.748
  expect(await world.newCharges()).toEqual([651])
})

test('a chat over a channel that cannot stream streams, and keeps its history', async () => {
  const model = 'gpt-4o'
  await world.app.make.channel({ type: 1, models: model, setting: '{"stream_support":"NON_STREAM_ONLY"}' })
  await world.app.settled()
  const chat = library.chats.create({ model })
  let text = ''
  for await (const chunk of await chat.sendMessageStream({ message: 'hello' })) text += chunk.text ?? ''
  expect(text).toBe('You said: hello')
  expect(chat.getHistory(true).map(({ role }) => role)).toEqual(expect.arrayContaining(['user', 'model']))
  await world.newCharges()
})
