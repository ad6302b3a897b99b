import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { startUpstream } from '#test/simulator/index.ts'

const upstream = await startUpstream()
afterAll(() => upstream.close())
beforeEach(() => upstream.clear())

const openai = (directives?: string, apiKey = 'sk-test') =>
  new OpenAI({
    apiKey,
    baseURL: `${directives ? upstream.withDirectives(directives) : upstream.url}/v1`,
    maxRetries: 0,
  })
const anthropic = (apiKey = 'sk-ant') => new Anthropic({ apiKey, baseURL: upstream.url, maxRetries: 0 })
const gemini = (apiKey = 'g-test') => new GoogleGenAI({ apiKey, httpOptions: { baseUrl: upstream.url } })

const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const weather = {
  type: 'object',
  properties: { city: { type: 'string' }, unit: { type: 'string', enum: ['c', 'f'] } },
  required: ['city'],
}
const ask = (content: string) => [{ role: 'user' as const, content }]

describe('the simulated provider as the OpenAI client sees it', () => {
  it('echoes the text and counts tokens', async () => {
    const reply = await openai().chat.completions.create({ model: 'gpt-4o', messages: ask('hello there') })
    expect(reply.choices[0]?.message.content).toBe('You said: hello there')
    expect(reply.usage).toMatchObject({ prompt_tokens: 7, completion_tokens: 6, total_tokens: 13 })
  })

  it('streams word by word and reports usage only when asked', async () => {
    const runner = openai().chat.completions.stream({ model: 'gpt-4o', messages: ask('a b c') })
    expect((await runner.finalChatCompletion()).choices[0]?.message.content).toBe('You said: a b c')
    const plain = await openai().chat.completions.create({ model: 'm', messages: ask('hi'), stream: true })
    const usages = []
    for await (const chunk of plain) usages.push(chunk.usage)
    expect(usages.every((usage) => usage === undefined)).toBe(true)
    const asked = await openai().chat.completions.create({
      model: 'm',
      messages: ask('hi'),
      stream: true,
      stream_options: { include_usage: true },
    })
    let last
    for await (const chunk of asked) last = chunk
    expect(last).toMatchObject({ choices: [], usage: { prompt_tokens: 5 } })
  })

  it('calls mentioned tools in parallel and quotes their results', async () => {
    const tools = ['get_weather', 'get_time'].map((name) => ({
      type: 'function' as const,
      function: { name, parameters: weather },
    }))
    const messages = ask('Use get_weather and get_time for city: Paris')
    const runner = openai().chat.completions.stream({ model: 'gpt-4o', messages, tools })
    const message = (await runner.finalChatCompletion()).choices[0]?.message
    expect(message?.tool_calls?.map((call) => call.type === 'function' && call.function)).toMatchObject([
      { name: 'get_weather', arguments: '{"city":"Paris","unit":"c"}' },
      { name: 'get_time', arguments: '{"city":"Paris","unit":"c"}' },
    ])
    const results = message?.tool_calls?.map((call, index) => ({
      role: 'tool' as const,
      tool_call_id: call.id,
      content: `result ${index}`,
    }))
    const after = await openai().chat.completions.create({
      model: 'gpt-4o',
      tools,
      messages: [...messages, message!, ...(results ?? [])],
    })
    expect(after.choices[0]?.message.content).toBe('The tool says: result 0 | result 1')
  })

  it('refuses tool results that nobody asked for', async () => {
    const messages = [...ask('hi'), { role: 'tool' as const, tool_call_id: 'x', content: '1' }]
    await expect(openai().chat.completions.create({ model: 'm', messages })).rejects.toMatchObject({ status: 400 })
  })

  it('describes images by type, size and hash, addresses by themselves', async () => {
    const image = (url: string) => ({ type: 'image_url' as const, image_url: { url } })
    const reply = await openai().chat.completions.create({
      model: 'm',
      messages: [{ role: 'user', content: [image(`data:image/png;base64,${pixel}`), image('http://a.test/b.png')] }],
    })
    expect(reply.choices[0]?.message.content).toMatch(
      /^Image image\/png 70 bytes sha256 [0-9a-f]{16}\. Image at http:\/\/a\.test\/b\.png\. You said:/,
    )
  })

  it('gives the same vector as floats and as base64', async () => {
    const request = { model: 'e', input: ['one', 'two'] }
    const floats = await openai().embeddings.create({ ...request, encoding_format: 'float' })
    const packed = await openai().embeddings.create(request)
    expect(upstream.requests[1]?.body).toMatchObject({ encoding_format: 'base64' })
    expect(Array.from(packed.data[1]?.embedding ?? [])).toEqual(floats.data[1]?.embedding)
  })

  it('serves responses with events, usage and kept answers', async () => {
    const stream = openai().responses.stream({ model: 'gpt-5', input: 'hi you', reasoning: { effort: 'low' } })
    const final = await stream.finalResponse()
    expect(final.output_text).toBe('You said: hi you')
    expect(final.output.map((item) => item.type)).toEqual(['reasoning', 'message'])
    expect(final.usage?.output_tokens).toBeGreaterThan(0)
    expect((await openai().responses.retrieve(final.id)).id).toBe(final.id)
    const next = openai().responses.create({ model: 'gpt-5', input: 'x', previous_response_id: 'resp_none' })
    await expect(next).rejects.toMatchObject({ status: 400, code: 'previous_response_not_found' })
  })

  it('lists models, completes legacy prompts and answers the billing calls', async () => {
    expect((await openai().models.list()).data[0]?.id).toBe('gpt-4o')
    const legacy = await openai().completions.create({ model: 'm', prompt: 'once' })
    expect(legacy.choices[0]?.text).toBe('You said: once')
    const billing = await fetch(`${upstream.url}/v1/dashboard/billing/subscription`, {
      headers: { authorization: 'Bearer k' },
    })
    expect(await billing.json()).toMatchObject({ hard_limit_usd: 100 })
  })

  it('refuses a wrong key as the vendor does', async () => {
    await expect(openai(undefined, 'bad-key').models.list()).rejects.toMatchObject({
      status: 401,
      code: 'invalid_api_key',
    })
  })
})

