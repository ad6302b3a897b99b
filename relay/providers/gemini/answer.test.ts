import { expect, test } from 'vitest'
import { UpstreamRefusal } from '../types.ts'
import { callWith, readEvents, readText } from '../conformance/fixtures.ts'
import { deliveredBy } from '#relay/chat/delivered.ts'
import { isContent } from '#relay/chat/choice-ends.ts'
import { gemini } from './index.ts'

const folder = new URL('./__fixtures__/', import.meta.url)
const answer = (parts: object[], more: object = {}) => ({
  candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', ...more }],
  responseId: 'r1',
})
const read = (json: unknown) => gemini.chat.response(json, callWith())
const decode = (chunks: object[]) => {
  const decoder = gemini.chat.stream(callWith({ stream: true }))
  return [...chunks.flatMap((chunk) => decoder.push({ data: JSON.stringify(chunk) })), ...decoder.end()]
}

test('pieces of text are one text, those of reasoning one part with its signature', () => {
  const parts = [
    { text: 'Let me', thought: true },
    { text: ' see', thought: true, thoughtSignature: 's' },
    { text: 'a' },
    { text: 'b' },
  ]
  expect(read(answer(parts)).choices[0]?.parts).toEqual([
    { type: 'reasoning', text: 'Let me see', signature: { dialect: 'gemini', value: 's' } },
    { type: 'text', text: 'ab' },
  ])
})

test('a signature on plain text comes before the text', () => {
  expect(read(answer([{ text: 'a', thoughtSignature: 's' }])).choices[0]?.parts).toEqual([
    { type: 'reasoning', text: '', signature: { dialect: 'gemini', value: 's' } },
    { type: 'text', text: 'a' },
  ])
})

test('a signature on an image comes before the image, and a draft is no image of the answer', () => {
  const inlineData = { mimeType: 'image/png', data: 'AA' }
  const parts = [
    { inlineData, thought: true },
    { inlineData, thoughtSignature: 's' },
  ]
  expect(read(answer(parts)).choices[0]?.parts).toEqual([
    { type: 'reasoning', text: '', signature: { dialect: 'gemini', value: 's' } },
    { type: 'image', mediaType: 'image/png', data: 'AA' },
  ])
  expect(decode([answer(parts)]).filter((event) => event.type === 'image')).toHaveLength(1)
})

test('calls get ids, keep signatures, and decide the finish reason', () => {
  const call = { functionCall: { name: 'f', args: { a: 1 } }, thoughtSignature: 's' }
  expect(read(answer([call])).choices[0]).toEqual({
    parts: [
      {
        type: 'tool-call',
        id: 'call_000000000000000000000001',
        name: 'f',
        arguments: '{"a":1}',
        signature: { dialect: 'gemini', value: 's' },
      },
    ],
    finish: 'tool-calls',
  })
})

test('code that was run is shown as text', () => {
  const parts = [
    { executableCode: { language: 'PYTHON', code: 'print(1)' } },
    { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } },
  ]
  expect(read(answer(parts)).choices[0]?.parts).toEqual([
    { type: 'text', text: '\n```python\nprint(1)\n```\n\n```output\n1\n```\n' },
  ])
})

test('sources are counted in characters, not bytes, and each query is a search that is counted once', () => {
  const groundingMetadata = {
    webSearchQueries: ['a', '', 'b', 'a'],
    groundingChunks: [{ web: { uri: 'https://example.com', title: 'E' } }],
    groundingSupports: [{ segment: { startIndex: 6, endIndex: 9, text: '好' }, groundingChunkIndices: [0, 7] }],
  }
  const response = read(answer([{ text: '你们好' }], { groundingMetadata }))
  expect(response.choices[0]?.parts).toMatchObject([
    { type: 'web-search', search: { queries: ['a'], results: [{ url: 'https://example.com', title: 'E' }] } },
    { type: 'web-search', search: { queries: ['b'], results: [] } },
    { citations: [{ url: 'https://example.com', title: 'E', startIndex: 2, endIndex: 3 }] },
  ])
  expect(response.usage?.webSearchCalls).toBe(2)
  // Before the third generation an answer that searched is charged, not each query.
  const grounded = answer([{ text: '你们好' }], { groundingMetadata })
  for (const [modelVersion, charged] of [
    ['gemini-2.5-flash', 1],
    ['gemini-3-pro-preview', 2],
  ] as const) {
    expect(read({ ...grounded, modelVersion }).usage?.webSearchCalls).toBe(charged)
    const listener = gemini.native.gemini!.listen({ includeUsage: true })
    listener.push({ data: JSON.stringify({ ...grounded, modelVersion, usageMetadata: { promptTokenCount: 1 } }) })
    expect(listener.usage()?.webSearchCalls).toBe(charged)
    const events = decode([{ ...grounded, modelVersion, usageMetadata: { promptTokenCount: 1 } }])
    expect(events).toContainEqual({ type: 'usage', usage: expect.objectContaining({ webSearchCalls: charged }) })
  }
})

