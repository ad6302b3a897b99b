import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { MalformedUpstream } from '#relay/chat/events.ts'
import { hasStream, hasJson, readEvents, readJson } from './conformance/fixtures.ts'
import { type Subject, subjects } from './conformance/subjects.ts'
import { UpstreamRefusal } from './types.ts'

const allowed = (error: unknown): boolean => error instanceof MalformedUpstream || error instanceof UpstreamRefusal

function survives(read: () => unknown): void {
  try {
    read()
  } catch (error) {
    if (!allowed(error)) throw error
  }
}

/** Puts a strange value somewhere into a well-formed one. */
function mutate(value: unknown, path: number[], strange: unknown): unknown {
  const [step, ...rest] = path
  if (step === undefined || typeof value !== 'object' || value === null) return strange
  const keys = Object.keys(value)
  const key = keys[step % Math.max(1, keys.length)]
  if (key === undefined) return strange
  const copy: Record<string, unknown> = Array.isArray(value) ? ([...value] as never) : { ...value }
  copy[key] = mutate(copy[key], rest, strange)
  return copy
}

const strange = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom<unknown>(null, -1e6, 1e308, '12', '', [], {}, [null], { error: null }, '\ud800', true),
)
const path = fc.array(fc.nat(12), { minLength: 1, maxLength: 6 })
const deepText = `${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}`
const deep: unknown = JSON.parse(deepText)
const cases = ['text', 'tools', 'thinking'] as const

/** The providers, and the second form that the first of them speaks. */
const forms: readonly (readonly [string, Subject])[] = [
  ...subjects.map((subject) => [subject.name, subject] as const),
  ...subjects.slice(0, 1).map((subject) => {
    const fixtures = new URL('./openai-responses/__fixtures__/', import.meta.url)
    return ['responses form', { ...subject, fixtures }] as const
  }),
]

/** A stream's events may be texts as they are, which nothing can be put into. */
const isJson = (data: string): boolean => data.startsWith('{')

const chatting = forms.filter(([, { optOut }]) => optOut.text === undefined)

describe.each(chatting)('%s', (_id, subject) => {
  const { provider, fixtures } = subject
  const offered = cases.filter((name) => subject.optOut[name] === undefined)
  const names = offered.filter((name) => hasJson(fixtures, name))
  const streams = offered.filter((name) => hasStream(fixtures, name))

  test.runIf(names.length > 0)('a complete answer of any shape is read or refused, never a crash', () => {
    fc.assert(
      fc.property(fc.constantFrom(...names), path, strange, (name, where, value) => {
        const json = mutate(readJson(fixtures, `${name}.json`), where, value)
        survives(() => provider.chat.response(json, subject.call()))
        for (const dialect of Object.values(provider.native)) {
          survives(() => expect(dialect.inspect(json).delivered().toolCalls).toBeGreaterThanOrEqual(0))
        }
      }),
      { numRuns: 60 },
    )
  })

  test.runIf(streams.length > 0)('a stream of any shape is read or refused, never a crash', () => {
    fc.assert(
      fc.property(fc.constantFrom(...streams), fc.nat(12), path, strange, (name, at, where, value) => {
        const events = readEvents(fixtures, `${name}.sse`)
        const index = at % events.length
        const victim = events[index]
        if (victim && isJson(victim.data)) {
          victim.data = JSON.stringify(mutate(JSON.parse(victim.data), where, value)) ?? 'null'
        }
        const decoder = provider.chat.stream(subject.call({ stream: true }))
        survives(() => events.forEach((event) => decoder.push(event)))
        survives(() => decoder.end())
        for (const dialect of Object.values(provider.native)) {
          const listener = dialect.listen({ includeUsage: false })
          for (const event of events) listener.push(event)
          expect(listener.delivered().toolCalls).toBeGreaterThanOrEqual(0)
          expect(() => listener.usage()).not.toThrow()
        }
      }),
      { numRuns: 60 },
    )
  })

  test('an error body of any shape gives a message', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          strange.map((value) => JSON.stringify(value) ?? ''),
        ),
        (body) => {
          expect(provider.error(500, body).message).not.toBe('')
        },
      ),
      { numRuns: 60 },
    )
  })

  test('a value nested as deep as the text is long is refused, not a crash', () => {
    const decoder = provider.chat.stream(subject.call({ stream: true }))
    survives(() => decoder.push({ data: deepText }))
    for (const name of names) {
      const json = readJson(fixtures, `${name}.json`)
      for (const where of [[0], [5, 0, 1], [5, 0, 2, 1], [0, 0, 0, 0, 0, 1]]) {
        survives(() => provider.chat.response(mutate(json, where, deep), subject.call()))
      }
    }
  })
})