describe('the simulated provider as the Anthropic client sees it', () => {
  const base = { model: 'claude-sonnet-5', max_tokens: 1000 }

  it('answers with text, stop reason and usage, streamed and whole', async () => {
    const unstreamed = await anthropic().messages.create({ ...base, messages: ask('hello'), system: 'be kind' })
    const streamed = await anthropic()
      .messages.stream({ ...base, messages: ask('hello'), system: 'be kind' })
      .finalMessage()
    for (const message of [unstreamed, streamed]) {
      expect(message.content).toEqual([{ type: 'text', text: 'You said: hello' }])
      expect(message).toMatchObject({ stop_reason: 'end_turn', usage: { input_tokens: 7, output_tokens: 4 } })
    }
  })

  it('signs its reasoning and refuses signatures of others', async () => {
    const thinking = { type: 'enabled' as const, budget_tokens: 1024 }
    const request = { ...base, max_tokens: 4096, thinking, messages: ask('why') }
    const { content } = await anthropic().messages.stream(request).finalMessage()
    expect(content.map((block) => block.type)).toEqual(['thinking', 'text'])
    const again = [...request.messages, { role: 'assistant' as const, content }, ...ask('and?')]
    await expect(anthropic().messages.create({ ...request, messages: again })).resolves.toBeDefined()
    const forged = content.map((block) => (block.type === 'thinking' ? { ...block, signature: 'other' } : block))
    const refused = [...request.messages, { role: 'assistant' as const, content: forged }, ...ask('and?')]
    await expect(anthropic().messages.create({ ...request, messages: refused })).rejects.toMatchObject({ status: 400 })
  })

  it('uses tools, reads images, reports cached tokens', async () => {
    const tools = [{ name: 'get_weather', input_schema: { ...weather, type: 'object' as const } }]
    const message = await anthropic()
      .messages.stream({ ...base, tools, messages: ask('get_weather for city: Oslo [[usage=100:7:60:20]]') })
      .finalMessage()
    expect(message.content).toMatchObject([
      { type: 'tool_use', name: 'get_weather', input: { city: 'Oslo', unit: 'c' } },
    ])
    expect(message.stop_reason).toBe('tool_use')
    expect(message.usage).toMatchObject({
      input_tokens: 20,
      cache_read_input_tokens: 60,
      cache_creation_input_tokens: 20,
      output_tokens: 7,
    })
    const source = { type: 'base64' as const, media_type: 'image/png' as const, data: pixel }
    const seen = await anthropic().messages.create({
      ...base,
      messages: [{ role: 'user', content: [{ type: 'image', source }] }],
    })
    expect(seen.content[0]).toMatchObject({ text: expect.stringContaining('Image image/png 70 bytes') })
  })

  it('counts tokens, lists models, stops at a sequence, refuses a wrong key', async () => {
    const { messages, models } = anthropic()
    expect(await messages.countTokens({ model: base.model, messages: ask('hello') })).toMatchObject({ input_tokens: 6 })
    expect((await models.list()).data[0]?.type).toBe('model')
    const stopped = await messages.create({ ...base, messages: ask('one two three'), stop_sequences: ['two'] })
    expect(stopped).toMatchObject({ stop_reason: 'stop_sequence', stop_sequence: 'two' })
    await expect(anthropic('bad-key').models.list()).rejects.toMatchObject({ status: 401 })
  })
})

