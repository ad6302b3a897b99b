import { type GenerateContentResponse, GoogleGenAI, type Part } from '@google/genai'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { collectEvents } from '#relay/chat/collect.ts'
import type { ChatEvent } from '#relay/chat/events.ts'
import { anyAnswer } from '../testing/arbitrary-events.ts'
import { answering, streamText, testContext } from '../testing/stream-text.ts'
import { gemini } from './index.ts'

async function gather(body: string): Promise<GenerateContentResponse[]> {
  const client = new GoogleGenAI({
    apiKey: 'sk-test',
    httpOptions: { baseUrl: 'http://relay.test', fetch: answering(body) },
  })
  const stream = await client.models.generateContentStream({ model: 'asked-model', contents: 'hi' })
  const chunks: GenerateContentResponse[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return chunks
}

/** Parts as one answer: texts of a kind joined, empty ones gone. */
function joined(parts: Part[]): Part[] {
  const result: Part[] = []
  for (const part of parts) {
    const last = result.at(-1)
    const continues =
      last?.text !== undefined &&
      part.text !== undefined &&
      last.thought === part.thought &&
      last.thoughtSignature === undefined
    if (continues) result[result.length - 1] = { ...part, text: `${last.text}${part.text}` }
    else result.push(part)
  }
  return result.filter((part) => part.text !== '' || part.thoughtSignature !== undefined)
}

const partsOf = (chunks: GenerateContentResponse[]) =>
  chunks
    .flatMap((chunk) => chunk.candidates?.[0]?.content?.parts ?? [])
    .filter((part) => part.text !== '' || part.thought)

const plain = (value: unknown) => JSON.parse(JSON.stringify(value))

const hello: ChatEvent[] = [
  { type: 'start', id: 'r1', model: 'upstream' },
  { type: 'text-delta', text: 'hel' },
  { type: 'text-delta', text: 'lo' },
  { type: 'finish', reason: 'length' },
  { type: 'usage', usage: { promptTokens: 9, cachedTokens: 3, completionTokens: 7, reasoningTokens: 5 } },
]

describe('generateContent stream', () => {
  it('is accepted by the official client and adds up to the complete answer, whatever the events', async () => {
    await fc.assert(
      fc.asyncProperty(anyAnswer('gemini'), async (events) => {
        const context = testContext({ includeThoughts: true })
        const chunks = await gather(streamText(gemini.stream(context), events).complete)
        const expected = gemini.encode(collectEvents(events), context) as GenerateContentResponse
        const candidate = expected.candidates?.[0]
        expect(plain(joined(partsOf(chunks)))).toEqual(plain(joined(candidate?.content?.parts ?? [])))
        expect(chunks.at(-1)?.candidates?.[0]?.finishReason).toBe(candidate?.finishReason)
        expect(plain(chunks.at(-1)?.usageMetadata)).toEqual(plain(expected.usageMetadata))
        expect(chunks.every((chunk) => chunk.responseId === 'answer-1' && chunk.modelVersion === 'asked-model')).toBe(
          true,
        )
      }),
      { numRuns: 150 },
    )
  })

  it('is the same as one JSON array for callers who did not ask for events', async () => {
    await fc.assert(
      fc.asyncProperty(anyAnswer('gemini'), async (events) => {
        const framed = streamText(gemini.stream(testContext()), events).complete
        const list = streamText(gemini.stream(testContext({ asJsonArray: true })), events).complete
        const frames = framed.split('\n\n').filter((frame) => frame !== '')
        expect(JSON.parse(list)).toEqual(frames.map((frame) => JSON.parse(frame.replace('data: ', ''))))
      }),
    )
  })

  it('keeps finish reason and usage back until it is closed and sends no end marker', async () => {
    const { early, late, complete } = streamText(gemini.stream(testContext()), hello)
    expect(early).not.toMatch(/finishReason|TokenCount/)
    expect(complete).not.toContain('[DONE]')
    expect(JSON.parse(late.replace('data: ', ''))).toMatchObject({
      candidates: [{ finishReason: 'MAX_TOKENS' }],
      usageMetadata: {
        promptTokenCount: 9,
        cachedContentTokenCount: 3,
        candidatesTokenCount: 2,
        thoughtsTokenCount: 5,
        totalTokenCount: 16,
      },
    })
    const chunks = await gather(complete)
    expect(chunks.map((chunk) => chunk.text).join('')).toBe('hello')
  })

  it('has an object of usage in every chunk, as Google does, empty but in the last', () => {
    const { complete } = streamText(gemini.stream(testContext()), hello)
    const used = `${gemini.ping}${complete}`
      .split('\n\n')
      .flatMap((frame) => (frame === '' ? [] : [JSON.parse(frame.slice(6)).usageMetadata]))
    expect(used.slice(0, -1)).toEqual([{}, {}, {}])
    expect(used.at(-1)).toMatchObject({ promptTokenCount: 9 })
  })

  it('hands over a call only when its arguments are complete, with its own signature', () => {
    const encoder = gemini.stream(testContext())
    const signature = { dialect: 'gemini' as const, value: 'sig' }
    expect(encoder.push({ type: 'tool-call-start', index: 0, id: 'a', name: 'f', signature })).toBe('')
    expect(encoder.push({ type: 'tool-call-delta', index: 0, arguments: '{"x":' })).toBe('')
    expect(encoder.push({ type: 'tool-call-delta', index: 0, arguments: '1}' })).toBe('')
    const text = encoder.push({ type: 'tool-call-end', index: 0 })
    expect(JSON.parse(text.replace('data: ', '')).candidates[0].content.parts).toEqual([
      { functionCall: { id: 'a', name: 'f', args: { x: 1 } }, thoughtSignature: 'sig' },
    ])
  })

  it.each([undefined, false])(
    'shows no reasoning to callers who say %s to it, and its proofs to all',
    (includeThoughts) => {
      const signature = { dialect: 'gemini' as const, value: 'sig' }
      const events: ChatEvent[] = [
        { type: 'reasoning-delta', text: 'hm, ' },
        { type: 'reasoning-delta', text: 'let me see' },
        { type: 'reasoning-signature', ...signature },
        { type: 'text-delta', text: 'yes' },
        { type: 'finish', reason: 'stop' },
      ]
      const context = testContext({ includeThoughts })
      const { complete } = streamText(gemini.stream(context), events)
      const frames = complete.split('\n\n').flatMap((frame) => (frame === '' ? [] : [JSON.parse(frame.slice(6))]))
      const proof = { text: '', thought: true, thoughtSignature: 'sig' }
      expect(frames.flatMap((frame) => frame.candidates[0].content.parts)).toEqual([
        proof,
        { text: 'yes' },
        { text: '' },
      ])
      const parts = [proof, { text: 'yes' }]
      expect(gemini.encode(collectEvents(events), context)).toMatchObject({ candidates: [{ content: { parts } }] })
      const unsigned = collectEvents(events.filter(({ type }) => type !== 'reasoning-signature'))
      expect(gemini.encode(unsigned, context)).toMatchObject({
        candidates: [{ content: { parts: [{ text: 'yes' }] } }],
      })
    },
  )

  it('names the format of audio, bare samples where nothing is said of it', async () => {
    const events: ChatEvent[] = [
      { type: 'audio-delta', data: 'AAAA', format: 'mp3' },
      { type: 'audio-delta', data: 'BBBB' },
    ]
    const chunks = await gather(streamText(gemini.stream(testContext()), events).complete)
    expect(partsOf(chunks).flatMap((part) => part.inlineData?.mimeType ?? [])).toEqual(['audio/mp3', 'audio/pcm'])
  })

  it('turns citations into grounding with offsets in bytes', () => {
    const events: ChatEvent[] = [
      { type: 'text-delta', text: '价格 ok' },
      { type: 'citation', citation: { url: 'https://a.test', title: 'A', startIndex: 3, endIndex: 5 } },
      { type: 'finish', reason: 'stop' },
    ]
    const { late } = streamText(gemini.stream(testContext()), events)
    expect(JSON.parse(late.replace('data: ', '')).candidates[0].groundingMetadata).toEqual({
      groundingChunks: [{ web: { uri: 'https://a.test', title: 'A' } }],
      groundingSupports: [{ segment: { startIndex: 7, endIndex: 9, text: 'ok' }, groundingChunkIndices: [0] }],
    })
  })

  it('ends in the error and nothing after it, in both forms', async () => {
    const error = { status: 429, type: 'x', code: null, message: 'slow down' }
    const events: ChatEvent[] = [...hello.slice(0, 2), { type: 'error', error }]
    const { complete, late } = streamText(gemini.stream(testContext()), events)
    expect(late).toBe('')
    await expect(gather(complete)).rejects.toThrow(/slow down/)
    const list = JSON.parse(streamText(gemini.stream(testContext({ asJsonArray: true })), events).complete)
    expect(list.at(-1)).toEqual({
      error: { code: 429, message: 'slow down', status: 'RESOURCE_EXHAUSTED', details: [] },
    })
  })
})
