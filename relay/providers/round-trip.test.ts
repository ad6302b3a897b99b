import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { AssistantPart, ChatRequest, DialectId, Message, UserPart } from '#relay/chat/request.ts'
import { claude } from '#relay/dialects/claude/index.ts'
import { gemini as geminiDialect } from '#relay/dialects/gemini/index.ts'
import { openAiChat } from '#relay/dialects/openai-chat/index.ts'
import { anthropic } from './anthropic/index.ts'
import { callWith } from './conformance/fixtures.ts'
import { requestWith, weatherTool } from './conformance/requests.ts'
import { gemini } from './gemini/index.ts'
import { openai } from './openai-compatible/vendors/openai.ts'

const words = fc.stringMatching(/^[a-zA-Z0-9 .,!?äß好]{1,20}$/).filter((text) => text.trim() === text && text !== '')
const text = words.map((value) => ({ type: 'text' as const, text: value }))
const image = fc.constant({
  type: 'image' as const,
  source: { kind: 'base64' as const, mediaType: 'image/png', data: 'iVBORw0KGgo=' },
})

/** One exchange: a question, and an answer that may call tools whose results open the next question. */
const exchange = fc.record({
  question: fc.tuple(text, fc.array(image, { maxLength: 1 })),
  reasoning: fc.boolean(),
  answer: text,
  calls: fc.integer({ min: 0, max: 3 }),
  failing: fc.boolean(),
})
type Exchange = typeof exchange extends fc.Arbitrary<infer Value> ? Value : never

function conversation(exchanges: readonly Exchange[], dialect: DialectId): Message[] {
  const messages: Message[] = []
  let results: UserPart[] = []
  for (const [turn, { question, reasoning, answer, calls, failing }] of exchanges.entries()) {
    messages.push({ role: 'user', content: [...results, question[0], ...question[1]] })
    const asked = Array.from({ length: calls }, (_, index) => `call_${turn}_${index}`)
    const content: AssistantPart[] = [
      ...(reasoning ? [{ type: 'reasoning' as const, text: 'hm', signature: { dialect, value: 'c2ln' } }] : []),
      answer,
      ...asked.map((id) => ({ type: 'tool-call' as const, id, name: 'get_weather', arguments: '{"city":"Rome"}' })),
    ]
    messages.push({ role: 'assistant', content })
    results = asked.map((callId, index) => ({
      type: 'tool-result',
      callId,
      name: 'get_weather',
      content: [{ type: 'text', text: 'mild' }],
      ...(failing && index === 0 ? { isError: true } : {}),
    }))
  }
  messages.push({ role: 'user', content: [...results, { type: 'text', text: 'And now?' }] })
  return messages
}

const settings = fc.record(
  {
    maxTokens: fc.integer({ min: 1, max: 8000 }),
    stop: fc.array(words, { maxLength: 3 }),
    toolChoice: fc.constantFrom(
      { type: 'auto' as const },
      { type: 'none' as const },
      { type: 'required' as const },
      { type: 'tool' as const, name: 'get_weather' },
    ),
    system: fc.array(text, { minLength: 1, maxLength: 3 }),
  },
  { requiredKeys: ['stop'] },
)

const requests = (dialect: DialectId) =>
  fc.tuple(fc.array(exchange, { minLength: 1, maxLength: 4 }), settings).map(([exchanges, { system, ...chosen }]) => {
    const messages = conversation(exchanges, dialect)
    return requestWith({
      ...chosen,
      tools: [weatherTool],
      messages: system ? [{ role: 'system', content: system }, ...messages] : messages,
      extra: { dialect, fields: {} },
    })
  })

/** What both sides must agree on. */
const core = ({ messages, tools, toolChoice, maxTokens, stop }: ChatRequest): unknown =>
  JSON.parse(JSON.stringify({ messages, tools, toolChoice, maxTokens, stop }))

test('what is written for the messages form is read back the same', () => {
  fc.assert(
    fc.property(requests('claude'), (request) => {
      const call = callWith({ model: 'claude-sonnet-4-5', channel: { type: 14 } })
      const body = anthropic.chat.request(request, call).body
      const read = claude.parse(JSON.parse(JSON.stringify(body)), {})
      expect(core(read)).toEqual(core({ ...request, maxTokens: request.maxTokens ?? 64_000 }))
    }),
    { numRuns: 100 },
  )
})

test('what is written for the generate form is read back the same', () => {
  fc.assert(
    fc.property(requests('gemini'), (request) => {
      const body = gemini.chat.request(request, callWith({ model: 'gemini-2.5-flash', channel: { type: 24 } })).body
      const read = geminiDialect.parse(JSON.parse(JSON.stringify(body)), { model: request.model })
      expect(core(read)).toEqual(core(request))
    }),
    { numRuns: 100 },
  )
})

test('what is written for the chat form is read back the same, but for reasoning and marks of failure', () => {
  fc.assert(
    fc.property(requests('openai-chat'), (request) => {
      const body = openai.chat.request(request, callWith()).body
      const read = openAiChat.parse(JSON.parse(JSON.stringify(body)), {})
      const plain = request.messages.map((message): Message => {
        if (message.role === 'system') {
          return {
            ...message,
            content: [{ type: 'text', text: message.content.map((part) => part.text).join('\n\n') }],
          }
        }
        if (message.role === 'assistant') {
          return { ...message, content: message.content.filter((part) => part.type !== 'reasoning') }
        }
        const content = message.content.map((part) => {
          if (part.type !== 'tool-result' || !part.isError) return part
          const { isError: _, ...result } = part
          return { ...result, content: [{ type: 'text' as const, text: 'Error: mild' }] }
        })
        return { ...message, content }
      })
      expect(core(read)).toEqual(core({ ...request, messages: plain }))
    }),
    { numRuns: 100 },
  )
})
