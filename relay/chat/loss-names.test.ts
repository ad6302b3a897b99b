import { expect, test } from 'vitest'
import { lossNames } from './losses.ts'

test('names of losses are reported as they are, each once', () => {
  expect(lossNames(['seed', 'tools.strict', 'seed', 'x-y_z[0]'])).toEqual(['seed', 'tools.strict', 'x-y_z[0]'])
})

test('what no header holds is replaced, and a name of the caller’s cannot pass for two', () => {
  expect(lossNames(['a\r\nset-cookie: b', 'héé', 'ключ', 'a,b', 'nul\u0000'])).toEqual([
    'a??set-cookie:?b',
    'h??',
    '????',
    'a?b',
    'nul?',
  ])
})

test('a body made of unknown names leaves a header that clients still read', () => {
  const names = lossNames(Array.from({ length: 100_000 }, (_, index) => `unknown_${index}`))
  expect(names.join(',').length).toBeLessThan(2100)
  expect(names.at(-1)).toBe('...')
  expect(lossNames(['x'.repeat(1_000_000)])).toEqual(['x'.repeat(64)])
})
