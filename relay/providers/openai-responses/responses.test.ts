import { describe, expect, test } from 'vitest'
import { normaliseUsage } from '#core/usage.ts'
import { collectEvents } from '#relay/chat/collect.ts'
import type { ChatRequest } from '#relay/chat/request.ts'
import { callWith, readEvents, readJson } from '../conformance/fixtures.ts'
import { requestWith, toolConversation, weatherTool } from '../conformance/requests.ts'
import { openai } from '../openai-compatible/vendors/openai.ts'
import { azure } from '../openai-compatible/vendors/azure.ts'
import { usageOf } from './usage.ts'

const folder = new URL('./__fixtures__/', import.meta.url)
const call = callWith({ model: 'gpt-5.4', stream: true })

const complete = (name: string) => openai.chat.response(readJson(folder, `${name}.json`), call)
const streamed = (name: string) => {
  const decoder = openai.chat.stream(call)
  return [...readEvents(folder, `${name}.sse`).flatMap((event) => decoder.push(event)), ...decoder.end()]
}
const bothWays = (name: string) => [complete(name), collectEvents(streamed(name))]

describe('an answer in the responses form, unstreamed or streamed', () => {
  test('text', () => {
    for (const response of bothWays('text')) {
      expect(response.choices[0]).toMatchObject({
        parts: [{ type: 'text', text: 'Hello from upstream' }],
        finish: 'stop',
      })
      expect(normaliseUsage(response.usage ?? {}).usage).toMatchObject({
        promptTokens: 20,
        cachedTokens: 8,
        completionTokens: 10,
      })
    }
  })

  test('input that is counted at the beginning, before any output is', () => {
    const begin = (usage: object) =>
      openai.chat
        .stream(call)
        .push({ event: 'response.created', data: JSON.stringify({ type: 'response.created', response: { usage } }) })
    const usage = { input_tokens: 20, output_tokens: 0, total_tokens: 20, input_tokens_details: { cached_tokens: 8 } }
    const [, reported] = begin(usage)
    expect(reported).toMatchObject({ type: 'usage', usage: { promptTokens: 20, cachedTokens: 8 } })
    expect(reported).not.toHaveProperty('usage.completionTokens', 0)
    expect(begin({ input_tokens: 0, output_tokens: 0, total_tokens: 0 }).map(({ type }) => type)).toEqual(['start'])
  })

  test('cache writes that are kept for twelve hours, as the part of all that they are', () => {
    const written = (ttl_12h_tokens: number) => {
      const details = { cached_tokens: 8, cache_write_tokens: 10, cache_write_tokens_details: { ttl_12h_tokens } }
      const usage = { input_tokens: 20, output_tokens: 1, total_tokens: 21, input_tokens_details: details }
      return normaliseUsage(usageOf({ usage }) ?? {}).usage
    }
    expect(written(6)).toMatchObject({ cachedTokens: 8, cacheWriteTokens: 10, cacheWrite1hTokens: 6 })
    expect(written(11)).toMatchObject({ cacheWriteTokens: 10, cacheWrite1hTokens: 10 })
  })

  test('calls', () => {
    for (const response of bothWays('tools')) {
      expect(response.choices[0]).toEqual({
        parts: [
          { type: 'tool-call', id: 'call_abc123', name: 'get_weather', arguments: '{"city":"Paris"}' },
          { type: 'tool-call', id: 'call_def456', name: 'get_time', arguments: '{"zone":"CET"}' },
        ],
        finish: 'tool-calls',
      })
    }
  })

  test('reasoning with its seal', () => {
    for (const response of bothWays('thinking')) {
      expect(response.choices[0]?.parts[0]).toEqual({
        type: 'reasoning',
        text: 'Let me think.',
        encrypted: { dialect: 'openai-responses', data: 'gAAAAABo' },
      })
    }
  })

  test('reasons to stop', () => {
    for (const response of bothWays('length')) expect(response.choices[0]?.finish).toBe('length')
    for (const response of bothWays('filtered')) expect(response.choices[0]?.finish).toBe('content-filter')
  })

  test('a failure in mid-stream', () => {
    const events = streamed('failed')
    expect(events.at(-1)).toMatchObject({ type: 'error', error: { status: 500, code: 'server_error' } })
    expect(events.some((event) => event.type === 'finish')).toBe(false)
  })
})

