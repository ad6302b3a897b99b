import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isWideNumber, parseExactly, parseWeighed } from './exact-json.ts'
import { weighJson } from './json-weight.ts'

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

/** What comes of reading it; what is no JSON is the same whatever the message. */
const outcomeOf = (read: () => unknown): unknown => {
  try {
    return JSON.stringify(read())
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return SyntaxError
  }
}

const inPieces = (bytes: Buffer): unknown => outcomeOf(() => parseWeighed(bytes, weighJson(bytes)))
const atOnce = (bytes: Buffer): unknown => outcomeOf(() => parseExactly(bytes.toString('utf8')))

test('a long body reads the same in pieces as at once, also where a byte of it is wrong', () => {
  const turn = fc.record({ role: fc.constantFrom('user', 'tool'), content: fc.jsonValue({ maxDepth: 3 }) })
  const body = fc.record({
    model: fc.string(),
    id: fc.constantFrom(1, 2),
    messages: fc.array(turn, { minLength: 1, maxLength: 20 }),
    other: fc.jsonValue({ maxDepth: 2 }),
  })
  const wrong = fc.constantFrom(...'[]{},:"\\1 \u00e9')
  fc.assert(
    fc.property(body, fc.nat(), wrong, fc.constantFrom(undefined, 1), (value, place, letter, space) => {
      const long = 'ab, [{"] \\ \u4e2d'.repeat(150)
      const messages = Array.from({ length: 90 }, () => value.messages).flatMap((turns) => [...turns, long])
      const text = JSON.stringify({ ...value, messages }, null, space).replace('"id": 1', '"id": 90071992547409931')
      const bytes = Buffer.from(text)
      expect(bytes.length).toBeGreaterThan(131_072)
      expect(inPieces(bytes)).toBe(atOnce(bytes))
      const broken = Buffer.concat([
        bytes.subarray(0, place % bytes.length),
        Buffer.from(letter),
        bytes.subarray((place % bytes.length) + 1),
      ])
      expect(inPieces(broken)).toBe(atOnce(broken))
    }),
    { numRuns: 12 },
  )
})

test('a comma too many in a long list is no JSON, wherever it stands', () => {
  const item = JSON.stringify('x'.repeat(70_000))
  for (const list of [`${item},${item},`, `,${item},${item}`, `${item},,${item}`, `${item},${item}`]) {
    const bytes = Buffer.from(`{"a":[${list}],"b":1}`)
    expect(inPieces(bytes)).toBe(atOnce(bytes))
  }
})