describe('the simulated provider as the Gemini client sees it', () => {
  it('answers unstreamed and streamed, with reasoning', async () => {
    const unstreamed = await gemini().models.generateContent({ model: 'gemini-2.5-flash', contents: 'hello' })
    expect(unstreamed.text).toBe('You said: hello')
    expect(unstreamed.usageMetadata?.promptTokenCount).toBe(6)
    const stream = await gemini().models.generateContentStream({
      model: 'gemini-2.5-flash',
      contents: 'hello',
      config: { thinkingConfig: { includeThoughts: true } },
    })
    let [text, reasoning] = ['', '']
    for await (const chunk of stream)
      for (const part of chunk.candidates?.[0]?.content?.parts ?? [])
        if (part.thought) reasoning += part.text
        else text += part.text
    expect([reasoning, text]).toEqual(['Thinking about: hello', 'You said: hello'])
  })

  it('calls functions, takes their results, embeds, counts and lists', async () => {
    const { models } = gemini()
    const tools = [{ functionDeclarations: [{ name: 'get_weather', parametersJsonSchema: weather }] }]
    const question = { role: 'user', parts: [{ text: 'get_weather for city: Rome' }] }
    const first = await models.generateContent({ model: 'g', contents: [question], config: { tools } })
    expect(first.functionCalls).toMatchObject([{ name: 'get_weather', args: { city: 'Rome' } }])
    const result = { role: 'user', parts: [{ functionResponse: { name: 'get_weather', response: { output: '9C' } } }] }
    const contents = [question, first.candidates![0]!.content!, result]
    const second = await models.generateContent({ model: 'g', contents, config: { tools } })
    expect(second.text).toBe('The tool says: {"output":"9C"}')
    expect((await models.embedContent({ model: 'e', contents: ['a', 'b'] })).embeddings).toHaveLength(2)
    expect((await models.countTokens({ model: 'g', contents: 'hello' })).totalTokens).toBe(6)
    expect((await models.list()).page[0]?.name).toBe('models/gemini-2.5-pro')
  })

  it('streams a JSON array without alt=sse', async () => {
    const reply = await fetch(`${upstream.url}/v1beta/models/g:streamGenerateContent?key=k`, {
      method: 'POST',
      body: JSON.stringify({ contents: [{ parts: [{ text: 'a b' }] }] }),
    })
    expect(reply.headers.get('content-type')).toBe('application/json')
    expect(await reply.json()).toHaveLength(5)
  })

  it('reports a wrong key with its reason', async () => {
    await expect(gemini('bad-key').models.generateContent({ model: 'g', contents: 'x' })).rejects.toThrow(
      'API_KEY_INVALID',
    )
  })
})
