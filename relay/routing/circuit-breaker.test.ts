import { expect, test } from 'vitest'
import { AttemptFailed } from '#relay/attempt/failure.ts'
import { createCircuitBreaker } from './circuit-breaker.ts'

const place = { channelId: 1, key: 0, model: 'gpt-4o' }
const failure = (status: number, details: Partial<ConstructorParameters<typeof AttemptFailed>[1]> = {}) =>
  new AttemptFailed({ status, type: 'x', code: null, message: 'm' }, { local: false, ...details })

const at = (ms: number) => {
  const clock = { now: ms }
  return { clock, circuitBreaker: createCircuitBreaker(() => clock.now) }
}

test('one failure changes nothing, three in a row make a key rest for that model only', () => {
  const { circuitBreaker } = at(0)
  circuitBreaker.failed(place, failure(500))
  circuitBreaker.failed(place, failure(500))
  expect(circuitBreaker.isHealthy(1, 0, 'gpt-4o')).toBe(true)
  circuitBreaker.failed(place, failure(502))
  expect(circuitBreaker.isHealthy(1, 0, 'gpt-4o')).toBe(false)
  expect(circuitBreaker.isHealthy(1, 0, 'other')).toBe(true)
  expect(circuitBreaker.isHealthy(1, 1, 'gpt-4o')).toBe(true)
})

test('cools down as long as the upstream asks, but no longer than five minutes', () => {
  const { circuitBreaker, clock } = at(0)
  circuitBreaker.failed(place, failure(429, { retryAfterMs: 7_000 }))
  expect(circuitBreaker.isHealthy(1, 0, 'gpt-4o')).toBe(false)
  clock.now = 7_001
  expect(circuitBreaker.isHealthy(1, 0, 'gpt-4o')).toBe(true)
  circuitBreaker.failed(place, failure(429, { retryAfterMs: 9e9 }))
  clock.now += 300_001
  expect(circuitBreaker.isHealthy(1, 0, 'gpt-4o')).toBe(true)
})

test('after a cooldown one call is sent and the others wait for it; success makes it healthy, failure starts a longer cooldown', () => {
  const { circuitBreaker, clock } = at(0)
  for (let index = 0; index < 3; index += 1) circuitBreaker.failed(place, failure(500))
  clock.now = 5_001
  expect(circuitBreaker.isHealthy(1, 0, 'gpt-4o')).toBe(true)
  circuitBreaker.started(place)
  expect(circuitBreaker.isHealthy(1, 0, 'gpt-4o')).toBe(false)
  circuitBreaker.failed(place, failure(500))
  clock.now += 7_000
  expect(circuitBreaker.isHealthy(1, 0, 'gpt-4o')).toBe(false)
  clock.now += 1_001
  circuitBreaker.started(place)
  circuitBreaker.succeeded(place)
  expect(circuitBreaker.allHealthy()).toBe(true)
})

test('no cooldown without `Retry-After` lasts ten seconds, so that a key that works again is soon used', () => {
  const { circuitBreaker, clock } = at(0)
  for (let index = 0; index < 20; index += 1) {
    circuitBreaker.failed(place, failure(500))
    clock.now += 9_999
    expect(circuitBreaker.isHealthy(1, 0, 'gpt-4o')).toBe(true)
  }
})

test('a probe that ends without a word of the upstream leaves the rest as it was; any other answer ends it', () => {
  const { circuitBreaker, clock } = at(0)
  for (let index = 0; index < 3; index += 1) circuitBreaker.failed(place, failure(500))
  clock.now = 5_001
  for (const ending of [
    () => circuitBreaker.left(place),
    () => circuitBreaker.failed(place, failure(500, { local: true })),
  ]) {
    circuitBreaker.started(place)
    expect(circuitBreaker.isHealthy(1, 0, 'gpt-4o')).toBe(false)
    ending()
    expect(circuitBreaker.isHealthy(1, 0, 'gpt-4o')).toBe(true)
  }
  circuitBreaker.started(place)
  circuitBreaker.failed(place, failure(400))
  expect(circuitBreaker.allHealthy()).toBe(true)
})

test('a cooldown the upstream asked for is distinguished from one we chose', () => {
  const { circuitBreaker, clock } = at(0)
  for (let index = 0; index < 3; index += 1) circuitBreaker.failed(place, failure(500))
  expect(circuitBreaker.askedCooldownMs(place)).toBe(0)
  circuitBreaker.failed(place, failure(429, { retryAfterMs: 1500 }))
  clock.now = 500
  expect(circuitBreaker.askedCooldownMs(place)).toBe(1000)
  clock.now = 1500
  expect(circuitBreaker.askedCooldownMs(place)).toBe(0)
  circuitBreaker.started(place)
  expect([circuitBreaker.isHealthy(1, 0, 'gpt-4o'), circuitBreaker.askedCooldownMs(place)]).toEqual([false, 0])
})

test('what a caller sent never makes a channel rest', () => {
  const { circuitBreaker } = at(0)
  for (let index = 0; index < 10; index += 1) {
    circuitBreaker.failed(place, failure(400))
    circuitBreaker.failed(place, failure(404))
    circuitBreaker.failed(place, failure(500, { local: true }))
  }
  expect(circuitBreaker.allHealthy()).toBe(true)
})
