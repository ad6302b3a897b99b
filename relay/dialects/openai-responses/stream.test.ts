import fc from 'fast-check'
import OpenAI from 'openai'
import type { Response } from 'openai/resources/responses/responses'
import { describe, expect, it } from 'vitest'
import { collectEvents } from '#relay/chat/collect.ts'
import type { ChatEvent, FinishReason } from '#relay/chat/events.ts'
import type { EncodeContext } from '../types.ts'
import { anyAnswer } from '../testing/arbitrary-events.ts'
import { answering, framesOf, streamText, testContext } from '../testing/stream-text.ts'
import { openAiResponses } from './index.ts'

const gather = (body: string) =>
  new OpenAI({ apiKey: 'sk-test', baseURL: 'http://relay.test/v1', maxRetries: 0, fetch: answering(body) }).responses
    .stream({ model: 'asked-model', input: 'hi' })
    .finalResponse()

/** Ids that differ, as they do outside of tests: items are distinguished by them. */
const countingContext = (overrides: Partial<EncodeContext> = {}): EncodeContext => {
  let count = 0
  const plain = testContext()
  return { ...plain, ambient: { ...plain.ambient, newId: () => `n${count++}` }, ...overrides }
}

const withoutIds = (output: object[]) =>
  output.map((item) => {
    const { id: _, parsed_arguments: __, ...rest } = item as Record<string, unknown>
    const content = Array.isArray(rest['content']) ? rest['content'].map(({ parsed: ___, ...part }) => part) : undefined
    return content === undefined ? rest : { ...rest, content }
  })

/** Other items may overtake a call that waits for an earlier one to end. */
const callsLast = (output: Record<string, unknown>[]) =>
  output.toSorted((one, other) => Number('call_id' in one) - Number('call_id' in other))

const hello: ChatEvent[] = [
  { type: 'start', id: 'chatcmpl-5', model: 'upstream' },
  { type: 'text-delta', text: 'hel' },
  { type: 'text-delta', text: 'lo' },
  { type: 'finish', reason: 'stop' },
  { type: 'usage', usage: { promptTokens: 4, cachedTokens: 1, completionTokens: 3, reasoningTokens: 2 } },
]