test('places on a map are charged by the answer, beside what was searched for', () => {
  const groundingMetadata = { groundingChunks: [{ maps: { uri: 'https://maps.example/1', title: 'E' } }] }
  const grounded = { ...answer([{ text: 'there' }], { groundingMetadata }), usageMetadata: { promptTokenCount: 1 } }
  expect(read(grounded).usage?.webSearchCalls).toBe(1)
  const listener = gemini.native.gemini!.listen({ includeUsage: true })
  listener.push({ data: JSON.stringify(grounded) })
  expect(listener.usage()?.webSearchCalls).toBe(1)
  expect(decode([grounded])).toContainEqual({ type: 'usage', usage: expect.objectContaining({ webSearchCalls: 1 }) })
})

test('images of an answer are counted each, in one event or in several, and sound is none of them', () => {
  const inline = (mimeType: string) => ({ inlineData: { mimeType, data: 'AA' } })
  const parts = [inline('image/png'), inline('audio/pcm'), inline('image/png')]
  const listener = gemini.native.gemini!.listen({ includeUsage: true })
  for (const each of [parts, [inline('image/jpeg')], [inline('audio/pcm')]])
    listener.push({ data: JSON.stringify(answer(each)) })
  expect(listener.delivered()).toEqual({ text: '', toolCalls: 0, images: 3, hasAudio: true })
  expect(deliveredBy(read(answer(parts)))).toEqual({ text: '', toolCalls: 0, images: 2, hasAudio: true })
})

test('usage is put together from its parts', () => {
  const usageMetadata = {
    promptTokenCount: 10,
    toolUsePromptTokenCount: 3,
    candidatesTokenCount: 5,
    thoughtsTokenCount: 2,
    cachedContentTokenCount: 4,
    promptTokensDetails: [{ modality: 'AUDIO', tokenCount: 6 }],
  }
  expect(read({ ...answer([{ text: 'a' }]), usageMetadata }).usage).toMatchObject({
    promptTokens: 13,
    cachedTokens: 4,
    audioInputTokens: 6,
    completionTokens: 7,
    reasoningTokens: 2,
  })
})

test.each([
  [{ promptFeedback: { blockReason: 'SAFETY' } }, 400, 'the prompt was blocked: SAFETY'],
  [{}, 500, 'no candidate in the upstream reply'],
  [{ error: { code: 429, message: 'quota', status: 'RESOURCE_EXHAUSTED' } }, 429, 'quota'],
  [{ candidates: [{ finishReason: 'MALFORMED_FUNCTION_CALL' }] }, 500, 'the upstream stopped without an answer'],
])('%j is a refusal', (json, status, message) => {
  try {
    read(json)
    expect.unreachable()
  } catch (error) {
    expect(error).toBeInstanceOf(UpstreamRefusal)
    expect((error as UpstreamRefusal).failure.status).toBe(status)
    expect((error as UpstreamRefusal).message).toContain(message)
  }
})

test('a failure keeps the figures beside it, streamed or not, and begins no answer', () => {
  const failed = { candidates: [{ finishReason: 'OTHER' }], usageMetadata: { promptTokenCount: 9 } }
  const usage = expect.objectContaining({ promptTokens: 9 })
  expect(() => read(failed)).toThrow(expect.objectContaining({ usage }))
  const error = expect.objectContaining({ code: 'OTHER' })
  expect(decode([failed])).toEqual([
    { type: 'usage', usage },
    { type: 'error', error },
  ])
  // One of several candidates fails alone.
  const other = { candidates: [{ index: 1, content: { parts: [{ text: 'a' }] } }, ...failed.candidates] }
  expect(decode([other]).filter((event) => event.type === 'error')).toEqual([])
  expect(read(other).choices).toHaveLength(2)
})

