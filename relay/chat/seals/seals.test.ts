import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createSecrets } from '#features/secrets/service.ts'
import { collectEvents } from '../collect.ts'
import type { ChatEvent } from '../events.ts'
import type { AssistantPart, ChatRequest, DialectId } from '../request.ts'
import { isSealed, type Maker, readSeal, type Seal, writeSeal } from './envelope.ts'
import { openSeals, sealLoss } from './open-seals.ts'
import { sealingChange } from './seal-answer.ts'

const sealer = createSecrets('this installation')
const elsewhere = createSecrets('another installation')

const anyText = fc.string({ unit: 'grapheme', maxLength: 200 })
const anySeal: fc.Arbitrary<Seal> = fc.record({
  maker: fc.record({
    dialect: fc.constantFrom<DialectId[]>('claude', 'gemini', 'openai-responses'),
    model: fc.option(anyText, { nil: undefined }),
    account: fc.option(anyText, { nil: undefined }),
  }),
  proofs: fc.array(
    fc.record({
      kind: fc.constantFrom('signature' as const, 'encrypted' as const, 'call' as const),
      text: anyText,
      value: anyText,
    }),
    { minLength: 1, maxLength: 3 },
  ),
})
const written = (seal: Seal): string => {
  const text = writeSeal(seal, sealer)
  if (text === undefined) throw new Error('too long')
  return text
}

test('a seal is read by any process of its installation, and is base64 from its first character to its last', () => {
  fc.assert(
    fc.property(anySeal, (seal) => {
      const text = written(seal)
      expect(Buffer.from(text, 'base64').toString('base64')).toBe(text)
      expect(readSeal(text, createSecrets('this installation'))).toEqual(seal)
    }),
  )
})

test('a seal of another installation, or one that was changed, cut or put together of two, is none', () => {
  fc.assert(
    fc.property(anySeal, anySeal, fc.nat(), fc.nat({ max: 63 }), (seal, other, place, change) => {
      const text = written(seal)
      expect(readSeal(text, elsewhere)).toBeUndefined()
      const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
      // The last group may hold bits that mean nothing.
      const at = place % (text.length - 4)
      const letter = alphabet[change] as string
      const changed = text.slice(0, at) + letter + text.slice(at + 1)
      if (changed !== text) expect(readSeal(changed, sealer)).toBeUndefined()
      expect(readSeal(text.slice(0, at), sealer)).toBeUndefined()
      const second = written(other)
      const half = Math.floor(text.length / 2)
      expect(readSeal(text.slice(0, half) + second.slice(half), sealer)).toBeUndefined()
    }),
  )
})

test('a seal is hardly longer than what it holds, and never longer than callers should send again', () => {
  const proofs = [{ kind: 'signature' as const, text: 'a thought of words. '.repeat(200), value: 'c2ln'.repeat(100) }]
  expect(written({ maker: { dialect: 'claude' }, proofs }).length).toBeLessThan(1000)
  expect(
    writeSeal(
      {
        maker: { dialect: 'claude' },
        proofs: [{ kind: 'signature', text: '', value: elsewhere.encrypt('0'.repeat(1_200_000)) }],
      },
      sealer,
    ),
  ).toBeUndefined()
})

const makerOf = (dialect: DialectId): Maker => ({ dialect, model: 'm', account: 'a' })
const seal = (events: ChatEvent[], caller: DialectId, expectsReasoning = true): ChatEvent[] =>
  events.flatMap(sealingChange({ sealer, caller, makerOf, expectsReasoning, onLoss: () => {} }))

const request = (content: AssistantPart[]): ChatRequest => ({
  model: 'm',
  messages: [{ role: 'assistant', content }],
  tools: [],
  stop: [],
  stream: false,
  includeUsage: false,
  extra: { dialect: 'claude', fields: {} },
  losses: [],
})
const openedBy = (reads: (maker: Maker) => boolean, content: AssistantPart[]) => {
  const { request: opened, losses } = openSeals(request(content), { sealer, reads })
  return { content: opened.messages[0]?.content, losses }
}

