import { expect, test } from 'vitest'
import { AttemptFailed } from '#relay/attempt/failure.ts'
import { createCircuitBreaker } from './circuit-breaker.ts'

const place = { channelId: 1, key: 0, model: 'gpt-4o' }
const failure = (status: number, details: Partial<ConstructorParameters<typeof AttemptFailed>[1]> = {}) =>
  new AttemptFailed({ status, type: 'x', code: null, message: 'm' }, { local: false, ...details })

const at = (ms: number) => {
  const clock = { now: ms }
  const reported: (number | null)[] = []
  const circuitBreaker = createCircuitBreaker(
    () => clock.now,
    (_place, cooldown) => reported.push(cooldown && cooldown.until.getTime()),
  )
  /** A call that begins and fails. */
  const fail = (...of: Parameters<typeof failure>) =>
    circuitBreaker.failed(place, circuitBreaker.started(place), failure(...of))
  return { clock, circuitBreaker, fail, reported }
}

test('one failure changes nothing, three in a row make a key rest for that model only', () => {
  const { circuitBreaker, fail } = at(0)
  fail(500)
  fail(500)
  expect(circuitBreaker.isHealthy(1, 0, 'gpt-4o')).toBe(true)
  fail(502)
  expect(circuitBreaker.isHealthy(1, 0, 'gpt-4o')).toBe(false)
  expect(circuitBreaker.isHealthy(1, 0, 'other')).toBe(true)
  expect(circuitBreaker.isHealthy(1, 1, 'gpt-4o')).toBe(true)
})

test('cools down as long as the upstream asks, but no longer than five minutes', () => {
  const { circuitBreaker, clock, fail } = at(0)
  fail(429, { retryAfterMs: 7_000 })
  expect(circuitBreaker.isHealthy(1, 0, 'gpt-4o')).toBe(false)
  clock.now = 7_001
  expect(circuitBreaker.isHealthy(1, 0, 'gpt-4o')).toBe(true)
  fail(429, { retryAfterMs: 9e9 })
  clock.now += 300_001
  expect(circuitBreaker.isHealthy(1, 0, 'gpt-4o')).toBe(true)
})

test('after a cooldown one call is sent and the others wait for it; success makes it healthy, failure starts a longer cooldown', () => {
  const { circuitBreaker, clock, fail } = at(0)
  for (let index = 0; index < 3; index += 1) fail(500)
  clock.now = 5_001
  expect(circuitBreaker.isHealthy(1, 0, 'gpt-4o')).toBe(true)
  const probe = circuitBreaker.started(place)
  expect(circuitBreaker.isHealthy(1, 0, 'gpt-4o')).toBe(false)
  circuitBreaker.failed(place, probe, failure(500))
  clock.now += 7_000
  expect(circuitBreaker.isHealthy(1, 0, 'gpt-4o')).toBe(false)
  clock.now += 1_001
  circuitBreaker.succeeded(place, circuitBreaker.started(place))
  expect(circuitBreaker.allHealthy()).toBe(true)
})

test('no cooldown without `Retry-After` lasts ten seconds, so that a key that works again is soon used', () => {
  const { circuitBreaker, clock, fail } = at(0)
  for (let index = 0; index < 20; index += 1) {
    fail(500)
    clock.now += 9_999
    expect(circuitBreaker.isHealthy(1, 0, 'gpt-4o')).toBe(true)
  }
})

test('a probe that ends without a word of the upstream leaves the rest as it was; any other answer ends it', () => {
  const { circuitBreaker, clock, fail } = at(0)
  for (let index = 0; index < 3; index += 1) fail(500)
  clock.now = 5_001
  for (const ending of [
    (start: number) => circuitBreaker.left(place, start),
    (start: number) => circuitBreaker.failed(place, start, failure(500, { local: true })),
  ]) {
    const start = circuitBreaker.started(place)
    expect(circuitBreaker.isHealthy(1, 0, 'gpt-4o')).toBe(false)
    ending(start)
    expect(circuitBreaker.isHealthy(1, 0, 'gpt-4o')).toBe(true)
  }
  fail(400)
  expect(circuitBreaker.allHealthy()).toBe(true)
})

test('a cooldown the upstream asked for is distinguished from one we chose', () => {
  const { circuitBreaker, clock, fail } = at(0)
  for (let index = 0; index < 3; index += 1) fail(500)
  expect(circuitBreaker.askedCooldownMs(place)).toBe(0)
  fail(429, { retryAfterMs: 1500 })
  clock.now = 500
  expect(circuitBreaker.askedCooldownMs(place)).toBe(1000)
  clock.now = 1500
  expect(circuitBreaker.askedCooldownMs(place)).toBe(0)
  circuitBreaker.started(place)
  expect([circuitBreaker.isHealthy(1, 0, 'gpt-4o'), circuitBreaker.askedCooldownMs(place)]).toEqual([false, 0])
})

