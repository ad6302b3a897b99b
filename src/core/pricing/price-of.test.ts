import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { defaultOptions, type OptionsReader, type OptionValues } from '#core/options/registry/index.ts'
import { taskPriceOf } from './price-of.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))

const reader = (changes: Partial<OptionValues>): OptionsReader => {
  const values = defaultOptions(changes)
  return { get: (key) => values[key] }
}

test.each<Record<string, number>>([{}, { mj_upload: 0.3 }, { mj_uploads: 0.7 }])(
  'an upload of pictures costs the same under each of its names with %o in the table',
  (ModelPrice) => {
    const options = reader({ ModelPrice })
    const [usual, listed] = ['mj_upload', 'mj_uploads'].map((model) => taskPriceOf(options, { model, mode: '' }))
    expect(listed).toEqual(usual)
    expect(usual?.modelPrice).toBe(Object.values(ModelPrice)[0] ?? 0.05)
  },
)

test('the options that make a price are read in one place', () => {
  const inputs = /get\('(ModelRatio|ModelPrice|CompletionRatio|CacheRatio|fallback_\w+)'\)/
  const readers = globSync('{src,relay}/**/*.ts', { cwd: root })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => !path.endsWith('.test.ts') && inputs.test(readFileSync(`${root}${path}`, 'utf8')))
  expect(readers).toEqual(['src/core/pricing/price-of.ts'])
})
