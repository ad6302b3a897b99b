import fc from 'fast-check'
import OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import { collectEvents, replayResponse } from '#relay/chat/collect.ts'
import type { ChatEvent } from '#relay/chat/events.ts'
import { anyAnswer } from '../testing/arbitrary-events.ts'
import { answering, streamText, testContext } from '../testing/stream-text.ts'
import { openAiChat } from './index.ts'

const clientOf = (body: string) =>
  new OpenAI({ apiKey: 'sk-test', baseURL: 'http://relay.test/v1', maxRetries: 0, fetch: answering(body) })

const gather = (body: string) =>
  clientOf(body)
    .chat.completions.stream({ model: 'asked-model', messages: [], stream_options: { include_usage: true } })
    .finalChatCompletion()

const chunksOf = (text: string) =>
  text
    .split('\n\n')
    .filter((frame) => frame.startsWith('data: {'))
    .map((frame) => JSON.parse(frame.slice(6)))

const simple: ChatEvent[] = [
  { type: 'start', id: 'msg_7', model: 'upstream' },
  { type: 'text-delta', text: 'Hel' },
  { type: 'text-delta', text: 'lo' },
  { type: 'finish', reason: 'stop' },
  { type: 'usage', usage: { promptTokens: 3, completionTokens: 2 } },
]