const call = { type: 'tool-call' as const, id: 'c', name: 'f', arguments: '{}' }
const callEvents: ChatEvent[] = [
  { type: 'tool-call-start', index: 0, id: 'c', name: 'f' },
  { type: 'tool-call-delta', index: 0, arguments: '{}' },
  { type: 'tool-call-end', index: 0 },
]
const answers: { maker: DialectId; events: ChatEvent[]; parts: AssistantPart[] }[] = [
  {
    maker: 'claude',
    events: [
      { type: 'reasoning-delta', text: 'think' },
      { type: 'reasoning-signature', dialect: 'claude', value: 'sig' },
      { type: 'reasoning-encrypted', dialect: 'claude', data: 'hidden' },
      ...callEvents,
    ],
    parts: [
      { type: 'reasoning', text: 'think', signature: { dialect: 'claude', value: 'sig' } },
      { type: 'reasoning', text: '', encrypted: { dialect: 'claude', data: 'hidden' } },
      call,
    ],
  },
  {
    maker: 'openai-responses',
    events: [
      { type: 'reasoning-delta', text: 'think' },
      { type: 'reasoning-encrypted', dialect: 'openai-responses', data: 'hidden' },
      ...callEvents,
    ],
    parts: [{ type: 'reasoning', text: 'think', encrypted: { dialect: 'openai-responses', data: 'hidden' } }, call],
  },
  {
    maker: 'gemini',
    events: [
      { type: 'reasoning-delta', text: 'think' },
      { type: 'tool-call-start', index: 0, id: 'c', name: 'f', signature: { dialect: 'gemini', value: 'sig' } },
      ...callEvents.slice(1),
    ],
    parts: [{ ...call, signature: { dialect: 'gemini', value: 'sig' } }],
  },
]
const dialects: DialectId[] = ['claude', 'openai-responses', 'gemini']
const directions = answers.flatMap((answer) =>
  dialects.filter((caller) => caller !== answer.maker).map((caller) => ({ ...answer, caller })),
)

test.each(directions)(
  'reasoning of $maker comes back whole by way of $caller, and to nobody else',
  ({ caller, events, parts }) => {
    const sealed = seal(events, caller)
    const given = collectEvents(sealed).choices[0]?.parts as AssistantPart[]
    for (const part of given) {
      const proof = part.type === 'reasoning' || part.type === 'tool-call' ? part.signature : undefined
      const hidden = part.type === 'reasoning' ? part.encrypted : undefined
      for (const { dialect, text } of [
        ...(proof ? [{ dialect: proof.dialect, text: proof.value }] : []),
        ...(hidden ? [{ dialect: hidden.dialect, text: hidden.data }] : []),
      ]) {
        expect(dialect).toBe(caller)
        expect(isSealed(text)).toBe(true)
      }
    }
    expect(openedBy(() => true, given)).toEqual({ content: parts, losses: [] })
    const foreign = openedBy(() => false, given)
    expect(foreign.losses).toEqual([sealLoss])
    expect(JSON.stringify(foreign.content)).not.toMatch(/"signature"|"encrypted"/)
    expect(foreign.content?.at(-1)).toEqual(call)
  },
)

test('the seals of one request hold so much together and no more', () => {
  const proofs = [{ kind: 'signature' as const, text: 'a'.repeat(10 * 1024 * 1024), value: 'sig' }]
  const text = written({ maker: { dialect: 'gemini' }, proofs })
  const part: AssistantPart = { type: 'reasoning', text: '', signature: { dialect: 'claude', value: text } }
  const { content, losses } = openedBy(() => true, [part, part, part])
  expect(content).toHaveLength(2)
  expect(losses).toEqual([sealLoss])
  expect(openedBy(() => true, [part])).toMatchObject({ content: { length: 1 }, losses: [] })
  expect(writeSeal({ maker: { dialect: 'gemini' }, proofs: [...proofs, ...proofs] }, sealer)).toBeUndefined()
  expect(sealer.unseal(sealer.seal(Buffer.alloc(16 * 1024 * 1024 + 1)))).toBeUndefined()
})

test('what is the caller’s own dialect already goes through as it is', () => {
  for (const { maker, events } of answers) expect(seal(events, maker)).toEqual(events)
})

test('a proof without a word is no part of an answer for a caller of messages who asked for no reasoning, but calls keep theirs', () => {
  const proof: ChatEvent = { type: 'reasoning-signature', dialect: 'gemini', value: 'sig' }
  const text: ChatEvent = { type: 'text-delta', text: 'yes' }
  expect(seal([proof, text], 'claude', false)).toEqual([text])
  expect(seal([proof, text], 'claude', true)).toHaveLength(2)
  const signed = answers[2]?.events.slice(1) ?? []
  expect(seal(signed, 'claude', false)[0]).toMatchObject({ type: 'reasoning-signature', dialect: 'claude' })
})