test('calls are numbered over the whole stream', () => {
  const call = (name: string) => ({ candidates: [{ content: { parts: [{ functionCall: { name } }] } }] })
  const events = decode([call('f'), call('g'), { candidates: [{ finishReason: 'STOP' }] }])
  expect(events.filter((event) => event.type === 'tool-call-start')).toMatchObject([{ index: 0 }, { index: 1 }])
  expect(events.at(-1)).toEqual({ type: 'finish', reason: 'tool-calls' })
})

test('a bad key is no bad request, and a wait that is asked for is reported', () => {
  expect(gemini.error(400, readText(folder, 'error.json'))).toMatchObject({ status: 401, code: 'API_KEY_INVALID' })
  const body = [{ error: { code: 429, message: 'slow', details: [{ retryDelay: '17s' }] } }]
  expect(gemini.error(429, JSON.stringify(body))).toMatchObject({ status: 429, retryAfterSeconds: 17 })
})

test('a listener waits with closing events and distinguishes arguments from fields', () => {
  const listener = gemini.native.gemini!.listen({ includeUsage: true })
  expect(readEvents(folder, 'text.sse').map((event) => listener.push(event))).toEqual(['forward', 'hold'])
  expect({ complete: listener.complete, usage: listener.usage() }).toMatchObject({
    complete: true,
    usage: { promptTokens: 20, cachedTokens: 8, completionTokens: 10 },
  })
  const args = { finishReason: 'x', error: { message: 'no' } }
  const chunk = { candidates: [{ content: { parts: [{ functionCall: { name: 'f', args } }] } }] }
  const other = gemini.native.gemini!.listen({ includeUsage: true })
  expect(other.push({ data: JSON.stringify(chunk) })).toBe('forward')
  expect(other.push({ data: '{"promptFeedback":{"blockReason":"SAFETY"}}' })).toBe('hold')
  expect(
    readEvents(folder, 'failed.sse')
      .map((event) => other.push(event))
      .at(-1),
  ).toBe('failed')
})

test.each([
  ['gemini-3-pro', 'skip_thought_signature_validator'],
  ['gemini-2.5-pro', undefined],
])('a native call without proof towards %s has the word for an unknown one: %s', (model, thoughtSignature) => {
  const call = (name: string) => ({ functionCall: { name, args: {} } })
  const contents = [
    { role: 'user', parts: [{ text: 'q' }] },
    { role: 'model', parts: [call('a'), call('b')] },
    { role: 'model', parts: [{ ...call('a'), thoughtSignature: 'cw==' }, call('b')] },
  ]
  const bytes = Buffer.from(JSON.stringify({ contents }))
  const sent = gemini.native.gemini!.request({ json: { contents }, bytes }, callWith({ model, channel: { type: 24 } }))
  const written = { ...call('a'), ...(thoughtSignature ? { thoughtSignature } : {}) }
  expect(JSON.parse(String(sent.body))).toEqual({
    contents: contents.with(1, { role: 'model', parts: [written, call('b')] }),
  })
  expect(sent.losses).toEqual([])
})

test('images of a native call without proof, or with that of another vendor, have the word for an unknown one', () => {
  const unknown = 'skip_thought_signature_validator'
  const text = { text: 'Here:' }
  const bare = { inlineData: { mimeType: 'image/png', data: 'AA' } }
  const proven = { inline_data: { mime_type: 'image/png', data: 'AA' }, thought_signature: 'cw==' }
  const asked = { role: 'user', parts: [bare, { text: 'q' }] }
  const contents = [
    asked,
    { role: 'model', parts: [text, bare, proven, { ...bare, thoughtSignature: 'gatewaySeal1AAAA' }] },
  ]
  const sent = (model: string) => {
    const bytes = Buffer.from(JSON.stringify({ contents }))
    const call = callWith({ model, channel: { type: 24 } })
    const { body, losses } = gemini.native.gemini!.request({ json: { contents }, bytes }, call)
    return { contents: JSON.parse(String(body)).contents, losses }
  }
  const parts = [text, { ...bare, thoughtSignature: unknown }, proven, { ...bare, thoughtSignature: unknown }]
  expect(sent('gemini-3-pro-preview')).toEqual({
    contents: [asked, { role: 'model', parts }],
    losses: ['reasoning.signature'],
  })
  expect(sent('gemini-3-pro-image-preview').contents[1].parts).toEqual(
    parts.with(0, { text: 'Here:', thoughtSignature: unknown }),
  )
  expect(sent('gemini-2.5-flash-image').contents[1].parts).toEqual([text, bare, proven, bare])
})

