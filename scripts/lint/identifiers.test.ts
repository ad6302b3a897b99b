import { expect, test } from 'vitest'
import { denialOf, fileNameOf, proseDenialOf } from './denied-identifiers.mjs'
import { codeFiles, identifiersIn, proseIn } from './source-code.ts'

test.each([
  ['src/features/a.ts', 'wishes', 'not "wishes" but input, requested'],
  ['client/a.tsx', 'readPicture', 'not "picture" but image'],
  ['client/told-text.ts', 'told-text', 'not "told" but'],
])('in %s the name %s is refused with the word to use', (path, name, message) => {
  expect(denialOf(path, name)).toContain(message)
})

test('no identifier and no file name of the repository has a part that is denied', () => {
  const files = codeFiles().filter(({ path }) => !path.startsWith('scripts/lint/'))
  const findings = files.flatMap((file) =>
    [{ name: fileNameOf(file.path), place: () => file.path }, ...identifiersIn(file)].flatMap(({ name, place }) => {
      const denial = denialOf(file.path, name)
      return denial === undefined ? [] : [`${place()} ${denial}`]
    }),
  )
  expect(findings).toEqual([])
})

test('a denied word in a comment or in the name of a test is found with its line', () => {
  const text =
    "const a = 1\n/** A picture. */\ntest('hears nothing', () => {}) // `thoughts` is quoted\n// a whole answer"
  const found = proseIn({ path: 'a.ts', text }).map((line) => `${line.place} ${proseDenialOf(line.text)}`)
  expect(found).toEqual([
    'a.ts:2 "picture": not this but image',
    'a.ts:3 "hears": not this but receives',
    'a.ts:4 "whole answer": not this but complete answer',
  ])
})

test('no comment and no name of a test has a denied word', () => {
  const findings = codeFiles()
    .filter(({ path }) => !path.startsWith('scripts/lint/'))
    .flatMap((file) =>
      proseIn(file).flatMap(({ text, place }) => {
        const denial = proseDenialOf(text)
        return denial === undefined ? [] : [`${place} ${denial}`]
      }),
    )
  expect(findings).toEqual([])
})
