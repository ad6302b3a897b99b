import { RE2JS, RE2Set } from 're2js'

/** A word list made ready for many texts. */
export type Screen = {
  isEmpty: boolean
  /** Whether the texts are looked through in so short a time that everybody else may wait meanwhile. */
  isQuick: (texts: readonly string[]) => boolean
  /** The words and patterns found in the texts, as the operator wrote them; patterns first. */
  find: (texts: Iterable<string>) => string[]
}

const patternMark = 'regex:'
/**
 * Patterns take 0.1 µs a character, and a hundred times that of a text which fits one that is full of counted repetitions (`a.{0,50}b`)
 * almost, which is linear too. Words take a few nanoseconds.
 */
const quickCharacters = { patterns: 2000, words: 1_000_000 }

/** With more words than this, looking each one up costs more than one walk over the text. */
const fewWords = 40

/**
 * Reads a list of one word a line. `regex:` starts a pattern, which runs in time linear to the text whatever it says; one
 * that cannot be read is left out. Case never counts.
 */
export function compileScreen(list: string): Screen {
  const lines = list
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  const plain = lines.filter((line) => !isPattern(line))
  const findPatterns = patternFinder(lines.filter(isPattern))
  const findWords = wordFinder(plain)
  const isPlain = plain.length === lines.length
  const mayHold = isPlain ? wordGuess(plain) : () => true
  const mostCharacters = isPlain ? quickCharacters.words : quickCharacters.patterns
  return {
    isEmpty: lines.length === 0,
    isQuick: (texts) => {
      let characters = 0
      for (const text of texts) characters += text.length
      return lines.length === 0 || characters <= mostCharacters
    },
    find(texts) {
      const patterns = new Set<string>()
      const words = new Set<string>()
      for (const text of texts) {
        if (!mayHold(text)) continue
        const lower = text.toLowerCase()
        for (const pattern of findPatterns(lower)) patterns.add(pattern)
        for (const word of findWords(lower)) words.add(word)
      }
      return [...patterns, ...words]
    },
  }
}

let latest: { list: string; screen: Screen } | null = null

/** The same, built anew only when an operator changes the list. */
export function screenOf(list: string): Screen {
  if (latest?.list !== list) latest = { list, screen: compileScreen(list) }
  return latest.screen
}

type Finder = (lowerText: string) => string[]

const nothing: Finder = () => []

const isPattern = (line: string): boolean => line.startsWith(patternMark)

/** All patterns run as one machine, so a text is read once however many there are. */
function patternFinder(lines: readonly string[]): Finder {
  const readable = lines.filter((line) => isReadablePattern(line.slice(patternMark.length)))
  if (readable.length === 0) return nothing
  const machine = new RE2Set(RE2Set.UNANCHORED, RE2JS.CASE_INSENSITIVE)
  for (const line of readable) machine.add(line.slice(patternMark.length))
  machine.compile()
  return (text) => machine.match(text).flatMap((index) => readable[index] ?? [])
}

function isReadablePattern(pattern: string): boolean {
  if (pattern.trim() === '') return false
  try {
    RE2JS.compile(pattern, RE2JS.CASE_INSENSITIVE)
    return true
  } catch {
    return false
  }
}

function wordFinder(words: readonly string[]): Finder {
  const pairs = words.map((word) => ({ word, lower: word.toLowerCase() }))
  if (pairs.length <= fewWords) {
    return (text) => pairs.filter(({ lower }) => text.includes(lower)).map(({ word }) => word)
  }
  const byFirst = Map.groupBy(pairs, ({ lower }) => lower.charCodeAt(0))
  return (text) => {
    const found = new Set<string>()
    for (let at = 0; at < text.length; at += 1) {
      for (const { word, lower } of byFirst.get(text.charCodeAt(at)) ?? []) {
        if (text.startsWith(lower, at)) found.add(word)
      }
    }
    return [...found]
  }
}

/** Up to so many expressions one after another are faster than one of all words. */
const fewExpressions = 8

/** The only letters beyond ASCII that become ASCII in lower case, which no regular expression knows. */
const becomesAscii = (text: string): boolean => text.includes('\u0130') || text.includes('\u212a')

/** Whether a regular expression finds the word wherever the text in lower case holds it. */
const isFolded = (lower: string): boolean =>
  [...lower].every(
    (letter) => letter < '\u0080' || (letter.toUpperCase() === letter && letter.toLowerCase() === letter),
  )

/**
 * Whether a text may hold one of the words, found without writing all of it anew in lower case: yes where it does, and where
 * that is not known so.
 */
function wordGuess(words: readonly string[]): (text: string) => boolean {
  const lower = words.map((word) => word.toLowerCase())
  if (words.length > fewWords || !lower.every(isFolded)) return () => true
  const literals = lower.map((word) => word.replace(/[$()*+./?[\\\]^{|}]/g, '\\$&'))
  const sources = literals.length <= fewExpressions ? literals : [literals.join('|')]
  const expressions = sources.map((source) => new RegExp(source, 'i'))
  return (text) => becomesAscii(text) || expressions.some((expression) => expression.test(text))
}

/** The options that switch screening, by their documented keys. */
export type ScreenSettings = {
  CheckSensitiveEnabled: boolean
  CheckSensitiveOnPromptEnabled: boolean
  'global.safe_check_exempt_enabled': boolean
  'global.safe_check_exempt_group': string
}

/** Whether the requests of a group are screened at all. */
export function isScreened(settings: ScreenSettings, usedGroup: string): boolean {
  if (!settings.CheckSensitiveEnabled || !settings.CheckSensitiveOnPromptEnabled) return false
  return !(settings['global.safe_check_exempt_enabled'] && settings['global.safe_check_exempt_group'] === usedGroup)
}