test('what a caller sent never makes a channel rest', () => {
  const { circuitBreaker, fail } = at(0)
  for (let index = 0; index < 10; index += 1) {
    fail(400)
    fail(404)
    fail(500, { local: true })
  }
  expect(circuitBreaker.allHealthy()).toBe(true)
})

test('calls that were under way when the upstream asked for a cooldown do not end it, however they end', () => {
  for (const ending of ['succeeded', 'refused', 'overloaded', 'shorter', 'left'] as const) {
    const { circuitBreaker, clock, fail, reported } = at(0)
    const stream = circuitBreaker.started(place)
    fail(429, { retryAfterMs: 60_000 })
    clock.now = 10_000
    if (ending === 'succeeded') circuitBreaker.succeeded(place, stream)
    else if (ending === 'refused') circuitBreaker.failed(place, stream, failure(400))
    else if (ending === 'overloaded') circuitBreaker.failed(place, stream, failure(503))
    else if (ending === 'shorter') circuitBreaker.failed(place, stream, failure(429, { retryAfterMs: 2_000 }))
    else circuitBreaker.left(place, stream)
    expect(circuitBreaker.askedCooldownMs(place), ending).toBe(50_000)
    clock.now = 60_001
    expect(circuitBreaker.isHealthy(1, 0, 'gpt-4o'), ending).toBe(true)
    circuitBreaker.succeeded(place, circuitBreaker.started(place))
    expect(circuitBreaker.allHealthy(), ending).toBe(true)
    expect(reported, ending).toEqual([60_000, null])
  }
})

test('a longer cooldown that another call was asked for goes on from there, also while a probe is under way', () => {
  const { circuitBreaker, clock, fail, reported } = at(0)
  const stream = circuitBreaker.started(place)
  fail(429, { retryAfterMs: 5_000 })
  const probe = circuitBreaker.started(place)
  circuitBreaker.failed(place, stream, failure(429, { retryAfterMs: 60_000 }))
  clock.now = 5_001
  expect(circuitBreaker.isHealthy(1, 0, 'gpt-4o')).toBe(false)
  // It began before that was asked for.
  circuitBreaker.succeeded(place, probe)
  expect(circuitBreaker.askedCooldownMs(place)).toBe(54_999)
  circuitBreaker.succeeded(place, circuitBreaker.started(place))
  expect(circuitBreaker.allHealthy()).toBe(true)
  expect(reported).toEqual([5_000, 60_000, null])
})

test('a connection that opens, and a call that began during the cooldown, end it', () => {
  const { circuitBreaker, fail } = at(0)
  fail(429, { retryAfterMs: 60_000 })
  circuitBreaker.succeeded(place)
  expect(circuitBreaker.allHealthy()).toBe(true)
  fail(429, { retryAfterMs: 60_000 })
  circuitBreaker.succeeded(place, circuitBreaker.started(place))
  expect(circuitBreaker.allHealthy()).toBe(true)
})

test('calls under way that succeed still begin the count of failures anew where there is no cooldown', () => {
  const { circuitBreaker, fail } = at(0)
  const stream = circuitBreaker.started(place)
  fail(500)
  fail(500)
  circuitBreaker.succeeded(place, stream)
  fail(500)
  expect(circuitBreaker.isHealthy(1, 0, 'gpt-4o')).toBe(true)
})

test('and where one has run out', () => {
  const { circuitBreaker, clock, fail } = at(0)
  const stream = circuitBreaker.started(place)
  for (let index = 0; index < 3; index += 1) fail(500)
  clock.now = 5_001
  circuitBreaker.succeeded(place, stream)
  fail(500)
  expect(circuitBreaker.isHealthy(1, 0, 'gpt-4o')).toBe(true)
})

test('calls under way that fail too do not keep a probe from ending the cooldown', () => {
  const { circuitBreaker, clock, fail } = at(0)
  const stream = circuitBreaker.started(place)
  for (let index = 0; index < 3; index += 1) fail(500)
  clock.now = 5_001
  const probe = circuitBreaker.started(place)
  circuitBreaker.failed(place, stream, failure(500))
  expect(circuitBreaker.isHealthy(1, 0, 'gpt-4o')).toBe(false)
  circuitBreaker.succeeded(place, probe)
  expect(circuitBreaker.allHealthy()).toBe(true)
})
