import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { actText } from './act-words.ts'

const features = fileURLToPath(new URL('../../src/features/', import.meta.url))
const written = /(?:action: |recordOwnAct\([^,]*, )'([a-z_]+\.[a-z_]+)'/g

it('every act that the server writes down has words in the console', () => {
  const actions = globSync('**/*.ts', { cwd: features }).flatMap((path) =>
    [...readFileSync(features + path, 'utf8').matchAll(written)].map(([, action = '']) => action),
  )
  expect(actions.length).toBeGreaterThan(40)
  expect(actions.filter((action) => actText(action) === action)).toEqual([])
})
