import { expect, test } from 'vitest'
import { productFiles } from '#scripts/lint/source-code.ts'
import { system } from './system.ts'

const files = productFiles().filter(({ path }) => path.startsWith('client/') && path.endsWith('.tsx'))

/** Whoever places components takes colours, sizes and shadows from the theme by name. How wide columns are is placing. */
const chosen = [
  /['"](?:gray|blue|green|orange|red|blackAlpha)\.\d+/,
  /['"]#[0-9a-f]{3,8}['"]|\b(?:rgba?|hsl|oklch)\(/i,
  /\b(?:shadow|boxShadow)(?:=[{"]|: ')(?!none)/,
  /\b(?:w|h|minW|maxW|minH|maxH|boxSize|maxHeight|fontSize|lineHeight|borderRadius|gap|p|px|py|m|mx|my)(?:=\{?["']|: ')(?:[3-9]|\d{2,})[\d.]*(?:px|rem|em)\b/,
]

test('pages and features choose no colour, size or shadow: they name those of the theme', () => {
  const found = files
    .filter(({ path }) => /^client\/(?:app|features)\//.test(path))
    .flatMap(({ path, text }) => text.split('\n').map((line, index) => ({ line, place: `${path}:${index + 1}` })))
    .filter(({ line }) => chosen.some((form) => form.test(line)))
  expect(found.map(({ line, place }) => `${place} ${line.trim()}`)).toEqual([])
})

test('every layer style that is named is one of the theme', () => {
  const named = files.flatMap(({ text }) => [...text.matchAll(/layerStyle="([^"]*)"/g)].map(([, name = '']) => name))
  expect(named.length).toBeGreaterThan(30)
  expect([...new Set(named)].filter((name) => !system.query.layerStyles.list().includes(name))).toEqual([])
})
