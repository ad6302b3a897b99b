import { describe, expect, test } from 'vitest'
import { DomainError } from '#core/errors.ts'
import { toColumns } from './rules.ts'
import { listTags } from './schema.ts'

function refusalOf(given: Parameters<typeof toColumns>[0]): string | undefined {
  try {
    toColumns(given, null)
    return undefined
  } catch (error) {
    if (error instanceof DomainError) return error.code
    throw error
  }
}

describe('the address of a channel', () => {
  test('has no query and no fragment, for paths are written behind it', () => {
    for (const baseUrl of [
      'https://a.test?x',
      'https://a.test/v1?x=1',
      'https://a.test#f',
      'https://a.test/?',
      'https://a.test/#',
    ]) {
      expect(refusalOf({ type: 1, baseUrl }), baseUrl).toBe('channel.address_query')
    }
    expect(refusalOf({ type: 1, baseUrl: 'https://a.test/v1' })).toBeUndefined()
  })

  test('that is the whole address of every call may have a query, never a fragment', () => {
    expect(refusalOf({ type: 8, baseUrl: 'https://a.test/chat/completions?key=1' })).toBeUndefined()
    expect(refusalOf({ type: 8, baseUrl: 'https://a.test/chat/completions#f' })).toBe('channel.address_query')
  })
})

describe('the extra field', () => {
  test('is required where nothing can be called without it', () => {
    expect(refusalOf({ type: 49, other: '' })).toBe('channel.other_required')
    expect(refusalOf({ type: 21, other: ' ' })).toBe('channel.other_required')
    expect(refusalOf({ type: 49, other: '7342' })).toBeUndefined()
    expect(refusalOf({ type: 1, other: '' })).toBeUndefined()
  })

  test('has the form its type gives it', () => {
    expect(refusalOf({ type: 24, other: '../v1' })).toBe('channel.other_invalid')
    expect(refusalOf({ type: 24, other: 'v1beta' })).toBeUndefined()
    expect(refusalOf({ type: 3, other: '2024-10-21' })).toBeUndefined()
    expect(refusalOf({ type: 3, other: 'yesterday' })).toBe('channel.other_invalid')
    expect(refusalOf({ type: 37, other: 'workflow' })).toBeUndefined()
    expect(refusalOf({ type: 37, other: 'poem' })).toBe('channel.other_invalid')
    expect(refusalOf({ type: 39, other: 'a/b' })).toBe('channel.other_invalid')
    expect(toColumns({ type: 18, other: '' }, null).other).toBe('v2.1')
  })
})

test('200 tags are listed where nobody asks for more or fewer', () => {
  expect(listTags.parse({})).toEqual({ offset: 0, limit: 200 })
})
