import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { collectEvents } from './collect.ts'
import type { ChatEvent } from './events.ts'
import { createThinkTagSplitter } from './think-tags.ts'
import { moveReasoning, moveReasoningOf } from './reasoning.ts'

/** What came of the pieces, joined by kind. */
function split(pieces: string[]): { reasoning: string; text: string } {
  const splitter = createThinkTagSplitter()
  const found = { reasoning: '', text: '' }
  for (const { kind, text } of [...pieces.flatMap(splitter.push), ...splitter.end()]) found[kind] += text
  return found
}

describe('think tags', () => {
  it.each([
    ['<think>a\nb</think>c', 'a\nb', 'c'],
    ['\n<think>\na\n</think>\n\nc\n', 'a', 'c\n'],
    ['<think>\n\n</think>\n\nc', '', 'c'],
    ['<think>never closed', 'never closed', ''],
    ['no <think>a</think>', '', 'no <think>a</think>'],
    ['<thin', '', '<thin'],
    ['<think>a < b </thin k> </think>c</think>', 'a < b </thin k> ', 'c</think>'],
    ['  plain', '', '  plain'],
    ['', '', ''],
  ])('of %j are a thought and an answer', (given, reasoning, text) => {
    expect(split([given])).toEqual({ reasoning, text })
  })

  it('are found wherever the text is cut', () => {
    const near = fc.array(fc.constantFrom('<think>', '</think>', '<', '/', '\n', 'think>', 'a', ' ', '好'), {
      maxLength: 12,
    })
    fc.assert(
      fc.property(near, fc.array(fc.nat(60), { maxLength: 8 }), (words, cuts) => {
        const given = words.join('')
        const places = [0, ...cuts.filter((cut) => cut < given.length), given.length].toSorted((a, b) => a - b)
        const pieces = places.slice(1).map((end, index) => given.slice(places[index], end))
        expect(split(pieces)).toEqual(split([given]))
      }),
    )
  })
})

describe('reasoning that moves', () => {
  const moved = (events: ChatEvent[], place: { fromTags: boolean; asText: boolean }): ChatEvent[] => {
    const move = moveReasoning(place)
    return events.flatMap(move)
  }

  it('stand in the text between tags, each choice for itself', () => {
    const events: ChatEvent[] = [
      { type: 'start', id: 'a', model: 'm' },
      { type: 'reasoning-delta', text: 'one' },
      { type: 'reasoning-delta', text: 'two', choice: 1 },
      { type: 'reasoning-delta', text: ' more' },
      { type: 'reasoning-signature', dialect: 'claude', value: 's' },
      { type: 'text-delta', text: 'yes' },
      { type: 'usage', usage: {} },
      { type: 'tool-call-start', index: 0, id: 'c', name: 'f', choice: 1 },
    ]
    expect(moved(events, { fromTags: false, asText: true })).toEqual([
      { type: 'start', id: 'a', model: 'm' },
      { type: 'text-delta', text: '<think>\none' },
      { type: 'text-delta', text: '<think>\ntwo', choice: 1 },
      { type: 'text-delta', text: ' more' },
      { type: 'text-delta', text: '\n</think>\n' },
      { type: 'text-delta', text: 'yes' },
      { type: 'usage', usage: {} },
      { type: 'text-delta', text: '\n</think>\n', choice: 1 },
      { type: 'tool-call-start', index: 0, id: 'c', name: 'f', choice: 1 },
    ])
  })

  it('come back from the text they were put into', () => {
    const reasoning = fc.string({ minLength: 1 }).filter((text) => text.trim() === text && !text.includes('<'))
    fc.assert(
      fc.property(reasoning, reasoning, (thinking, answer) => {
        const events: ChatEvent[] = [
          { type: 'reasoning-delta', text: thinking },
          { type: 'text-delta', text: answer },
          { type: 'finish', reason: 'stop' },
        ]
        const there = moved(events, { fromTags: false, asText: true })
        expect(collectEvents(moved(there, { fromTags: true, asText: false })).choices).toEqual(
          collectEvents(events).choices,
        )
      }),
    )
  })

  it('move in a complete answer as they do in a stream', () => {
    const response = {
      id: 'a',
      model: 'm',
      choices: [{ parts: [{ type: 'text' as const, text: '<think>hm</think>yes' }], finish: 'stop' as const }],
    }
    expect(moveReasoningOf(response, { fromTags: true, asText: false }).choices[0]?.parts).toEqual([
      { type: 'reasoning', text: 'hm' },
      { type: 'text', text: 'yes' },
    ])
    expect(moveReasoningOf(response, { fromTags: true, asText: true }).choices[0]?.parts).toEqual([
      { type: 'text', text: '<think>\nhm\n</think>\nyes' },
    ])
    expect(moveReasoningOf(response, { fromTags: false, asText: false })).toBe(response)
  })

  it('take the places of sources with them, however they are mixed with the text', () => {
    const cited = (startIndex: number, endIndex: number): ChatEvent => ({
      type: 'citation',
      citation: { url: 'https://a.test', startIndex, endIndex },
    })
    const events: ChatEvent[] = [
      { type: 'reasoning-delta', text: 'look' },
      { type: 'text-delta', text: 'first' },
      cited(0, 5),
      { type: 'reasoning-delta', text: 'look on' },
      { type: 'text-delta', text: 'then' },
      cited(0, 5),
      cited(5, 9),
    ]
    const textOf = (list: ChatEvent[]) => list.map((event) => (event.type === 'text-delta' ? event.text : '')).join('')
    const citedIn = (list: ChatEvent[]) =>
      list.flatMap((event) =>
        event.type === 'citation' ? [textOf(list).slice(event.citation.startIndex, event.citation.endIndex)] : [],
      )
    const there = moved(events, { fromTags: false, asText: true })
    expect(citedIn(there)).toEqual(['first', 'first', 'then'])
    const one = [...events.slice(0, 2), cited(1, 5)]
    const inText = moved(one, { fromTags: false, asText: true })
    expect(moved(inText, { fromTags: true, asText: false })).toEqual(one)
  })

  it('that are still held when the answer goes on to something else are returned before it', () => {
    const events: ChatEvent[] = [
      { type: 'text-delta', text: '<thi' },
      { type: 'tool-call-start', index: 0, id: 'c', name: 'f' },
      { type: 'text-delta', text: '<think>no thought</think>' },
      { type: 'finish', reason: 'stop' },
    ]
    const kinds = moved(events, { fromTags: true, asText: false }).map((event) => event.type)
    expect(kinds).toEqual(['text-delta', 'tool-call-start', 'text-delta', 'finish'])
  })
})