test('log probabilities of its text are those of chat completions', () => {
  const tokens = [{ token: 'hi', logprob: -0.5, bytes: [104, 105], top_logprobs: [] }]
  const content = [{ type: 'output_text', text: 'hi', annotations: [], logprobs: tokens }]
  const item = { type: 'message', role: 'assistant', content }
  const response = { id: 'resp_1', object: 'response', status: 'completed', output: [item] }
  const decoder = openai.chat.stream(call)
  const events = [
    { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'hi' },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response },
  ].flatMap((event) => decoder.push({ event: event.type, data: JSON.stringify(event) }))
  for (const answer of [openai.chat.response(response, call), collectEvents([...events, ...decoder.end()])])
    expect(answer.choices[0]).toMatchObject({ parts: [{ type: 'text', text: 'hi' }], logprobs: tokens })
})

test('usage of a failed answer still counts', () => {
  const decoder = openai.chat.stream(call)
  const response = {
    error: { code: 'rate_limit_exceeded', message: 'slow' },
    usage: { input_tokens: 5, output_tokens: 1 },
  }
  expect(decoder.push({ data: JSON.stringify({ type: 'response.failed', response }) })).toMatchObject([
    { type: 'usage', usage: { promptTokens: 5 } },
    { type: 'error', error: { status: 429 } },
  ])
})

describe('a stream whose closing event repeats none of its items', () => {
  const tools = [{ type: 'image_generation', model: 'gpt-image-2', quality: 'low', size: '1024x1024' }]
  const drawn = { input_tokens: 50, output_tokens: 400, input_tokens_details: { image_tokens: 20 } }
  const closing = {
    id: 'resp_1',
    status: 'completed',
    usage: { input_tokens: 20, output_tokens: 10 },
    tool_usage: { image_gen: drawn },
  }
  const items = [
    { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: 'AAAA' },
    { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'cats' } },
    { type: 'file_search_call', id: 'fs_1', status: 'completed', queries: [] },
    { type: 'code_interpreter_call', id: 'ci_1', status: 'completed', container_id: 'cntr_1' },
  ]
  const read = (items: object[], response: object) => {
    const events = [
      { type: 'response.created', response: { id: 'resp_1', status: 'in_progress', output: [], tools } },
      ...items.map((item, output_index) => ({ type: 'response.output_item.added', output_index, item })),
      ...items.map((item, output_index) => ({ type: 'response.output_item.done', output_index, item })),
      { type: 'response.completed', response },
    ].map((event) => ({ event: event.type, data: JSON.stringify(event) }))
    const decoder = openai.chat.stream(call)
    const listener = openai.native['openai-responses']!.listen({ includeUsage: true })
    for (const event of events) listener.push(event)
    return { listener, answer: collectEvents([...events.flatMap((event) => decoder.push(event)), ...decoder.end()]) }
  }

  test.each([
    ['empty', { ...closing, output: [], tools: [] }],
    ['absent', closing],
    ['whole after all', { ...closing, output: items, tools }],
  ])('is charged for each of its tools once, images by their tokens: the output is %s', (_, response) => {
    const { listener, answer } = read(items, response)
    for (const usage of [listener.usage(), answer.usage])
      expect(usage).toMatchObject({
        promptTokens: 20,
        completionTokens: 10,
        webSearchCalls: 1,
        fileSearchCalls: 1,
        containers: [{ id: 'cntr_1', tool: 'code_interpreter', gigabytes: 1 }],
        drawing: {
          model: 'gpt-image-2',
          images: [{ quality: 'low', size: '1024x1024' }],
          tokens: { input: 50, imageInput: 20, output: 400 },
        },
      })
    // A container is its caller's, who may name it in the next call.
    expect(listener.keeps).toContain('cntr_1')
  })

  test('ends by its length where a call was cut off', () => {
    const item = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{"a', status: 'incomplete' }
    const response = { ...closing, status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }
    for (const output of [[], [item]])
      expect(read([item], { ...response, output }).answer.choices[0]?.finish).toBe('length')
    expect(read([{ ...item, status: 'completed' }], closing).answer.choices[0]?.finish).toBe('tool-calls')
  })
})

test('a listener waits with the closing event and keeps its usage', () => {
  const native = openai.native['openai-responses']!
  for (const name of ['text', 'tools', 'thinking', 'length']) {
    const listener = native.listen({ includeUsage: true })
    const verdicts = readEvents(folder, `${name}.sse`).map((event) => listener.push(event))
    expect(verdicts.indexOf('hold')).toBe(verdicts.length - 1)
    expect({ complete: listener.complete, usage: listener.usage() }).toMatchObject({
      complete: true,
      usage: { promptTokens: 20, completionTokens: 10 },
    })
  }
  const failing = native.listen({ includeUsage: true })
  const verdicts = readEvents(folder, 'failed.sse').map(({ data }) => failing.push({ data }))
  expect(verdicts.at(-1)).toBe('failed')
  expect(failing.failure?.message).toBe('The model failed to generate a response.')
  expect(native.inspect(readJson(folder, 'tools.json')).delivered()).toMatchObject({ toolCalls: 2 })
})

