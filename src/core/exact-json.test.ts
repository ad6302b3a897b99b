import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isWideNumber, parseExactly } from './exact-json.ts'

const beyond = fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n }).map(String)
const anyJson = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    beyond,
    fc.string().map((text) => JSON.stringify(text)),
    fc.constantFrom('true', 'null', '1.5'),
    fc.array(tie('value'), { maxLength: 4 }).map((items) => `[${items.join(',')}]`),
    fc
      .uniqueArray(fc.tuple(fc.string(), tie('value')), { maxLength: 4, selector: ([name]) => name })
      .map((entries) => `{${entries.map(([name, value]) => `${JSON.stringify(name)}:${String(value)}`).join(',')}}`),
  ),
})).value as fc.Arbitrary<string>

test('whole numbers of any size are written as they were read', () => {
  fc.assert(
    fc.property(anyJson, (text) => {
      const once = JSON.stringify(parseExactly(text))
      expect(JSON.stringify(parseExactly(once))).toBe(once)
      expect(once.match(/-?\d{16,}/g) ?? []).toEqual(expect.arrayContaining(text.match(/-?\d{17,}/g) ?? []))
    }),
  )
})

test('numbers that a double holds stay numbers, whoever asks', () => {
  expect(parseExactly('[9007199254740991,-9007199254740991,1e300]', true)).toEqual([
    9_007_199_254_740_991, -9_007_199_254_740_991, 1e300,
  ])
  expect(isWideNumber(parseExactly('9007199254740993', true))).toBe(true)
  expect(isWideNumber({ rawJSON: '1' })).toBe(false)
})
