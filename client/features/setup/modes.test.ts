import { expect, test } from 'vitest'
import { modes, reloadMilliseconds, usualMode } from './modes.ts'

test('a site is run for others unless its founder chooses otherwise, and opens after 1.5 seconds', () => {
  expect(modes).toEqual(['external', 'self', 'demo'])
  expect(usualMode).toBe('external')
  expect(reloadMilliseconds).toBe(1500)
})
