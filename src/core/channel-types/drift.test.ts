import { expect, test } from 'vitest'
import { driftOf, mappedNames } from './drift.ts'

test('what the upstream has beyond the channel was added, what it has no more is gone', () => {
  expect(driftOf(['a', 'b'], ['b', 'c'])).toEqual({ added: ['c'], gone: ['a'] })
})

test('a name that the channel maps to another is not gone', () => {
  expect(driftOf(['mine', 'b'], ['b'], mappedNames('{"mine":"b"}'))).toEqual({ added: [], gone: [] })
})
