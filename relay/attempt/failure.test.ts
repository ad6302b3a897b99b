import { expect, test } from 'vitest'
import { AttemptFailed, maskedFailure } from './failure.ts'

test('a masked failure has no secret in any of its words and is the same failure in everything else', () => {
  const key = 'sk-a-key-of-some-length'
  const cause = new Error('cause')
  const deliver = () => Promise.resolve()
  const original = { type: key, code: key, message: `bad key ${key}` }
  const failed = new AttemptFailed(
    { status: 401, type: key, code: key, message: `bad key ${key}`, param: key, original },
    { local: true, elsewhere: true, connection: true, retryAfterMs: 7, deliver, cause },
  )
  const masked = maskedFailure(failed, { type: 1, key, baseUrl: '', proxy: undefined })
  expect(JSON.stringify([masked.failure, masked.message])).not.toContain(key)
  expect(masked.failure.status).toBe(401)
  const { local, elsewhere, connection, retryAfterMs } = masked
  expect({ local, elsewhere, connection, retryAfterMs, deliver: masked.deliver, cause: masked.cause }).toEqual({
    local: true,
    elsewhere: true,
    connection: true,
    retryAfterMs: 7,
    deliver,
    cause,
  })
})
