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
  it('tells of numbers with more digits than a double is sure to hold, and not of digits in texts', () => {
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
          expect(weigh(text)).toEqual({ problem: null, bytes: Buffer.byteLength(text), wide: false })
        },
      ),
    )
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
