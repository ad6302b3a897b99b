import { expect, test } from 'vitest'
import { freshResults, withResult } from './result-cache.ts'

const result = { success: true, message: '', seconds: 1, isRetryable: false, retryCount: 0 }
const hour = 3_600_000

test('results are stored by channel and model for a day', () => {
  const cache = withResult(withResult({}, { channelId: 1, model: 'a', result: { ...result, time: 0 } }), {
    channelId: 1,
    model: 'b',
    result: { ...result, time: 20 * hour },
  })
  expect(Object.keys(freshResults(cache, 23 * hour)['1'] ?? {})).toEqual(['a', 'b'])
  expect(Object.keys(freshResults(cache, 25 * hour)['1'] ?? {})).toEqual(['b'])
  expect(freshResults(cache, 60 * hour)).toEqual({})
})
