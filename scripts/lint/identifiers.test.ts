import { expect, test } from 'vitest'
import { denialOf, fileNameOf } from './denied-identifiers.mjs'
import { codeFiles, identifiersIn } from './source-code.ts'

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
    [{ name: fileNameOf(file.path), place: file.path }, ...identifiersIn(file)].flatMap(({ name, place }) => {
      const denial = denialOf(file.path, name)
      return denial === undefined ? [] : [`${place} ${denial}`]
    }),
  )
  expect(findings).toEqual([])
})
