import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import { describe, expect, test } from 'vitest'
import { chunks, json, type Play } from '#test/support/scripted-upstream.ts'
import { startScriptedRelay } from '../relay/relay-world.ts'
import { serve } from '../relay/serve.ts'

const { app, scripted, token } = await startScriptedRelay()
const key = `sk-${token.key}`
const openai = new OpenAI({ apiKey: key, baseURL: `${app.url}/v1`, maxRetries: 0 })
const anthropic = new Anthropic({ apiKey: key, baseURL: app.url, maxRetries: 0 })
const google = new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: app.url } })

const serving = async (type: number, play: Play): Promise<string> =>
  (await serve(app, { type, baseUrl: scripted.play(play) })).model
const sent = (): unknown => JSON.parse(String(scripted.received.at(-1)?.bytes))
const hello = [{ role: 'user' as const, content: 'hello' }]
const events = (...values: { type: string }[]): Play => ({
  steps: values.map((value) => `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`),
})
const usage = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 }
const completionOf = (...choices: object[]) => ({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices,
  usage,
})
const chunkOf = (...choices: object[]) => ({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices,
})

describe('several answers', () => {
  const texts = ['one', 'two']

  test('of a chat upstream reach @google/genai as candidates, streamed or not', async () => {
    const choices = texts.map((content, index) => ({
      index,
      message: { role: 'assistant', content },
      finish_reason: 'stop',
    }))
    const model = await serving(1, json(completionOf(...choices)))
    const answer = await google.models.generateContent({ model, contents: 'hello', config: { candidateCount: 2 } })
    expect(answer.candidates?.map(({ content }) => content?.parts?.[0]?.text)).toEqual(texts)
    expect(sent()).toMatchObject({ n: 2 })

    const parts = texts.map((content, index) => chunkOf({ index, delta: { role: 'assistant', content } }))
    const ends = texts.map((_, index) => chunkOf({ index, delta: {}, finish_reason: 'stop' }))
    const streaming = await serving(1, chunks(...parts, ...ends, { ...chunkOf(), usage }))
    const found = ['', '']
    const request = { model: streaming, contents: 'hello', config: { candidateCount: 2 } }
    for await (const { candidates = [] } of await google.models.generateContentStream(request))
      for (const { index = 0, content } of candidates) found[index] += content?.parts?.[0]?.text ?? ''
    expect(found).toEqual(texts)
  })

  test('of Gemini reach the openai library as choices', async () => {
    const candidates = texts.map((text, index) => ({
      index,
      content: { role: 'model', parts: [{ text }] },
      finishReason: 'STOP',
    }))
    const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 2, totalTokenCount: 12 }
    const model = await serving(24, json({ candidates, usageMetadata }))
    const answer = await openai.chat.completions.create({ model, messages: hello, n: 2 })
    expect(answer.choices.map(({ index, message }) => [index, message.content])).toEqual([
      [0, 'one'],
      [1, 'two'],
    ])
    expect(sent()).toMatchObject({ generationConfig: { candidateCount: 2 } })
  })
})

