import Anthropic from '@anthropic-ai/sdk'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { collectEvents } from '#relay/chat/collect.ts'
import type { ChatEvent } from '#relay/chat/events.ts'
import { anyAnswer } from '../testing/arbitrary-events.ts'
import { answering, framesOf, streamText, testContext } from '../testing/stream-text.ts'
import { claude } from './index.ts'

const gather = (body: string) =>
  new Anthropic({ apiKey: 'sk-test', baseURL: 'http://relay.test', maxRetries: 0, fetch: answering(body) }).messages
    .stream({ model: 'asked-model', max_tokens: 100, messages: [{ role: 'user', content: 'hi' }] })
    .finalMessage()

const start: ChatEvent = { type: 'start', id: 'chatcmpl-9', model: 'upstream' }

describe('message stream', () => {
  it('is accepted by the official client and adds up to the complete answer, whatever the events', async () => {
    await fc.assert(
      fc.asyncProperty(anyAnswer('claude'), async (events) => {
        const { complete } = streamText(claude.stream(testContext()), events)
        const gathered = await gather(complete)
        const expected = claude.encode(collectEvents(events), testContext()) as Anthropic.Message
        expect(gathered.content.map((block) => ({ ...block }))).toEqual(expected.content)
        expect(gathered.stop_reason).toBe(expected.stop_reason)
        expect(gathered.usage).toMatchObject(expected.usage)
        expect(gathered.id).toBe('msg_answer-1')
      }),
      { numRuns: 150 },
    )
  })

  it('has one block open at a time, numbered in order, and names every event', () => {
    fc.assert(
      fc.property(anyAnswer('claude'), (events) => {
        const { complete } = streamText(claude.stream(testContext()), events)
        let open: number | undefined
        let next = 0
        for (const { name, data } of framesOf(complete)) {
          expect(data.type).toBe(name)
          if (name === 'content_block_start') {
            expect([open, data.index]).toEqual([undefined, next])
            open = next
            next += 1
          } else if (name === 'content_block_delta') expect(data.index).toBe(open)
          else if (name === 'content_block_stop') {
            expect(data.index).toBe(open)
            open = undefined
          }
        }
        expect(open).toBeUndefined()
      }),
    )
  })

  it('keeps stop reason, usage and message_stop back until it is closed', () => {
    const events: ChatEvent[] = [
      start,
      { type: 'text-delta', text: 'hi' },
      { type: 'finish', reason: 'stop', stopSequence: 'END' },
      { type: 'usage', usage: { promptTokens: 10, cachedTokens: 4, cacheWriteTokens: 1, completionTokens: 2 } },
    ]
    const { early, late } = streamText(claude.stream(testContext()), events)
    expect(framesOf(early).map((frame) => frame.name)).toEqual([
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
    ])
    expect(framesOf(early)[0]?.data.message.usage).toMatchObject({ input_tokens: 17, output_tokens: 0 })
    expect(framesOf(late)).toMatchObject([
      {
        name: 'message_delta',
        data: {
          delta: { stop_reason: 'stop_sequence', stop_sequence: 'END' },
          usage: { input_tokens: 5, cache_read_input_tokens: 4, cache_creation_input_tokens: 1, output_tokens: 2 },
        },
      },
      { name: 'message_stop' },
    ])
  })

  it('lets later calls wait while the first is still being written', () => {
    const encoder = claude.stream(testContext())
    encoder.push(start)
    encoder.push({ type: 'tool-call-start', index: 0, id: 'a', name: 'first' })
    encoder.push({ type: 'tool-call-delta', index: 0, arguments: '{"x"' })
    expect(encoder.push({ type: 'tool-call-start', index: 1, id: 'b', name: 'second' })).toBe('')
    expect(encoder.push({ type: 'tool-call-delta', index: 1, arguments: '{"y":2}' })).toBe('')
    expect(encoder.push({ type: 'tool-call-delta', index: 0, arguments: ':1}' })).toContain('input_json_delta')
    const rest = framesOf(encoder.push({ type: 'tool-call-end', index: 0 }))
    expect(rest.map((frame) => frame.name)).toEqual([
      'content_block_stop',
      'content_block_start',
      'content_block_delta',
    ])
    expect(rest[2]?.data.delta.partial_json).toBe('{"y":2}')
  })

  it('starts the next call at once when the arguments before it are complete', () => {
    const encoder = claude.stream(testContext())
    encoder.push(start)
    encoder.push({ type: 'tool-call-start', index: 0, id: 'a', name: 'first' })
    encoder.push({ type: 'tool-call-delta', index: 0, arguments: '{}' })
    const next = framesOf(encoder.push({ type: 'tool-call-start', index: 1, id: 'b', name: 'second' }))
    expect(next.map((frame) => frame.name)).toEqual(['content_block_stop', 'content_block_start'])
  })

  it('writes an empty input for a call without arguments, which Anthropic’s library for Java demands', () => {
    const call = (index: number, ...texts: string[]): ChatEvent[] => [
      { type: 'tool-call-start', index, id: `call-${index}`, name: 'f' },
      ...texts.map((text): ChatEvent => ({ type: 'tool-call-delta', index, arguments: text })),
      { type: 'tool-call-end', index },
    ]
    const inputs = (events: ChatEvent[]) =>
      framesOf(streamText(claude.stream(testContext()), [start, ...events]).complete)
        .filter(({ name }) => name === 'content_block_delta')
        .map(({ data }) => data.delta.partial_json)
    expect(inputs([...call(0), ...call(1, ''), ...call(2, '{"x"', ':1}')])).toEqual(['{}', '{}', '{"x"', ':1}'])
    expect(inputs(call(0).slice(0, 1))).toEqual(['{}'])
  })

  it('says tool_use when tools were called, even if the upstream said stop', async () => {
    const events: ChatEvent[] = [
      start,
      { type: 'tool-call-start', index: 0, id: 'a', name: 'f' },
      { type: 'finish', reason: 'stop' },
    ]
    const message = await gather(streamText(claude.stream(testContext()), events).complete)
    expect(message.stop_reason).toBe('tool_use')
    expect(message.content).toMatchObject([{ type: 'tool_use', id: 'a', name: 'f', input: {} }])
  })

  it('never shows the signature of another vendor', () => {
    const events: ChatEvent[] = [
      start,
      { type: 'reasoning-delta', text: 'hm' },
      { type: 'reasoning-signature', dialect: 'gemini', value: 'foreign' },
      { type: 'reasoning-encrypted', dialect: 'openai-responses', data: 'secret' },
    ]
    expect(streamText(claude.stream(testContext()), events).complete).not.toMatch(/foreign|secret/)
  })

  it('wraps the free text of a custom tool into the object its schema asks for', async () => {
    const events: ChatEvent[] = [
      start,
      { type: 'tool-call-start', index: 0, id: 'a', name: 'shell', kind: 'custom' },
      { type: 'tool-call-delta', index: 0, arguments: 'echo "a"\n' },
      { type: 'tool-call-delta', index: 0, arguments: 'done' },
      { type: 'tool-call-end', index: 0 },
    ]
    const message = await gather(streamText(claude.stream(testContext()), events).complete)
    expect(message.content[0]).toMatchObject({ input: { input: 'echo "a"\ndone' } })
  })

  it('ends in an error event and nothing after it', async () => {
    const error = { status: 529, type: 'server_error', code: null, message: 'busy' }
    const events: ChatEvent[] = [start, { type: 'error', error, requestId: 'r1' }]
    const { complete, late } = streamText(claude.stream(testContext()), events)
    expect(late).toBe('')
    expect(framesOf(complete).at(-1)).toEqual({
      name: 'error',
      data: { type: 'error', error: { type: 'overloaded_error', message: 'busy (request id: r1)' }, request_id: 'r1' },
    })
    await expect(gather(complete)).rejects.toThrow(/busy/)
  })
})

it('gives a source without a title its address as one, for which clients want a text', () => {
  const events: ChatEvent[] = [
    { type: 'text-delta', text: 'see' },
    { type: 'citation', citation: { url: 'https://a.test', startIndex: 0, endIndex: 3 } },
    { type: 'finish', reason: 'stop' },
  ]
  const { complete } = streamText(claude.stream(testContext()), events)
  const cited = JSON.stringify(claude.encode(collectEvents(events), testContext()))
  for (const text of [complete, cited]) expect(text).toContain('"url":"https://a.test","title":"https://a.test"')
})