describe('responses stream', () => {
  it('is accepted by the official client and adds up to the complete answer, whatever the events', async () => {
    await fc.assert(
      fc.asyncProperty(anyAnswer('claude'), async (events) => {
        const { complete } = streamText(openAiResponses.stream(countingContext()), events)
        const gathered = await gather(complete)
        const expected = openAiResponses.encode(collectEvents(events), countingContext()) as Response
        expect(callsLast(withoutIds(gathered.output))).toEqual(callsLast(withoutIds(expected.output)))
        expect(gathered.status).toBe(expected.status)
        expect(gathered.incomplete_details).toEqual(expected.incomplete_details)
        expect(gathered.usage).toEqual(expected.usage)
      }),
      { numRuns: 150 },
    )
  })

  it('sends every item in its deltas just as it repeats it in the end', () => {
    fc.assert(
      fc.property(anyAnswer('openai-responses'), (events) => {
        const frames = framesOf(streamText(openAiResponses.stream(countingContext()), events).complete)
        const last = frames.at(-1)?.data.response
        const deltas = new Map<string, string>()
        for (const { name, data } of frames) {
          if (name.endsWith('.delta')) deltas.set(data.item_id, (deltas.get(data.item_id) ?? '') + data.delta)
        }
        for (const item of last.output) {
          const joined = item.content?.map((part: { text: string }) => part.text).join('')
          const reasoning = item.summary?.map((part: { text: string }) => part.text).join('')
          expect(joined ?? reasoning ?? item.arguments).toBe(deltas.get(item.id))
        }
        expect(frames.map(({ data }) => data.sequence_number)).toEqual(frames.map((_, index) => index))
        expect(frames.every(({ name, data }) => name === data.type)).toBe(true)
      }),
    )
  })

  it('is read by clients that look at the latest call alone, however calls are mixed', () => {
    fc.assert(
      fc.property(anyAnswer('openai-responses'), (events) => {
        const frames = framesOf(streamText(openAiResponses.stream(countingContext()), events).complete)
        let latest = { id: '', text: '' }
        for (const { name, data } of frames) {
          if (name === 'response.output_item.added' && data.item.type === 'function_call')
            latest = { id: data.item.id, text: '' }
          if (!name.startsWith('response.function_call_arguments')) continue
          expect(data.item_id).toBe(latest.id)
          latest.text += data.delta ?? ''
          if (name.endsWith('.done')) expect(latest.text).toBe(data.arguments)
        }
      }),
    )
  })

  it('shows an argument as it comes, unless the call waits for an earlier one to end', () => {
    const start = (index: number): ChatEvent => ({ type: 'tool-call-start', index, id: `c${index}`, name: 'f' })
    const write = (index: number, text: string): ChatEvent => ({ type: 'tool-call-delta', index, arguments: text })
    const stream = openAiResponses.stream(countingContext())
    const written = (event: ChatEvent) =>
      framesOf(stream.push(event)).map(({ name, data }) => data.delta ?? data.item?.call_id ?? name.split('.').at(-1))
    stream.push({ type: 'start', id: 'a', model: 'm' })
    expect(written(start(0))).toEqual(['c0'])
    expect(written(start(1))).toEqual([])
    expect(written(write(1, '{"b":'))).toEqual([])
    expect(written(write(0, '{"a":'))).toEqual(['{"a":'])
    expect(written(write(0, '1}'))).toEqual(['1}'])
    expect(written({ type: 'tool-call-end', index: 0 })).toEqual(['done', 'c0', 'c1', '{"b":'])
    expect(written(write(1, '2}'))).toEqual(['2}'])
  })

  it('goes through the documented steps and keeps the closing one back until it is closed', () => {
    const { early, late } = streamText(openAiResponses.stream(countingContext()), hello)
    expect(framesOf(early).map((frame) => frame.name)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
    ])
    expect(framesOf(late)).toMatchObject([
      {
        name: 'response.completed',
        data: {
          response: {
            id: 'resp_5',
            status: 'completed',
            usage: {
              input_tokens: 4,
              input_tokens_details: { cached_tokens: 1 },
              output_tokens_details: { reasoning_tokens: 2 },
              total_tokens: 7,
            },
          },
        },
      },
    ])
  })

  it('repeats what the caller asked for in the response', () => {
    const callerBody = { model: 'alias', instructions: 'be kind', metadata: { a: 'b' }, tools: [], input: 'secret' }
    const { complete } = streamText(openAiResponses.stream(countingContext({ callerBody })), hello)
    const { response } = framesOf(complete)[0]?.data ?? {}
    expect(response).toMatchObject({
      model: 'asked-model',
      instructions: 'be kind',
      metadata: { a: 'b' },
      truncation: 'disabled',
    })
    expect(complete).not.toContain('secret')
  })

  it('repeats tools and settings with what the caller left out, as strict clients read them', () => {
    const callerBody = {
      text: { verbosity: 'low' },
      reasoning: { effort: 'low' },
      tools: [
        { type: 'function', name: 'look', parameters: { type: 'object' } },
        { type: 'function', name: 'exact', strict: true },
        { type: 'web_search', user_location: { type: 'approximate', country: 'DE' } },
        { type: 'mcp', server_label: 's', server_url: 'https://s.test', authorization: 'secret' },
        'odd',
      ],
    }
    const { complete } = streamText(openAiResponses.stream(countingContext({ callerBody })), hello)
    const { response } = framesOf(complete)[0]?.data ?? {}
    expect(response.text).toEqual({ format: { type: 'text' }, verbosity: 'low' })
    expect(response.reasoning).toEqual({ effort: 'low', summary: null })
    expect(response.tools).toEqual([
      { type: 'function', name: 'look', description: null, parameters: { type: 'object' }, strict: false },
      { type: 'function', name: 'exact', description: null, parameters: {}, strict: true },
      {
        type: 'web_search',
        search_context_size: 'medium',
        user_location: { type: 'approximate', city: null, country: 'DE', region: null, timezone: null },
      },
      { type: 'mcp', server_label: 's', server_url: 'https://s.test' },
      'odd',
    ])
    expect(complete).not.toContain('secret')
  })

  it('keeps the hidden form of its own reasoning', () => {
    const events: ChatEvent[] = [
      { type: 'reasoning-delta', text: 'hm' },
      { type: 'reasoning-encrypted', dialect: 'openai-responses', data: 'dark' },
      { type: 'text-delta', text: 'so' },
    ]
    const { response } = framesOf(streamText(openAiResponses.stream(countingContext()), events).late).at(-1)?.data ?? {}
    expect(response.output[0]).toMatchObject({
      summary: [{ text: 'hm' }],
      encrypted_content: 'dark',
      status: 'completed',
    })
  })

  it('carries images, refusals, citations and calls of free-text tools past the official client', async () => {
    const events: ChatEvent[] = [
      { type: 'start', id: 'a', model: 'm' },
      { type: 'text-delta', text: 'see' },
      { type: 'citation', citation: { url: 'https://a.test', title: 'A', startIndex: 0, endIndex: 3 } },
      { type: 'refusal-delta', text: 'no more' },
      { type: 'image', mediaType: 'image/png', data: 'AAAA' },
      { type: 'tool-call-start', index: 0, id: 'c', name: 'shell', kind: 'custom' },
      { type: 'tool-call-delta', index: 0, arguments: 'ls' },
      { type: 'tool-call-end', index: 0 },
      { type: 'finish', reason: 'content-filter' },
    ]
    const gathered = await gather(streamText(openAiResponses.stream(countingContext()), events).complete)
    const annotations = [{ type: 'url_citation', url: 'https://a.test', title: 'A', start_index: 0, end_index: 3 }]
    expect(gathered).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'content_filter' } })
    expect(gathered.output).toMatchObject([
      {
        content: [
          { type: 'output_text', text: 'see', annotations },
          { type: 'refusal', refusal: 'no more' },
        ],
      },
      { type: 'image_generation_call', result: 'AAAA' },
      { type: 'custom_tool_call', call_id: 'c', name: 'shell', input: 'ls' },
    ])
  })

  const call = (index: number, text: string, kind?: 'custom'): ChatEvent[] => [
    { type: 'tool-call-start', index, id: `c${index}`, name: 'f', ...(kind ? { kind } : {}) },
    { type: 'tool-call-delta', index, arguments: text },
    { type: 'tool-call-end', index },
  ]
  const itemsOf = (...events: ChatEvent[]) =>
    framesOf(streamText(openAiResponses.stream(countingContext()), events).complete)
      .filter(({ name }) => name === 'response.output_item.done')
      .map(({ data }) => [data.item.call_id ?? data.item.type, data.item.status])

  it('says of a call whose arguments were cut off that it is no whole one', () => {
    expect(itemsOf(...call(0, '{"a":1}'), ...call(1, '{"a":'), { type: 'finish', reason: 'length' })).toEqual([
      ['c0', 'completed'],
      ['c1', 'incomplete'],
    ])
    expect(itemsOf(...call(0, ' '), { type: 'finish', reason: 'length' })).toEqual([['c0', 'completed']])
  })

  it('says so of free text where the cut answer ends with it, and of none before', () => {
    const both = [...call(0, 'ls', 'custom'), ...call(1, 'rm -rf /tm', 'custom')]
    const statuses = (reason: FinishReason) => itemsOf(...both, { type: 'finish', reason }).map(([, status]) => status)
    expect(statuses('length')).toEqual(['completed', 'incomplete'])
    expect(statuses('tool-calls')).toEqual(['completed', 'completed'])
    const open = both.filter(({ type }) => type !== 'tool-call-end')
    expect(itemsOf(...open, { type: 'finish', reason: 'length' }).map(([, status]) => status)).toEqual([
      'incomplete',
      'incomplete',
    ])
    expect(
      itemsOf(...call(0, 'ls', 'custom'), { type: 'text-delta', text: 'so' }, { type: 'finish', reason: 'length' }),
    ).toEqual([
      ['c0', 'completed'],
      ['message', 'incomplete'],
    ])
  })

  it('ends in error and response.failed, and nothing after them', async () => {
    const error = { status: 500, type: 'x', code: 'broken', message: 'went wrong' }
    const { complete, late } = streamText(openAiResponses.stream(countingContext()), [
      ...hello.slice(0, 2),
      { type: 'error', error },
    ])
    expect(late).toBe('')
    expect(framesOf(complete).slice(-2)).toMatchObject([
      { name: 'error', data: { code: 'broken', message: 'went wrong' } },
      {
        name: 'response.failed',
        data: {
          response: {
            status: 'failed',
            error: { code: 'broken', message: 'went wrong' },
            // What was delivered so far stands in it.
            output: [{ type: 'message', status: 'incomplete', content: [{ type: 'output_text' }] }],
          },
        },
      },
    ])
    await expect(gather(complete)).rejects.toThrow(/went wrong/)
  })
})