test('a native body goes out as the same bytes to the address of the mapped model', () => {
  const text = '{"contents":[{"parts":[{"text":"hi"}]}]}'
  const native = { json: JSON.parse(text), bytes: Buffer.from(text) }
  const call = callWith({ model: 'gemini-2.5-pro', channel: { baseUrl: 'https://g.test' }, stream: true })
  const sent = gemini.native.gemini!.request(native, call)
  expect(sent.body).toBe(native.bytes)
  expect(sent.url).toBe('https://g.test/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse')
})

test.each(['MALFORMED_RESPONSE', 'IMAGE_OTHER'])(
  '%s without an answer is a failure, streamed and not',
  (finishReason) => {
    const empty = { candidates: [{ content: { role: 'model', parts: [] }, finishReason }] }
    expect(() => read(empty)).toThrow(UpstreamRefusal)
    expect(decode([empty])).toContainEqual({ type: 'error', error: expect.objectContaining({ code: finishReason }) })
  },
)

const behindAnEnd: [string, object][] = [
  ['text', { text: 'more' }],
  ['a thought', { text: 'more', thought: true }],
  ['a call', { functionCall: { name: 'f' } }],
  ['an image', { inlineData: { mimeType: 'image/png', data: 'AA' } }],
  ['code', { executableCode: { code: '1' } }],
  ['no image that was thought', { inlineData: { mimeType: 'image/png', data: 'AA' }, thought: true }],
  ['no image without bytes', { inlineData: { mimeType: 'image/png' } }],
  ['no empty text', { text: '' }],
  ['no text that is none', { text: null }],
  ['no call that is none', { functionCall: null }],
  ['no proof', { thoughtSignature: 's' }],
  ['no part of another kind', { toolResponse: { id: 'a' } }],
]
test.each(behindAnEnd)(
  'an answer is taken back by what is said behind it, alike in both ways through: %s',
  (name, part) => {
    const more = { candidates: [{ content: { parts: [part] } }] }
    const isTaken = !name.startsWith('no ')
    const listener = gemini.native.gemini!.listen({ includeUsage: true })
    const verdicts = [answer([{ text: 'a' }]), more].map((chunk) => listener.push({ data: JSON.stringify(chunk) }))
    expect({ complete: listener.complete, verdict: verdicts.at(-1) }).toEqual({
      complete: !isTaken,
      verdict: isTaken ? 'resume' : 'hold',
    })
    expect(
      decode([answer([{ text: 'a' }]), more])
        .slice(3)
        .some(isContent),
    ).toBe(isTaken)
  },
)

test('answers that nobody has numbered stay apart in a stream', () => {
  const candidates = ['a', 'b'].map((text) => ({ content: { parts: [{ text }] }, finishReason: 'STOP' }))
  const texts = decode([{ candidates }]).filter((event) => event.type === 'text-delta')
  expect(texts).toEqual([
    { type: 'text-delta', text: 'a' },
    { type: 'text-delta', text: 'b', choice: 1 },
  ])
})

test('a number that is left out among numbered answers is the first', () => {
  const wire = (text: string, index?: number) => ({ index, content: { parts: [{ text }] }, finishReason: 'STOP' })
  const texts = decode([{ candidates: [wire('b', 1), wire('a')] }]).filter((event) => event.type === 'text-delta')
  expect(texts).toEqual([
    { type: 'text-delta', text: 'b', choice: 1 },
    { type: 'text-delta', text: 'a' },
  ])
})
