import { describe, expect, it } from 'vitest'
import { StreamFailed, collectEvents, replayResponse } from './collect.ts'
import type { ChatEvent, ChatResponse } from './events.ts'

describe('collecting a stream', () => {
  it('keeps choices apart and in order, and takes the last usage', () => {
    const events: ChatEvent[] = [
      { type: 'start', id: 'a', model: 'm' },
      { type: 'usage', usage: { promptTokens: 5 } },
      { type: 'text-delta', text: 'two', choice: 1 },
      { type: 'text-delta', text: 'one' },
      { type: 'finish', reason: 'length', choice: 1 },
      { type: 'finish', reason: 'stop', stopSequence: 'X' },
      { type: 'usage', usage: { promptTokens: 5, completionTokens: 2 } },
    ]
    expect(collectEvents(events)).toEqual({
      id: 'a',
      model: 'm',
      choices: [
        { parts: [{ type: 'text', text: 'one' }], finish: 'stop', stopSequence: 'X' },
        { parts: [{ type: 'text', text: 'two' }], finish: 'length' },
      ],
      usage: { promptTokens: 5, completionTokens: 2 },
    })
  })

  it('takes any number of probabilities at once', () => {
    const tokens = Array.from({ length: 300_000 }, () => ({ token: 'a' }))
    const { choices } = collectEvents([
      { type: 'logprobs', tokens },
      { type: 'text-delta', text: 'a' },
    ])
    expect(choices[0]?.logprobs).toHaveLength(tokens.length)
  })

  it('joins audio by its bytes, for every piece is padded on its own', () => {
    const piece = (text: string) => Buffer.from(text).toString('base64')
    const events: ChatEvent[] = [
      { type: 'audio-delta', data: piece('a'), transcript: 'he' },
      { type: 'audio-delta', data: piece('bc'), transcript: 'y' },
    ]
    expect(collectEvents(events).choices[0]?.parts).toEqual([
      { type: 'audio', data: piece('abc'), format: 'pcm16', transcript: 'hey' },
    ])
  })

  it.each([
    { format: 'mp3', rate: undefined },
    { format: 'pcm16', rate: 16_000 },
  ])('finds a replayed answer’s audio in the format and at the rate it had: %o', (kind) => {
    const part = { type: 'audio' as const, data: 'AAAA', transcript: 'hey', ...kind }
    const answer: ChatResponse = { id: 'a', model: 'm', choices: [{ parts: [part], finish: 'stop' }] }
    expect(collectEvents(replayResponse(answer))).toEqual(answer)
  })

  it('keeps reasoning parts apart by their proofs', () => {
    const events: ChatEvent[] = [
      { type: 'reasoning-delta', text: 'a' },
      { type: 'reasoning-signature', dialect: 'claude', value: '1' },
      { type: 'reasoning-delta', text: 'b' },
      { type: 'reasoning-encrypted', dialect: 'claude', data: 'dark' },
    ]
    expect(collectEvents(events).choices[0]?.parts).toEqual([
      { type: 'reasoning', text: 'a', signature: { dialect: 'claude', value: '1' } },
      { type: 'reasoning', text: 'b' },
      { type: 'reasoning', text: '', encrypted: { dialect: 'claude', data: 'dark' } },
    ])
  })

  it('concludes from calls that the model wants them answered, when no reason came', () => {
    const events: ChatEvent[] = [{ type: 'tool-call-start', index: 0, id: 'c', name: 'f' }]
    expect(collectEvents(events).choices[0]?.finish).toBe('tool-calls')
  })

  it('fails as the stream failed', () => {
    const error = { status: 529, type: 'overloaded_error', code: null, message: 'busy' }
    const events: ChatEvent[] = [
      { type: 'text-delta', text: 'half' },
      { type: 'error', error },
    ]
    expect(() => collectEvents(events)).toThrow(new StreamFailed(error))
  })
})
