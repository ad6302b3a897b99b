import { expect, test } from 'vitest'
import { AttemptFailed } from '#relay/attempt/failure.ts'
import { createHealth } from './circuit-breaker.ts'

const place = { channelId: 1, key: 0, model: 'gpt-4o' }
const failure = (status: number, details: Partial<ConstructorParameters<typeof AttemptFailed>[1]> = {}) =>
  new AttemptFailed({ status, type: 'x', code: null, message: 'm' }, { local: false, ...details })

const at = (ms: number) => {
  const clock = { now: ms }
  return { clock, health: createHealth(() => clock.now) }
}

test('one failure changes nothing, three in a row make a key rest for that model only', () => {
  const { health } = at(0)
  health.failed(place, failure(500))
  health.failed(place, failure(500))
  expect(health.isHealthy(1, 0, 'gpt-4o')).toBe(true)
  health.failed(place, failure(502))
  expect(health.isHealthy(1, 0, 'gpt-4o')).toBe(false)
  expect(health.isHealthy(1, 0, 'other')).toBe(true)
  expect(health.isHealthy(1, 1, 'gpt-4o')).toBe(true)
})

test('rests as long as the upstream asks, but no longer than five minutes', () => {
  const { health, clock } = at(0)
  health.failed(place, failure(429, { retryAfterMs: 7_000 }))
  expect(health.isHealthy(1, 0, 'gpt-4o')).toBe(false)
  clock.now = 7_001
  expect(health.isHealthy(1, 0, 'gpt-4o')).toBe(true)
  health.failed(place, failure(429, { retryAfterMs: 9e9 }))
  clock.now += 300_001
  expect(health.isHealthy(1, 0, 'gpt-4o')).toBe(true)
})

test('after a rest one call tries and the others wait for it; success makes it healthy, failure lets it rest longer', () => {
  const { health, clock } = at(0)
  for (let index = 0; index < 3; index += 1) health.failed(place, failure(500))
  clock.now = 5_001
  expect(health.isHealthy(1, 0, 'gpt-4o')).toBe(true)
  health.started(place)
  expect(health.isHealthy(1, 0, 'gpt-4o')).toBe(false)
  health.failed(place, failure(500))
  clock.now += 7_000
  expect(health.isHealthy(1, 0, 'gpt-4o')).toBe(false)
  clock.now += 1_001
  health.started(place)
  health.succeeded(place)
  expect(health.allHealthy).toBe(true)
})

test('no rest that nobody asked for lasts ten seconds, so what is well again is soon found out', () => {
  const { health, clock } = at(0)
  for (let index = 0; index < 20; index += 1) {
    health.failed(place, failure(500))
    clock.now += 9_999
    expect(health.isHealthy(1, 0, 'gpt-4o')).toBe(true)
  }
})

test('a probe that ends without a word of the upstream leaves the rest as it was; any other answer ends it', () => {
  const { health, clock } = at(0)
  for (let index = 0; index < 3; index += 1) health.failed(place, failure(500))
  clock.now = 5_001
  for (const ending of [() => health.left(place), () => health.failed(place, failure(500, { local: true }))]) {
    health.started(place)
    expect(health.isHealthy(1, 0, 'gpt-4o')).toBe(false)
    ending()
    expect(health.isHealthy(1, 0, 'gpt-4o')).toBe(true)
  }
  health.started(place)
  health.failed(place, failure(400))
  expect(health.allHealthy).toBe(true)
})

test('a rest the upstream asked for is told apart from one we chose', () => {
  const { health, clock } = at(0)
  for (let index = 0; index < 3; index += 1) health.failed(place, failure(500))
  expect(health.askedRestMs(place)).toBe(0)
  health.failed(place, failure(429, { retryAfterMs: 1500 }))
  clock.now = 500
  expect(health.askedRestMs(place)).toBe(1000)
  clock.now = 1500
  expect(health.askedRestMs(place)).toBe(0)
  health.started(place)
  expect([health.isHealthy(1, 0, 'gpt-4o'), health.askedRestMs(place)]).toEqual([false, 0])
})

test('what a caller sent never makes a channel rest', () => {
  const { health } = at(0)
  for (let index = 0; index < 10; index += 1) {
    health.failed(place, failure(400))
    health.failed(place, failure(404))
    health.failed(place, failure(500, { local: true }))
  }
  expect(health.allHealthy).toBe(true)
})
