import { expect, it } from 'vitest'
import { changesOf, isChanged } from './changes.ts'

it('keeps only the fields that differ', () => {
  expect(changesOf({ name: 'a', group: 'x', tag: null }, { name: 'b', group: 'x', tag: undefined })).toEqual({
    before: { name: 'a' },
    after: { name: 'b' },
  })
  expect(isChanged(changesOf({ models: ['a', 'b'] }, { models: ['a', 'b'] }))).toBe(false)
})

it('lists of a table, kept as JSON text or not, the rows that differ', () => {
  const before = { ModelRatio: '{"a":1,"b":2,"c":3}', setting: { proxy: '', force: true } }
  const after = { ModelRatio: '{"a":1,"b":5,"d":4}', setting: { proxy: 'http://p', force: true } }
  expect(changesOf(before, after)).toEqual({
    before: { ModelRatio: { b: 2, c: 3 }, setting: { proxy: '' } },
    after: { ModelRatio: { b: 5, d: 4 }, setting: { proxy: 'http://p' } },
  })
})

it('takes texts that are no JSON as they are, long ones by their beginning', () => {
  const { before, after } = changesOf({ About: '{broken' }, { About: 'x'.repeat(30_000) })
  expect(before).toEqual({ About: '{broken' })
  expect(String(after['About'])).toHaveLength(20_001)
})

it('keeps hostile names as plain fields', () => {
  const { after } = changesOf({ ModelRatio: '{}' }, { ModelRatio: '{"__proto__":1}' })
  expect(Object.keys(after['ModelRatio'] as object)).toEqual(['__proto__'])
  expect(({} as Record<string, unknown>)['1']).toBeUndefined()
})