describe('logprobs', () => {
  const token = { token: 'hi', logprob: -0.5, bytes: [104, 105] }
  const other = { token: 'ho', logprob: -1, bytes: [104, 111] }

  test('of Gemini reach the openai library in its form', async () => {
    const logprobsResult = {
      chosenCandidates: [{ token: 'hi', logProbability: -0.5 }],
      topCandidates: [
        {
          candidates: [
            { token: 'hi', logProbability: -0.5 },
            { token: 'ho', logProbability: -1 },
          ],
        },
      ],
    }
    const candidate = { content: { role: 'model', parts: [{ text: 'hi' }] }, finishReason: 'STOP', logprobsResult }
    const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 2, totalTokenCount: 12 }
    const body = { candidates: [candidate], usageMetadata }
    for (const stream of [false, true]) {
      const model = await serving(24, stream ? { steps: [`data: ${JSON.stringify(body)}\n\n`] } : json(body))
      const asked = { model, messages: hello, logprobs: true, top_logprobs: 2 }
      const answer = stream
        ? await openai.chat.completions.stream({ ...asked, stream: true }).finalChatCompletion()
        : await openai.chat.completions.create(asked)
      expect(answer.choices[0]?.logprobs?.content).toMatchObject([
        {
          token: 'hi',
          logprob: -0.5,
          top_logprobs: [
            { token: 'hi', logprob: -0.5 },
            { token: 'ho', logprob: -1 },
          ],
        },
      ])
      expect(sent()).toMatchObject({ generationConfig: { responseLogprobs: true, logprobs: 2 } })
    }
  })

  test('of a chat upstream reach @google/genai in its form', async () => {
    const logprobs = { content: [{ ...token, top_logprobs: [token, other] }], refusal: null }
    const choice = { index: 0, finish_reason: 'stop', logprobs }
    for (const stream of [false, true]) {
      const play = stream
        ? chunks(chunkOf({ ...choice, delta: { role: 'assistant', content: 'hi' } }), { ...chunkOf(), usage })
        : json(completionOf({ ...choice, message: { role: 'assistant', content: 'hi' } }))
      const model = await serving(1, play)
      const request = { model, contents: 'hello', config: { responseLogprobs: true, logprobs: 2 } }
      const found = []
      if (stream) for await (const part of await google.models.generateContentStream(request)) found.push(part)
      else found.push(await google.models.generateContent(request))
      const results = found.flatMap(({ candidates }) => candidates?.[0]?.logprobsResult ?? [])
      expect(results).toMatchObject([
        {
          chosenCandidates: [{ token: 'hi', logProbability: -0.5 }],
          topCandidates: [{ candidates: [{ token: 'hi' }, { token: 'ho', logProbability: -1 }] }],
        },
      ])
      expect(sent()).toMatchObject({ logprobs: true, top_logprobs: 2 })
    }
  })
})

test('log probabilities that a library cannot be given are named as lost', async () => {
  const model = await serving(
    40,
    json(completionOf({ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'hi' } })),
  )
  const include = ['message.output_text.logprobs' as const]
  const { response } = await openai.responses.create({ model, input: 'hello', include, top_logprobs: 2 }).withResponse()
  expect(response.headers.get('x-translation-loss')?.split(',')).toContain('logprobs')
})

describe('a refusal', () => {
  const refusalText = 'I cannot help with that'
  const refused = { index: 0, finish_reason: 'stop' }
  const plays = (stream: boolean): Play =>
    stream
      ? chunks(
          chunkOf({ index: 0, delta: { role: 'assistant', refusal: 'I cannot ' } }),
          chunkOf({ ...refused, delta: { refusal: 'help with that' } }),
          { ...chunkOf(), usage },
        )
      : json(completionOf({ ...refused, message: { role: 'assistant', content: null, refusal: refusalText } }))

  test('of a chat upstream reaches the other libraries with its words', async () => {
    for (const stream of [false, true]) {
      const model = await serving(1, plays(stream))
      const asked = { model, max_tokens: 10, messages: hello }
      const message = stream
        ? await anthropic.messages.stream(asked).finalMessage()
        : await anthropic.messages.create(asked)
      expect([stream, message.stop_reason, message.content]).toMatchObject([
        stream,
        'refusal',
        [{ type: 'text', text: refusalText }],
      ])

      const parts: unknown[] = []
      const request = { model, contents: 'hello' }
      if (stream)
        for await (const { text } of await google.models.generateContentStream(request)) parts.push(text ?? '')
      else parts.push((await google.models.generateContent(request)).text)
      expect(parts.join('')).toBe(refusalText)
    }
  })

  test('of Claude reaches the openai library as what it is', async () => {
    const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: 'refusal' }
    const counted = { input_tokens: 10, output_tokens: 2 }
    for (const stream of [false, true]) {
      const play = stream
        ? events(
            { type: 'message_start', message: { ...message, stop_reason: null, usage: counted } } as { type: string },
            { type: 'message_delta', delta: { stop_reason: 'refusal' }, usage: counted } as { type: string },
            { type: 'message_stop' },
          )
        : json({ ...message, usage: counted })
      const model = await serving(14, play)
      const answer = stream
        ? await openai.chat.completions
            .stream({ model, messages: hello })
            .finalChatCompletion()
            .catch((error) => error)
        : await openai.chat.completions.create({ model, messages: hello })
      if (!(answer instanceof Error)) expect(answer.choices[0]?.finish_reason).toBe('content_filter')
      else expect(answer.constructor.name).toBe('ContentFilterFinishReasonError')
      const response = stream
        ? await openai.responses.stream({ model, input: 'hello' }).finalResponse()
        : await openai.responses.create({ model, input: 'hello' })
      expect(response).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'content_filter' } })
    }
  })
})

