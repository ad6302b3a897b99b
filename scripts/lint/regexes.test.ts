import { createContext, Script } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { regexes } from 'zod'
import { processorMs } from '#server/processor-time.ts'
import { type Attack, attacksOn } from './regex-attacks.ts'
import { callsIn, productFiles, regexesIn } from './source-code.ts'

/** As many characters as a text has at first; one that takes suspiciously long is made longer, twice. */
const lengths = [8_000, 96_000, 960_000]
const suspiciousMs = 0.5
/** A linear search is through with the longest text in milliseconds, however busy the machine; a quadratic one in many minutes. */
const deadlineOfProductMs = 20_000

const files = productFiles()

const context = createContext({})
const replaceAll = new Script("text.replace(pattern, '')")
const findFirst = new Script('pattern.exec(text)')

/** How long an expression keeps the thread, whoever else has the core meanwhile; the engine is stopped where it takes too long. */
function millisecondsFor({ source, flags }: RegExp, { attack, deadlineMs }: Trial, length: number): number {
  const { start, pump, end } = attack
  const text = start + pump.repeat(Math.ceil(length / pump.length)) + end
  Object.assign(context, { text, pattern: new RegExp(source, flags) })
  const script = flags.includes('g') ? replaceAll : findFirst
  const before = processorMs()
  try {
    script.runInContext(context, { timeout: deadlineMs })
  } catch (error) {
    if (Object(error).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
    return Infinity
  }
  return processorMs() - before
}

type Trial = { attack: Attack; deadlineMs: number }

function endures(pattern: RegExp, { attack, deadlineMs }: Trial): boolean {
  for (const length of lengths) {
    const taken = millisecondsFor(pattern, { attack, deadlineMs }, length)
    if (taken < suspiciousMs) return true
    if (taken >= deadlineMs) return false
  }
  return true
}

const chokesOn = (pattern: RegExp, deadlineMs: number): Attack | undefined =>
  attacksOn(pattern.source, pattern.flags).find((attack) => !endures(pattern, { attack, deadlineMs }))

describe('the attacks', () => {
  test.each([
    [/(a+)+$/, 'exponential'],
    [/^(a|a)*$/, 'exponential'],
    [/\s+$/, 'begun anew at each blank'],
    [/\/+$/, 'begun anew at each slash'],
    [/<script(?![^>]*nonce=)/g, 'looked ahead from each tag'],
    [/!\[[^\]]*\]\(/, 'begun anew at each bracket'],
    [/^v\d+(alpha)?\d*x$/, 'divided between two repetitions'],
    [/:generate.*$/, 'begun anew at each colon'],
  ])('choke %s, which is %s', (pattern) => {
    expect(chokesOn(pattern, 500)).toBeDefined()
  })

  test.each([/^a+$/, /^[^@]+@[^@]+$/, /\d/, /\\"[^"\\]\/x/, /[\s,]+/g, /^(?:[a-z]{1,5}-)?\d+$/])(
    'leave %s alone',
    (pattern) => {
      expect(chokesOn(pattern, deadlineOfProductMs)).toBeUndefined()
    },
  )
})

test('every regular expression of the product is through with any text in linear time', { timeout: 900_000 }, () => {
  const written = new Map(files.flatMap(regexesIn).map((regex) => [`/${regex.source}/${regex.flags}`, regex] as const))
  expect(written.size).toBeGreaterThan(100)
  const slow = [...written].flatMap(([text, { place, source, flags }]) => {
    const attack = chokesOn(new RegExp(source, flags), deadlineOfProductMs)
    return attack ? [`${place} ${text} chokes on ${JSON.stringify(attack)}`] : []
  })
  expect(slow).toEqual([])
})

test.each(['email', 'ipv4', 'ipv6', 'cidrv4', 'cidrv6'] as const)(
  'so is the expression that the schema library brings for %s',
  (name) => {
    expect(chokesOn(regexes[name], deadlineOfProductMs)).toBeUndefined()
  },
)

/**
 * Made of the product's own list of scripts: one class of characters, anchored at both ends; and of words, every letter of which stands
 * for itself.
 */
const madeOfLetters = ['src/core/similar-names.ts', 'src/core/screening/screen.ts']

test('no regular expression is made of a text: those that people write run on the linear engine of re2js', () => {
  const texts = new Set(['match', 'matchAll', 'search'])
  const made = files
    .filter(({ path }) => !madeOfLetters.includes(path))
    .flatMap((file) =>
      callsIn(file)
        .filter(({ name, first }) => {
          const method = name.split('.').at(-1) ?? ''
          const isText =
            first !== undefined && ['Literal', 'TemplateLiteral'].includes(first.type) && !('regex' in first)
          return (
            name === 'RegExp' || name.endsWith('.RegExp') || (texts.has(method) && isText && !name.startsWith('RE2'))
          )
        })
        .map(({ place, name }) => `${place()} ${name}`),
    )
  expect(made).toEqual([])
})