describe('a call in the responses form', () => {
  const write = (request: Partial<ChatRequest>, model = 'gpt-5.4') =>
    openai.chat.request(requestWith(request), callWith({ model }))

  test('is chosen at the vendor’s own address where the chat form refuses', () => {
    const url = (request: Partial<ChatRequest>, model: string) => write(request, model).url.split('/').at(-1)
    expect(url({}, 'gpt-5.4')).toBe('completions')
    expect(url({ tools: [weatherTool] }, 'gpt-5.4')).toBe('responses')
    expect(url({ tools: [weatherTool], reasoning: { effort: 'none' } }, 'gpt-5.4')).toBe('completions')
    expect(url({ tools: [weatherTool], reasoning: { effort: 'none' } }, 'gpt-6.2-sol')).toBe('responses')
    expect(url({ tools: [weatherTool] }, 'gpt-5.2')).toBe('completions')
    expect(url({}, 'o3-pro')).toBe('responses')
    expect(url({}, 'gpt-5.1-codex-max')).toBe('responses')
    const elsewhere = callWith({ model: 'gpt-5.4', channel: { baseUrl: 'http://localhost:8000' } })
    expect(openai.chat.request(requestWith({ tools: [weatherTool] }), elsewhere).url).toMatch(/completions$/)
  })

  test('is what a native chat body is turned into there', () => {
    const { accepts } = openai.native['openai-chat']!
    const body = { tools: [{ type: 'function', function: { name: 'f' } }] }
    expect(accepts?.(body, callWith({ model: 'gpt-5.4' }))).toBe(false)
    expect(accepts?.({ ...body, reasoning_effort: 'none' }, callWith({ model: 'gpt-5.4' }))).toBe(true)
    expect(accepts?.({}, callWith({ model: 'gpt-5.4' }))).toBe(true)
  })

  test('holds calls and results as items and stores nothing', () => {
    const sent = write({ ...toolConversation(), stop: ['x'], reasoning: { effort: 'minimal' }, maxTokens: 9 })
    expect(sent.body).toEqual({
      model: 'gpt-5.4',
      input: [
        { role: 'developer', content: 'Be brief.' },
        { role: 'user', content: [{ type: 'input_text', text: 'Weather in Paris and Rome?' }] },
        {
          type: 'message',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'I will look.', annotations: [] }],
        },
        { type: 'function_call', call_id: 'call_1', name: 'get_weather', arguments: '{"city":"Paris"}' },
        { type: 'function_call', call_id: 'call_2', name: 'get_weather', arguments: '{"city":"Rome"}' },
        { type: 'function_call_output', call_id: 'call_1', output: 'sunny-18' },
        { type: 'function_call_output', call_id: 'call_2', output: 'Error: no-such-station' },
        { role: 'user', content: [{ type: 'input_text', text: 'And tomorrow?' }] },
      ],
      store: false,
      max_output_tokens: 16,
      tools: [{ ...weatherTool, strict: false }],
      reasoning: { effort: 'none', summary: 'auto' },
      include: ['reasoning.encrypted_content'],
    })
    expect(sent.losses).toEqual(['stop', 'max_tokens', 'reasoning_effort'])
  })

  test.each([
    ['gpt-6-astra', 'max'],
    ['gpt-6.1-sol', 'max'],
    ['gpt-6-sol', 'max'],
    ['gpt-6.2-sol', 'max'],
    ['gpt-5.6-terra', 'max'],
  ] as const)('asks %s for the effort %s, which it knows in this form', (model, effort) => {
    expect(write({ reasoning: { effort } }, model)).toMatchObject({ body: { reasoning: { effort } }, losses: [] })
  })

  test('says of a failed result with an image that it failed', () => {
    const image = { kind: 'url' as const, url: 'https://a.test/b.png' }
    const result = { type: 'tool-result' as const, callId: 'call_1', isError: true }
    const sent = write({
      messages: [
        { role: 'assistant', content: [{ type: 'tool-call', id: 'call_1', name: 'look', arguments: '{}' }] },
        { role: 'user', content: [{ ...result, content: [{ type: 'image', source: image }] }] },
      ],
      tools: [weatherTool],
    })
    expect(sent.body).toMatchObject({
      input: [
        {},
        {
          call_id: 'call_1',
          output: [
            { type: 'input_text', text: 'Error:' },
            { type: 'input_image', image_url: image.url },
          ],
        },
      ],
    })
  })

  test('goes out natively with only name and suffix changed', () => {
    const text = '{"model":"mine","input":"hi","store":true}'
    const native = { json: JSON.parse(text), bytes: Buffer.from(text) }
    const sent = openai.native['openai-responses']!.request(native, callWith({ model: 'gpt-5.2-high' }))
    expect(sent.url).toBe('https://api.openai.com/v1/responses')
    expect(Buffer.from(sent.body as Uint8Array).toString()).toBe(
      '{"model":"gpt-5.2","input":"hi","store":true,"reasoning":{"effort":"high"}}',
    )
    const same = openai.native['openai-responses']!.request(native, callWith({ model: 'mine' }))
    expect(same.body).toBe(native.bytes)
  })

  test('takes names of items from natively sent ones that another vendor named', () => {
    const call = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' }
    const output = { type: 'function_call_output', call_id: 'c', output: '1' }
    const own = [
      { id: 'fc_1', ...call },
      { id: 'fc_2', ...output },
    ]
    const foreign = [
      { id: 'item_1', role: 'assistant', content: 'hi' },
      { id: 'call_1', ...call },
      { id: '', ...output },
      { id: 'item_2', type: 'item_reference' },
    ]
    const sent = (input: object[]) => {
      const json = { model: 'm', input }
      const native = { json, bytes: Buffer.from(JSON.stringify(json)) }
      const { body } = openai.native['openai-responses']!.request(native, callWith({ model: 'm' }))
      return { same: body === native.bytes, input: JSON.parse(Buffer.from(body as Uint8Array).toString()).input }
    }
    expect(sent(own)).toEqual({ same: true, input: own })
    expect(sent(foreign).input).toEqual([{ role: 'assistant', content: 'hi' }, call, output, foreign[3]])
  })

  test('has addresses of its own at Azure, and goes only where the list of types says', () => {
    const native = { json: { model: 'm' }, bytes: Buffer.from('{"model":"m"}') }
    const url = (baseUrl: string) =>
      azure.native['openai-responses']!.request(native, callWith({ model: 'm', channel: { type: 3, baseUrl } })).url
    expect(url('https://r.openai.azure.com')).toBe('https://r.openai.azure.com/openai/v1/responses?api-version=preview')
    expect(url('https://r.cognitiveservices.azure.com')).toMatch(/\/openai\/responses\?api-version=2025-04-01-preview$/)
    const { accepts } = openai.native['openai-responses']!
    expect(accepts?.({}, callWith())).toBe(true)
    expect(accepts?.({}, callWith({ channel: { type: 47 } }))).toBe(false)
  })
})