test('bytes that are no UTF-8 become the sign for that, and letters cut between packets stay complete, in every library', async () => {
  const line = Buffer.from(
    `data: ${JSON.stringify(chunkOf({ index: 0, delta: { role: 'assistant', content: 'é@ü' } }))}\n\n`,
  )
  line[line.indexOf('@')] = 0xff
  const [beginning, rest] = [line.subarray(0, line.indexOf('ü') + 1), line.subarray(line.indexOf('ü') + 1)]
  const end = chunks(chunkOf({ index: 0, delta: {}, finish_reason: 'stop' }), { ...chunkOf(), usage }).steps
  const model = await serving(1, { steps: [beginning, 1, rest, ...end] })
  const expected = 'é\uFFFDü'
  const asked = { model, max_tokens: 10, messages: hello }
  expect((await anthropic.messages.stream(asked).finalMessage()).content).toMatchObject([{ text: expected }])
  // Who answers responses without a form of their own.
  const plain = await serving(40, { steps: [beginning, 1, rest, ...end] })
  expect((await openai.responses.stream({ model: plain, input: 'hello' }).finalResponse()).output_text).toBe(expected)
  const answer = await openai.chat.completions.stream({ model, messages: hello }).finalChatCompletion()
  expect(answer.choices[0]?.message.content).toBe(expected)
  let text = ''
  for await (const part of await google.models.generateContentStream({ model, contents: 'hello' }))
    text += part.text ?? ''
  expect(text).toBe(expected)

  const invalid = Buffer.from(
    JSON.stringify(completionOf({ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'é@' } })),
  )
  invalid[invalid.indexOf('@')] = 0xff
  const unstreamed = await serving(1, { headers: { 'content-type': 'application/json' }, steps: [invalid] })
  expect((await anthropic.messages.create({ ...asked, model: unstreamed })).content).toMatchObject([
    { text: 'é\uFFFD' },
  ])
})

describe('an image in the result of a tool', () => {
  const data = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII='
  const address = `data:image/png;base64,${data}`
  const plain = {
    1: completionOf({ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'seen' } }),
    14: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [{ type: 'text', text: 'seen' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 10, output_tokens: 2 },
    },
    24: {
      candidates: [{ content: { role: 'model', parts: [{ text: 'seen' }] }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 2, totalTokenCount: 12 },
    },
  } as const
  /** Where an upstream of each type finds the image. */
  const imageForms: Record<number, RegExp> = {
    1: /"image_url":\{[^}]*data:image\/png;base64,iVBOR/,
    14: /"type":"base64"/,
    24: /"inlineData"/,
  }

  test.each([1, 14, 24] as const)(
    'reaches an upstream of type %i from @anthropic-ai/sdk and the responses of openai',
    async (type) => {
      const model = await serving(type, json(plain[type]))
      const message = await anthropic.messages.create({
        model,
        max_tokens: 10,
        tools: [{ name: 'look', input_schema: { type: 'object' } }],
        messages: [
          ...hello,
          { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'look', input: {} }] },
          {
            role: 'user',
            content: [
              {
                type: 'tool_result',
                tool_use_id: 'toolu_1',
                content: [
                  { type: 'text', text: 'an image' },
                  { type: 'image', source: { type: 'base64', media_type: 'image/png', data } },
                ],
              },
            ],
          },
        ],
      })
      expect(message.content).toMatchObject([{ text: 'seen' }])
      expect(JSON.stringify(sent())).toContain(data)
      expect(JSON.stringify(sent())).toMatch(imageForms[type] as RegExp)

      // What speaks responses itself would be sent them as they are.
      const translating = type === 1 ? await serving(40, json(plain[type])) : model
      const response = await openai.responses.create({
        model: translating,
        tools: [{ type: 'function', name: 'look', parameters: { type: 'object', properties: {} }, strict: false }],
        input: [
          { role: 'user', content: 'hello' },
          { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{}' },
          {
            type: 'function_call_output',
            call_id: 'call_1',
            output: [
              { type: 'input_text', text: 'an image' },
              { type: 'input_image', image_url: address, detail: 'auto' },
            ],
          },
        ],
      })
      expect(response.output_text).toBe('seen')
      expect(JSON.stringify(sent())).toContain(data)
      expect(JSON.stringify(sent())).toMatch(imageForms[type] as RegExp)
    },
  )
})