describe('chat completion stream', () => {
  it('is accepted by the official client and adds up to the complete answer, whatever the events', async () => {
    await fc.assert(
      fc.asyncProperty(anyAnswer('claude'), async (events) => {
        const { complete } = streamText(openAiChat.stream(testContext()), events)
        const gathered = await gather(complete)
        const expected = openAiChat.encode(collectEvents(events), testContext()) as OpenAI.ChatCompletion
        const [choice, wanted] = [gathered.choices[0], expected.choices[0]]
        expect(choice?.message.content ?? '').toBe(wanted?.message.content ?? '')
        const calls = choice?.message.tool_calls?.map(({ id, type, ...call }) => ({
          id,
          type,
          name: 'function' in call ? call.function.name : '',
          arguments: 'function' in call ? call.function.arguments : '',
        }))
        expect(calls ?? []).toEqual(
          (wanted?.message.tool_calls ?? []).map((call) =>
            call.type === 'function'
              ? { id: call.id, type: call.type, name: call.function.name, arguments: call.function.arguments }
              : {},
          ),
        )
        expect(choice?.finish_reason).toBe(wanted?.finish_reason)
        expect(gathered.usage).toEqual(expected.usage)
        expect(gathered.id).toBe(expected.id)
      }),
      { numRuns: 150 },
    )
  })

  it('keeps finish reason, usage and end marker back until it is closed', () => {
    const { early, late } = streamText(openAiChat.stream(testContext()), simple)
    expect(chunksOf(early).every((chunk) => chunk.choices[0].finish_reason === null && !('usage' in chunk))).toBe(true)
    expect(chunksOf(early).map((chunk) => chunk.choices[0].delta.content)).toEqual(['', 'Hel', 'lo'])
    expect(chunksOf(late)[0].choices[0].finish_reason).toBe('stop')
    expect(chunksOf(late)[1]).toMatchObject({ choices: [], usage: { prompt_tokens: 3, total_tokens: 5 } })
    expect(late.endsWith('data: [DONE]\n\n')).toBe(true)
  })

  it('repeats id, time and model in every chunk, the usage chunk included', () => {
    const { complete } = streamText(openAiChat.stream(testContext()), simple)
    for (const chunk of chunksOf(complete)) {
      expect(chunk).toMatchObject({ id: 'chatcmpl-7', created: 1795168800, model: 'asked-model' })
    }
  })

  it('sends no usage chunk to a caller who did not ask for one', () => {
    const { complete } = streamText(openAiChat.stream(testContext({ includeUsage: false })), simple)
    expect(complete).not.toContain('usage')
    expect(complete.endsWith('data: [DONE]\n\n')).toBe(true)
  })

  it('ends in the error, without an end marker, when the upstream fails half-way', async () => {
    const encoder = openAiChat.stream(testContext())
    const error = { status: 529, type: 'overloaded_error', code: null, message: 'busy' }
    const { complete, late } = streamText(encoder, [...simple.slice(0, 2), { type: 'error', error }])
    expect(late).toBe('')
    expect(complete).not.toContain('[DONE]')
    await expect(gather(complete)).rejects.toThrow(/busy/)
  })

  it('keeps several choices apart', () => {
    const events: ChatEvent[] = [
      { type: 'start', id: 'a', model: 'm' },
      { type: 'text-delta', text: 'one', choice: 0 },
      { type: 'text-delta', text: 'two', choice: 1 },
      { type: 'finish', reason: 'stop', choice: 0 },
      { type: 'finish', reason: 'length', choice: 1 },
    ]
    const ends = chunksOf(streamText(openAiChat.stream(testContext()), events).late)
    expect(ends.map(({ choices: [choice] }) => [choice.index, choice.finish_reason])).toEqual([
      [0, 'stop'],
      [1, 'length'],
    ])
  })

  describe('with signed reasoning', () => {
    const signer = 'claude' as const
    const first: ChatEvent[] = [
      { type: 'start', id: 'a', model: 'm' },
      { type: 'reasoning-delta', text: 'first ', signer },
      { type: 'reasoning-delta', text: '"thought"', signer },
      { type: 'reasoning-signature', dialect: signer, value: 'sig' },
    ]
    const several: ChatEvent[] = [
      ...first,
      { type: 'reasoning-encrypted', dialect: signer, data: 'hidden' },
      { type: 'reasoning-delta', text: ' second', signer },
      { type: 'reasoning-signature', dialect: signer, value: 'sig2' },
    ]
    const deltasOf = (events: ChatEvent[]) =>
      chunksOf(streamText(openAiChat.stream(testContext()), events).early).map(({ choices: [{ delta }] }) => delta)
    type Detail = { index: number; type: string; text?: string; [name: string]: unknown }
    const detailsOf = (events: ChatEvent[]): Detail[] =>
      deltasOf(events).flatMap((delta) => delta.reasoning_details ?? [])
    const readBack = (message: object) => {
      const body = { model: 'm', messages: [{ role: 'assistant', content: 'yes', ...message }] }
      return openAiChat.parse(body, {}).messages[0]?.content.filter((part) => part.type === 'reasoning')
    }
    const partsOf = (events: ChatEvent[]) => collectEvents(events).choices[0]?.parts

    it('says each thought once in every place that clients read', () => {
      const shown = deltasOf(several).map(({ reasoning_content: text, reasoning_details: details = [] }) => {
        const inDetails = details.map((detail: Detail) => detail.text ?? '').join('')
        return [text ?? inDetails, inDetails]
      })
      expect(shown.map(([text]) => text).join('')).toBe('first "thought" second')
      expect(shown.map(([, text]) => text).join('')).toBe('first "thought" second')
    })

    it('can be sent back word for word by who gathers the details, in pieces or joined', () => {
      const details = detailsOf(several)
      expect(readBack({ reasoning_details: details })).toEqual(partsOf(several))
      // As OpenAI's Python library does: every text of one index but its type.
      const join = (all: Detail, piece: Detail): Detail => {
        const next = { ...all }
        for (const [name, value] of Object.entries(piece))
          next[name] = typeof value === 'string' && name !== 'type' ? `${String(all[name] ?? '')}${value}` : value
        return next
      }
      const joined = Object.values(Object.groupBy(details, ({ index }) => index)).map((pieces = []) =>
        pieces.reduce(join),
      )
      expect(joined).toHaveLength(3)
      expect(readBack({ reasoning_content: 'first "thought" second', reasoning_details: joined })).toEqual(
        partsOf(several),
      )
    })

    it('can be sent back by who keeps the last detail alone, with the text or what came last of it', () => {
      const signature = detailsOf(first).at(-1) as Detail
      expect(signature).toEqual({
        type: 'reasoning.text',
        signed_text: 'first "thought"',
        signature: 'sig',
        format: 'anthropic-claude-v1',
        index: 0,
      })
      // As OpenAI's JavaScript library does with fields that it does not know.
      expect(readBack(Object.assign({}, ...deltasOf(first)) as object)).toEqual(partsOf(first))
      const { signed_text: _, ...known } = signature
      expect(readBack({ reasoning_content: 'first "thought"', reasoning_details: [known] })).toEqual(partsOf(first))
    })

    it('is not said again in the line of its signature where it is long', () => {
      const long: ChatEvent[] = [
        { type: 'start', id: 'a', model: 'm' },
        ...Array.from({ length: 9 }, (): ChatEvent => ({ type: 'reasoning-delta', text: 'x'.repeat(2000), signer })),
        { type: 'reasoning-signature', dialect: signer, value: 'sig' },
        { type: 'reasoning-delta', text: 'short', signer },
        { type: 'reasoning-signature', dialect: signer, value: 'sig2' },
      ]
      const signed = detailsOf(long).filter(({ signature }) => signature !== undefined)
      expect(signed.map(({ signed_text: text }) => text)).toEqual([undefined, 'short'])
      expect(readBack({ reasoning_details: detailsOf(long) })).toEqual(partsOf(long))
    })

    it('has its words once where nobody signs them', () => {
      const delta = deltasOf([first[0] as ChatEvent, { type: 'reasoning-delta', text: 'hm' }]).at(-1)
      expect(delta).toEqual({ reasoning_content: 'hm' })
    })
  })

  it('shows no reasoning to callers who exclude it, and what proves it all the same', () => {
    const events: ChatEvent[] = [
      { type: 'start', id: 'a', model: 'm' },
      { type: 'reasoning-delta', text: 'first' },
      { type: 'reasoning-signature', dialect: 'claude', value: 'sig' },
      { type: 'reasoning-encrypted', dialect: 'claude', data: 'hidden' },
      { type: 'reasoning-delta', text: 'second' },
      { type: 'text-delta', text: 'yes' },
      { type: 'finish', reason: 'stop' },
    ]
    const context = testContext({ includeThoughts: false })
    const { complete } = streamText(openAiChat.stream(context), events)
    const details = [
      { type: 'reasoning.text', signature: 'sig', format: 'anthropic-claude-v1', index: 0 },
      { type: 'reasoning.encrypted', data: 'hidden', format: 'anthropic-claude-v1', index: 1 },
    ]
    const deltas = chunksOf(complete).flatMap(({ choices: [choice] }) => (choice ? [choice.delta] : []))
    expect(deltas.flatMap((delta) => delta.reasoning_details ?? [])).toEqual(details)
    expect(complete).not.toMatch(/reasoning_content|first|second/)
    const text = JSON.stringify(openAiChat.encode(collectEvents(events), context))
    expect(JSON.parse(text).choices[0].message).toMatchObject({ content: 'yes', reasoning_details: details })
    expect(text).not.toMatch(/reasoning_content|first|second/)
    expect(openAiChat.replay?.(collectEvents(events), context)).not.toMatch(/reasoning_content|first|second/)
  })

  it('hands over the reasoning signature of a call where the vendor itself puts it', () => {
    const signature = { dialect: 'gemini' as const, value: 'abc' }
    const events: ChatEvent[] = [
      { type: 'tool-call-start', index: 0, id: 'c', name: 'f', signature },
      { type: 'tool-call-end', index: 0 },
    ]
    const [, start, end] = chunksOf(streamText(openAiChat.stream(testContext()), events).early)
    expect(start.choices[0].delta.tool_calls[0].extra_content).toEqual({ google: { thought_signature: 'abc' } })
    expect(end.choices[0].delta.tool_calls[0].function.arguments).toBe('{}')
  })

  it('replays a complete answer into a stream that adds up to it again', () => {
    fc.assert(
      fc.property(anyAnswer('claude'), (events) => {
        const answer = collectEvents(events)
        expect(collectEvents(replayResponse(answer))).toEqual(answer)
      }),
    )
  })
})
