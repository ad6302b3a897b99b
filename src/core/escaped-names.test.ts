import fc from 'fast-check'
import { expect, test } from 'vitest'
import { processorMs } from '#server/processor-time.ts'
import { hasEscapedNames } from './escaped-names.ts'
import { parseExactly, parseWeighed } from './exact-json.ts'
import { weighJson } from './json-weight.ts'

const weighed = (text: string): unknown => {
  const bytes = Buffer.from(text)
  return parseWeighed(bytes, weighJson(bytes))
}

const readers: [string, (text: string) => unknown][] = [
  ['at once', (text) => parseExactly(text)],
  ['with a look at each number', (text) => parseExactly(text, true)],
  ['after it was weighed', weighed],
]

/** A name as Python writes it, and with every letter as an escape. */
const writtenAs = [
  (name: string) => JSON.stringify(name),
  (name: string) => JSON.stringify(name).replaceAll(/[^ -~]/g, unitsOf),
  (name: string) => `"${unitsOf(name)}"`,
]
const unitsOf = (text: string): string =>
  Array.from({ length: text.length }, (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')

const awkward = fc.constantFrom(
  '__proto__',
  '7',
  '',
  'a',
  '\u007f',
  '\u007f0',
  '\u007f1',
  '"',
  '\\',
  '\\u',
  '\n',
  ':',
  '":',
)
const anyName = fc.oneof(
  awkward,
  fc.string({ unit: 'binary', maxLength: 4 }),
  fc.string({ unit: awkward, maxLength: 4 }),
)
const space = fc.constantFrom('', ' ', '\n\t', '\r')
/** Values with the texts that they are written in: names twice, in every way of writing. */
const written = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<[unknown, string]>([1.5, '1.5'], [true, 'true'], [null, 'null']),
    anyName.map((text): [unknown, string] => [text, JSON.stringify(text)]),
    fc
      .array(tie('value') as fc.Arbitrary<[unknown, string]>, { maxLength: 4 })
      .map((items): [unknown, string] => [
        items.map(([value]) => value),
        `[${items.map(([, text]) => text).join(',')}]`,
      ]),
    fc
      .array(fc.tuple(anyName, fc.constantFrom(...writtenAs), space, tie('value') as fc.Arbitrary<[unknown, string]>), {
        maxLength: 5,
      })
      .map((fields): [unknown, string] => [
        Object.fromEntries(fields.map(([name, , , [value]]) => [name, value])),
        `{${fields.map(([name, write, gap, [, text]]) => `${gap}${write(name)}${gap}:${gap}${text}`).join(',')}}`,
      ]),
  ),
})).value as fc.Arbitrary<[unknown, string]>

/** With what `toEqual` does not compare: the order of names, and what is a field of its own. */
const laidOut = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(laidOut)
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
  return ['fields', ...Object.entries(value).map(([name, field]) => [name, laidOut(field)])]
}

test.each(readers)('no name is read as that of another object, %s', (_, read) => {
  for (const [before, text, names] of [
    [String.raw`{"h":1,"\\":0}`, String.raw`{"h":1,"\"":2}`, ['h', '"']],
    [String.raw`{"h":1,"\\u":0}`, String.raw`{"h":1,"\u65e5\u671f":2}`, ['h', '日期']],
    [String.raw`[{"i":1,"\\n":0}]`, String.raw`[[{"i":1,"\na" : 2}]]`, ['i', '\na']],
    [String.raw`{"j":1,"a\\":0}`, String.raw`{"j":12345678901234567890,"a\t":2}`, ['j', 'a\t']],
  ] as const) {
    JSON.parse(before)
    let found = read(text)
    while (Array.isArray(found)) found = found[0]
    expect(Object.keys(found as object)).toEqual(names)
  }
})

test.each(readers)('names written in whatever way are those that were written, in their order, %s', (_, read) => {
  fc.assert(
    fc.property(written, ([value, text]) => {
      expect(laidOut(read(text))).toEqual(laidOut(value))
    }),
    { numRuns: 500 },
  )
})

test('no name that is written with an escape is overlooked', () => {
  fc.assert(
    fc.property(written, ([, text]) => {
      const names = text.matchAll(/("(?:[^"\\]|\\.)*")(\s*:)?/g)
      if ([...names].some(([, name, colon]) => colon && name?.includes('\\'))) expect(hasEscapedNames(text)).toBe(true)
    }),
    { numRuns: 2000 },
  )
  for (const text of ['{"a":"\\n"}', String.raw`{"a":"{\"b\":1}","c":2}`, String.raw`["\n",": x",{"a":":"}]`]) {
    expect(hasEscapedNames(text)).toBe(false)
  }
})

test('what is no JSON is refused just as the engine refuses it', () => {
  const isJson = (read: (text: string) => unknown, text: string): boolean => {
    try {
      read(text)
      return true
    } catch (error) {
      expect(error).toBeInstanceOf(SyntaxError)
      return false
    }
  }
  const piece = fc.constantFrom(
    ...'[]{}:,"\\u0:- \u00e9\n\u0000',
    '"',
    '\\',
    'true',
    '\\u00',
    '\u007f0',
    '"\\n":',
    '\ufeff',
  )
  fc.assert(
    fc.property(written, fc.nat(), fc.nat({ max: 2 }), piece, ([, text], place, without, letter) => {
      const at = place % (text.length + 1)
      const broken = `${text.slice(0, at)}${letter}${text.slice(at + without)}`
      for (const [, read] of readers.slice(0, 2)) expect(isJson(read, broken)).toBe(isJson(JSON.parse, broken))
    }),
    { numRuns: 5000 },
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      const text = `{"\\"":${pieces.join('')}`
      expect(isJson(parseExactly, text)).toBe(isJson(JSON.parse, text))
    }),
    { numRuns: 2000 },
  )
})

test('digits stay beside such names', () => {
  expect(JSON.stringify(parseExactly(String.raw`{"\"":9007199254740993,"\u65e5":[-12345678901234567890]}`))).toBe(
    String.raw`{"\"":9007199254740993,"日":[-12345678901234567890]}`,
  )
})

test('a text may be as deep as it is long, and is read in a time that grows with its length', () => {
  const depth = 500_000
  let inner = parseExactly(`${String.raw`{"\"":[`.repeat(depth)}${']}'.repeat(depth)}`)
  for (let level = 0; level < depth; level += 1) inner = (inner as { '"': unknown[] })['"'][0]
  expect(inner).toBeUndefined()
  for (const text of [
    `{"${'\\n'.repeat(depth)}":1}`,
    `["${String.raw`\":`.repeat(depth)}"]`,
    `["\\n"${':'.repeat(depth)}]`,
    `["\\n${'"  '.repeat(depth)}:]`,
    `{"\\n":1,"${'\u007f'.repeat(depth)}":1}`,
    `"${'\\'.repeat(depth)}":`,
    `["\\n"${' '.repeat(depth)}":":"]`,
    `["\\n${'"   '.repeat(depth)}`,
  ]) {
    const before = processorMs()
    try {
      parseExactly(text)
    } catch (error) {
      expect(error).toBeInstanceOf(SyntaxError)
    }
    expect(processorMs() - before).toBeLessThan(5000)
  }
})
