import { expect, test } from 'vitest'
import { messageOf } from '#core/errors.ts'
import { logText } from '../../../lib/log-text.ts'
import { setLanguage } from '../../../i18n/t.ts'
import { freshResults, hasFailed, latestResults, unpricedCode, withResult } from './result-cache.ts'

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

const probe = { id: 1, model: 'a', success: true, message: '', durationMs: 877, createdAt: new Date(20 * hour) }

test('of this browser and of the server the newest result is shown, whoever tested', () => {
  const own = { ...result, success: false, message: 'no', time: 10 * hour }
  expect(latestResults({}, [probe])['a']).toMatchObject({ success: true, seconds: 0.877, time: 20 * hour })
  expect(latestResults({ a: own }, [probe])['a']).toMatchObject({ success: true })
  expect(latestResults({ a: { ...own, time: 21 * hour } }, [probe])['a']).toMatchObject({ message: 'no' })
  // They come newest first.
  const older = { ...probe, success: false, createdAt: new Date(hour) }
  expect(latestResults({}, [probe, older])['a']).toMatchObject({ success: true })
})

test('a missing price is known by what was kept of the test, in both languages', async () => {
  const message = messageOf({ code: unpricedCode, params: { model: 'mapped' } })
  const refused = latestResults({}, [{ ...probe, success: false, message }])['a']
  expect(refused?.code).toBe(unpricedCode)
  expect(latestResults({}, [{ ...probe, success: false, message: '模型 a' }])['a']?.code).toBeUndefined()
  // Nothing was sent, so that nothing has failed.
  expect(hasFailed(refused)).toBe(false)
  expect(hasFailed({ ...result, success: false, time: 0 })).toBe(true)
  await setLanguage('en')
  expect(logText(message)).toMatch(/^Model mapped has no price and was not tested/)
  await setLanguage('zh')
})
