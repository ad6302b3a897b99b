import { expect, test } from 'vitest'
import { codeFiles, identifiersIn, type SourceFile } from './source-code.ts'

type Word = { use: string; in?: RegExp; not?: RegExp }

/** Words that nobody would search for, and what to call the thing instead. Parts of names count: `toldFormat`, `readWish`. */
const denied: Record<string, Word> = {
  passage: { use: 'passthrough, translated stream, stream writer' },
  thought: { use: 'reasoning' },
  thoughts: { use: 'reasoning' },
  picture: { use: 'image' },
  pictures: { use: 'images' },
  sound: { use: 'audio' },
  sounds: { use: 'audio' },
  shelf: { use: 'output items' },
  planting: { use: 'seed context' },
  chance: { use: 'probability, random' },
  chances: { use: 'probabilities' },
  door: { use: 'route' },
  doors: { use: 'routes' },
  wish: { use: 'input, requested' },
  wishes: { use: 'input, requested' },
  heard: { use: 'received, supported, audio input' },
  unheard: { use: 'unsupported' },
  told: { use: 'reported, sent, rendered' },
  books: { use: 'ledger, session billing' },
  whole: { use: 'complete, unstreamed, full, integer' },
  kept: { use: 'stored, cached, remaining' },
  unkept: { use: 'dropped' },
  said: { use: 'text, message, output' },
  tell: { use: 'notify, report, log' },
  tells: { use: 'reports' },
  telling: { use: 'informative, sampled, passed' },
  hear: { use: 'receive' },
  hears: { use: 'receives' },
  speaks: { use: 'outputs audio, supports' },
  quiet: { use: 'silent, ping, paused' },
  owed: { use: 'charged, due' },
  voids: { use: 'released without a charge', not: /^src\/features\/ledger\// },
  tail: { use: 'trailing buffer' },
  pulse: { use: 'heartbeat', not: /^client\/theme\// },
  halt: { use: 'upstream abort' },
  halted: { use: 'aborted' },
  forwarding: { use: 'attempt context' },
  patience: { use: 'timeout' },
  farewell: { use: 'close timeout' },
  story: { use: 'scenario' },
  stories: { use: 'scenarios' },
  gone: { use: 'caller aborted, removed', in: /^relay\// },
  resting: { use: 'cooldown', in: /^relay\// },
  rested: { use: 'cooldown', in: /^relay\// },
  health: { use: 'circuit breaker', in: /^relay\// },
}

/** Fields as Google and Dify name them on the wire, and what tests send that nobody knows. */
const wireNames = new Set([
  'thought',
  'thoughtSignature',
  'thought_signature',
  'thoughtsTokenCount',
  'thoughtsTokenLimit',
  'includeThoughts',
  'include_thoughts',
  'agent_thought',
])

const partsOf = (name: string): string[] =>
  name.split(/(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_/).map((part) => part.toLowerCase())

function findings(file: SourceFile): string[] {
  const isDenied = (part: string): boolean => {
    const word = Object.hasOwn(denied, part) ? denied[part] : undefined
    return word !== undefined && (word.in?.test(file.path) ?? true) && !word.not?.test(file.path)
  }
  const fileName = file.path.slice(file.path.lastIndexOf('/') + 1).split('.', 1)[0] ?? ''
  return [...identifiersIn(file), { name: fileName.replaceAll('-', '_'), place: `${file.path}:0` }]
    .filter(({ name }) => !wireNames.has(name))
    .flatMap(({ name, place }) => {
      const part = partsOf(name).find(isDenied)
      return part === undefined ? [] : [`denied identifiers: ${place} ${name}: not "${part}" but ${denied[part]?.use}`]
    })
}

test.each([
  [
    'src/core/a.ts',
    'const wishes = 1',
    'denied identifiers: src/core/a.ts:1 wishes: not "wishes" but input, requested',
  ],
  [
    'client/a.tsx',
    '\nfunction readPicture() {}',
    'denied identifiers: client/a.tsx:2 readPicture: not "picture" but image',
  ],
  ['client/b.tsx', 'const a = <ToldText />', 'denied identifiers: client/b.tsx:1 ToldText: not "told" but'],
  ['client/told-text.ts', '', 'denied identifiers: client/told-text.ts:0 told_text: not "told" but'],
  ['relay/a.ts', 'type A = { health: 1 }', 'denied identifiers: relay/a.ts:1 health: not "health" but circuit breaker'],
])('in %s the name of %s is refused with the word to use', (path, text, message) => {
  expect(findings({ path, text })).toEqual([expect.stringContaining(message)])
})

test.each([
  ['src/core/a.ts', "const reasoning = part['thoughts'] // a wish"],
  ['relay/a.ts', 'const { thoughtSignature, thought } = part'],
  ['client/a.tsx', 'const { health, gone } = channel'],
  ['client/theme/tokens.ts', 'const pulse = 1'],
])('in %s the names of %s pass', (path, text) => {
  expect(findings({ path, text })).toEqual([])
})

test('no identifier and no file name of the repository has a part that is denied', () => {
  expect(
    codeFiles()
      .filter(({ path }) => path !== 'scripts/lint/identifiers.test.ts')
      .flatMap(findings),
  ).toEqual([])
})
