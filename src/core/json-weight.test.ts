import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { deepestJson, mostContainers, mostNames, mostValues, skipString, weighJson } from './json-weight.ts'

const weigh = (text: string) => weighJson(Buffer.from(text))

/** How deep a value is and how many objects and lists it has. */
const shapeOf = (value: unknown): { depth: number; containers: number } => {
  if (typeof value !== 'object' || value === null) return { depth: 0, containers: 0 }
  const parts = Object.values(value).map(shapeOf)
  return {
    depth: 1 + Math.max(0, ...parts.map(({ depth }) => depth)),
    containers: 1 + parts.reduce((sum, { containers }) => sum + containers, 0),
  }
}

describe('the weight of a JSON text', () => {
  it('finds numbers with more digits than a double is sure to hold, and not of digits in texts', () => {
    expect(weigh('{"a":[1,-9007199254740993]}').wide).toBe(true)
    expect(weigh('[900719925474099]').wide).toBe(false)
    expect(weigh('["9007199254740993", 1.5e3]').wide).toBe(false)
  })

  it('has no problem with any ordinary value, and counts what it is made of', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        const text = JSON.stringify(value)
        const { problem, bytes } = weigh(text)
        expect(problem).toBeNull()
        expect(bytes).toBeGreaterThanOrEqual(Buffer.byteLength(text) + 64 * shapeOf(value).containers)
      }),
    )
  })

  it('is not led astray by brackets, commas, quotes and backslashes in texts', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('[', '{', ',', ':', '"', '\\', 'x', 'é', '\u2028'), { maxLength: 80 }),
        (letters) => {
          const text = JSON.stringify(letters.join(''))
          expect(skipString(Buffer.from(text), 0)).toBe(Buffer.byteLength(text))
          expect(weigh(text)).toEqual({ problem: null, bytes: Buffer.byteLength(text), wide: false, cuts: [] })
        },
      ),
    )
  })

  it('finds where the fields of an object stand, however it is spaced, and of no other value', () => {
    const spaces = fc.array(fc.constantFrom(' ', '\n', '\t', '\r'), { maxLength: 2 }).map((letters) => letters.join(''))
    const plainName = fc.string({ maxLength: 5 }).filter((name) => !JSON.stringify(name).includes('\\'))
    fc.assert(
      fc.property(fc.dictionary(plainName, fc.jsonValue({ maxDepth: 3 })), spaces, spaces, (value, before, after) => {
        const pairs = Object.entries(value).map(
          ([name, each]) =>
            `${before}${JSON.stringify(name)}${after}:${before}${JSON.stringify(each, null, 1)}${after}`,
        )
        const bytes = Buffer.from(`${after}{${pairs.join(',')}${pairs.length > 0 ? '' : before}}${before}`)
        const found = weighJson(bytes).fields?.map(({ name, start, value: from, end }) => [
          name,
          JSON.parse(bytes.subarray(start, from).toString().replace(/:\s*$/, '')) as unknown,
          bytes.subarray(from, end).toString(),
        ])
        expect(found).toEqual(Object.entries(value).map(([name, each]) => [name, name, JSON.stringify(each, null, 1)]))
      }),
    )
    expect(weigh('{"a":1,"a":2}').fields).toBeUndefined()
    expect(weigh('{"\\u0061":1}').fields).toBeUndefined()
    expect([weigh('[{"a":1}]').fields, weigh('"a"').fields, weigh('[]').fields]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
    expect(weigh('{"a":{"b":[1,2]},"c":"d,e"}').fields).toEqual([
      { name: 'a', start: 1, value: 5, end: 16 },
      { name: 'c', start: 17, value: 21, end: 26 },
    ])
  })

  it('ends with the text, whatever the bytes are', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => void weighJson(bytes)))
  })

  it.each([
    ['lists in each other', `${'['.repeat(deepestJson + 1)}${']'.repeat(deepestJson + 1)}`, 'too deep'],
    ['a million lists in each other', '['.repeat(1_000_000), 'too deep'],
    ['objects in each other', `${'{"a":'.repeat(deepestJson + 1)}1`, 'too deep'],
    [
      'names',
      `{${Array.from({ length: mostNames + 1 }, (_, at) => `"${at}":1`).join(',')}}`,
      'too many names in an object',
    ],
    ['empty objects', `[${'{},'.repeat(mostContainers)}{}]`, 'too many values'],
    ['numbers', `[${'1,'.repeat(mostValues + 1)}1]`, 'too many values'],
  ])('refuses too many %s', (_what, text, problem) => {
    expect(weigh(text).problem).toBe(problem)
  })

  it.each([
    ['lists in each other', `${'['.repeat(deepestJson)}${']'.repeat(deepestJson)}`],
    ['names', `{${Array.from({ length: mostNames }, (_, at) => `"${at}":1`).join(',')}}`],
    ['tokens of an embedding call', `{"input":[${'[1,2,3],'.repeat(100_000)}[1]]}`],
    ['messages', JSON.stringify(Array.from({ length: 100_000 }, () => ({ role: 'user', content: 'hi' })))],
  ])('takes as many %s as any request has', (_what, text) => {
    expect(weigh(text).problem).toBeNull()
  })
})
