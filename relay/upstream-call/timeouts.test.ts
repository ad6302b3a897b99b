import { expect, test } from 'vitest'
import { timeoutsOf, endsWithin } from './timeouts.ts'

test('a probe waits a minute, a stream five for its first byte, any other call ten', () => {
  expect(timeoutsOf({}, 'probe')).toEqual({
    connectTimeoutMs: 10_000,
    firstByteTimeoutMs: 60_000,
    idleTimeoutMs: 60_000,
    totalTimeoutMs: 300_000,
  })
  expect(timeoutsOf({}, 'stream')).toMatchObject({ firstByteTimeoutMs: 300_000, idleTimeoutMs: 900_000 })
  expect(timeoutsOf({}, 'unstreamed')).toMatchObject({ firstByteTimeoutMs: 600_000, idleTimeoutMs: 900_000 })
})

test('the settings of a channel change each limit of each kind; what is no number of seconds does not', () => {
  const setting = { connect_timeout: 1, first_byte_timeout: 2, idle_timeout: 3 }
  for (const kind of ['probe', 'stream', 'unstreamed'] as const) {
    expect(timeoutsOf(setting, kind)).toMatchObject({
      connectTimeoutMs: 1000,
      firstByteTimeoutMs: 2000,
      idleTimeoutMs: 3000,
    })
  }
  expect(timeoutsOf({ connect_timeout: '1', idle_timeout: 0 }, 'probe')).toEqual(timeoutsOf({}, 'probe'))
})

test('what is asked within one time ends in it, and answers that callers wait for go on as long as they say something', () => {
  expect(new Set(Object.values(endsWithin(15_000)))).toEqual(new Set([15_000]))
  expect(endsWithin(15_000)).toHaveProperty('totalTimeoutMs')
  for (const kind of ['stream', 'unstreamed'] as const)
    expect(timeoutsOf({}, kind)).not.toHaveProperty('totalTimeoutMs')
})
