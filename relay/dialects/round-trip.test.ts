import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { collectEvents } from '#relay/chat/collect.ts'
import type { ResponsePart } from '#relay/chat/events.ts'
import type { AssistantPart, DialectId } from '#relay/chat/request.ts'
import { dialects } from './registry.ts'
import { anyConversation, anySettings, anyTool } from './testing/arbitrary-conversation.ts'
import { anyAnswer } from './testing/arbitrary-events.ts'
import { testContext } from './testing/stream-text.ts'
import {
  type Written,
  writeClaude,
  writeGemini,
  writeOpenAiChat,
  writeOpenAiResponses,
} from './testing/write-request.ts'

type Case = { id: DialectId; signer: DialectId | undefined; write: (written: Written) => object }

const cases: Case[] = [
  { id: 'openai-chat', signer: 'claude', write: writeOpenAiChat },
  { id: 'claude', signer: 'claude', write: writeClaude },
  { id: 'gemini', signer: 'gemini', write: writeGemini },
  { id: 'openai-responses', signer: undefined, write: writeOpenAiResponses },
]

/** As callers send it: through JSON, where undefined fields vanish. */
const sent = (body: object): unknown => JSON.parse(JSON.stringify(body))

describe.each(cases)('$id', ({ id, signer, write }) => {
  it('reads back every conversation, tool and setting as it was meant', () => {
    fc.assert(
      fc.property(
        anyConversation(signer),
        fc.array(anyTool, { maxLength: 3 }),
        anySettings,
        (messages, tools, settings) => {
          const request = dialects[id].parse(sent(write({ messages, tools, settings })), { model: 'm' })
          // Negative zero does not survive JSON.
          expect(request).toMatchObject({ messages, tools, ...(sent(settings) as object), losses: [] })
          expect(request.messages).toEqual(messages)
          expect(request.extra).toEqual({ dialect: id, fields: {} })
        },
      ),
    )
  })
})

/** The parts of an answer that come back when a caller sends it on as history, in the order they do. */
function echoed(parts: ResponsePart[], encode: 'in order' | 'by kind'): AssistantPart[] {
  const expected = parts.flatMap((part): AssistantPart[] => {
    if (part.type === 'tool-call') return [{ ...part, arguments: JSON.stringify(JSON.parse(part.arguments || '{}')) }]
    return part.type === 'text' || part.type === 'reasoning' ? [part] : []
  })
  if (encode === 'in order') return expected
  const all = (type: AssistantPart['type']) => expected.filter((part) => part.type === type)
  const text = all('text')
    .map((part) => ('text' in part ? part.text : ''))
    .join('')
  return [...all('reasoning'), ...(text === '' ? [] : [{ type: 'text' as const, text }]), ...all('tool-call')]
}

const normal = (parts: AssistantPart[]) =>
  parts.map((part) =>
    part.type === 'tool-call' ? { ...part, arguments: JSON.stringify(JSON.parse(part.arguments)) } : part,
  )

describe('an answer sent back as history', () => {
  it('loses nothing in messages', () => {
    fc.assert(
      fc.property(anyAnswer('claude'), (events) => {
        const answer = collectEvents(events)
        const { content } = dialects.claude.encode(answer, testContext()) as { content: unknown }
        const request = dialects.claude.parse(sent({ model: 'm', messages: [{ role: 'assistant', content }] }), {})
        expect(request.messages[0]?.content).toEqual(echoed(answer.choices[0]?.parts ?? [], 'in order'))
      }),
    )
  })

  it('loses nothing in generateContent', () => {
    fc.assert(
      fc.property(anyAnswer('gemini'), (events) => {
        const answer = collectEvents(events)
        const reply = dialects.gemini.encode(answer, testContext({ includeThoughts: true })) as {
          candidates: { content: object }[]
        }
        const contents = reply.candidates.map((candidate) => candidate.content)
        const request = dialects.gemini.parse(sent({ contents }), { model: 'm' })
        expect(request.messages[0]?.content).toEqual(echoed(answer.choices[0]?.parts ?? [], 'in order'))
      }),
    )
  })

  it('keeps signed reasoning, words and calls in chat completions', () => {
    fc.assert(
      fc.property(anyAnswer('claude'), (events) => {
        const answer = collectEvents(events)
        const parts = answer.choices[0]?.parts ?? []
        // Unsigned reasoning is one plain text there, whatever their number.
        fc.pre(parts.every((part) => part.type !== 'reasoning' || part.signature !== undefined))
        const reply = dialects['openai-chat'].encode(answer, testContext()) as { choices: { message: object }[] }
        const messages = reply.choices.map((choice) => choice.message)
        const request = dialects['openai-chat'].parse(sent({ model: 'm', messages }), {})
        expect(normal(request.messages[0]?.content as AssistantPart[])).toEqual(echoed(parts, 'by kind'))
      }),
    )
  })
})