test('a call that was cut off ends an answer by its length, whole ones by the calls', () => {
  const finishOf = (...statuses: string[]) => {
    const calls = statuses.map((status, at) => ({
      type: 'function_call',
      call_id: `c${at}`,
      name: 'write_file',
      arguments: status === 'completed' ? '{}' : '{"path":"a.t',
      status,
    }))
    const response = {
      id: 'resp_1',
      object: 'response',
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output: calls,
    }
    return openai.chat.response(response, callWith({ model: 'gpt-5.5' })).choices[0]?.finish
  }
  expect(finishOf('completed', 'incomplete')).toBe('length')
  expect(finishOf('completed')).toBe('tool-calls')
})

test('an answer is empty only where it holds nothing but words that say nothing', () => {
  const answer = (...output: object[]) =>
    openai.native['openai-responses']!.inspect({ id: 'resp_1', object: 'response', status: 'completed', output }).empty
  const reasoning = { type: 'reasoning', id: 'rs_1', summary: [] }
  expect(answer(reasoning, { type: 'message', role: 'assistant', content: [] })).toBe(true)
  for (const type of ['shell_call', 'computer_call', 'apply_patch_call', 'mcp_approval_request', 'compaction'])
    expect(answer(reasoning, { type, id: 'x' }), type).toBe(false)
})

test('items of a type that is none go out as they came', () => {
  const input = [{ type: { toString: 1 }, id: 'x' }]
  const text = JSON.stringify({ model: 'gpt-5.5', input })
  const native = { json: JSON.parse(text), bytes: Buffer.from(text) }
  const sent = openai.native['openai-responses']!.request(native, callWith({ model: 'gpt-5.5' }))
  expect(sent.body).toBe(native.bytes)
})

test('videos are refused, not sent as a document', () => {
  const source = { kind: 'base64' as const, mediaType: 'video/mp4', data: 'AA==' }
  const request = requestWith({ messages: [{ role: 'user', content: [{ type: 'file', source }] }] })
  const official = callWith({ model: 'gpt-5-codex' })
  expect(() => openai.chat.request(request, official)).toThrow(expect.objectContaining({ code: 'unsupported.video' }))
})
