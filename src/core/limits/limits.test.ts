import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { admit, countSuccess } from './fixed-window.ts'
import type { Window } from './fixed-window.ts'
import { isModelRateSuccess, isTokenRateSuccess, modelRateRule, modelRateVerdict, tokenRateRule } from './rules.ts'
import type { ModelRateSettings } from './rules.ts'
import { slidingRecord, slidingVerdict } from './sliding-log.ts'

describe('the sliding log', () => {
  const rule = { limit: 2, windowMs: 1000 }

  test('refuses while the oldest of the last uses is younger than the window, and says for how long', () => {
    expect(slidingVerdict([100], rule, 200)).toEqual({ allowed: true })
    expect(slidingVerdict([100, 200], rule, 300)).toEqual({ allowed: false, retryAfterSeconds: 1 })
    expect(slidingVerdict([100, 200], { ...rule, windowMs: 60_000 }, 300)).toEqual({
      allowed: false,
      retryAfterSeconds: 60,
    })
    expect(slidingVerdict([100, 200], rule, 1100)).toEqual({ allowed: true })
  })

  test('a limit or window of 0 is none', () => {
    expect(slidingVerdict([1, 1, 1], { limit: 0, windowMs: 1000 }, 1)).toEqual({ allowed: true })
    expect(slidingVerdict([1, 1, 1], { limit: 1, windowMs: 0 }, 1)).toEqual({ allowed: true })
    expect(slidingRecord([1], { limit: 0, windowMs: 1000 }, 2)).toEqual([])
  })

  test('never accepts more than the limit within any window, and never refuses below it', () => {
    const steps = fc.array(fc.integer({ min: 0, max: 600 }), { maxLength: 60 })
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 5 }), (gaps, limit) => {
        const accepted: number[] = []
        let log: number[] = []
        let now = 0
        for (const gap of gaps) {
          now += gap
          const recent = accepted.filter((time) => time > now - 1000).length
          const verdict = slidingVerdict(log, { limit, windowMs: 1000 }, now)
          expect(verdict.allowed).toBe(recent < limit)
          if (!verdict.allowed) continue
          accepted.push(now)
          log = slidingRecord(log, { limit, windowMs: 1000 }, now)
          expect(log.length).toBeLessThanOrEqual(limit)
        }
      }),
    )
  })
})

describe('the fixed window', () => {
  const rule = { periodMs: 60_000, total: 2, success: 1 }

  test('opens with its first use and ends a period later', () => {
    const first = admit(undefined, rule, 5000)
    const second = admit(first.window, rule, 6000)
    const third = admit(second.window, rule, 35_000)
    expect([first, second, third].map(({ verdict }) => verdict.allowed)).toEqual([true, true, false])
    expect(third.verdict).toEqual({ allowed: false, retryAfterSeconds: 30 })
    expect(third.window).toEqual({ startedAt: 5000, total: 2, success: 0 })
    expect(admit(third.window, rule, 65_000)).toEqual({
      verdict: { allowed: true },
      window: { startedAt: 65_000, total: 1, success: 0 },
    })
  })

  test('refuses once the successes are used up', () => {
    const { window } = admit(undefined, rule, 0)
    const after = countSuccess(window, rule, 10)
    expect(admit(after, rule, 20).verdict.allowed).toBe(false)
    expect(admit(after, { ...rule, success: 0 }, 20).verdict.allowed).toBe(true)
  })

  test('a success after the end counts in no window', () => {
    const window: Window = { startedAt: 0, total: 1, success: 0 }
    expect(countSuccess(window, rule, 60_000)).toEqual(window)
    expect(countSuccess(undefined, rule, 5)).toBeUndefined()
  })

  test('a clock that went back does not lock anyone out', () => {
    expect(admit({ startedAt: 1_000_000, total: 9, success: 9 }, rule, 0).verdict.allowed).toBe(true)
  })
})

const settings: ModelRateSettings = {
  ModelRequestRateLimitEnabled: true,
  ModelRequestRateLimitDurationMinutes: 2,
  ModelRequestRateLimitCount: 10,
  ModelRequestRateLimitSuccessCount: 5,
  ModelRequestRateLimitGroup: { vip: [0, 100] },
  'global.rate_limit_exempt_enabled': false,
  'global.rate_limit_exempt_group': 'bulk-ok',
}

describe('the limit on model requests', () => {
  test('takes the numbers of the group, else the general ones', () => {
    expect(modelRateRule(settings, 'default')).toEqual({ minutes: 2, windowMs: 120_000, total: 10, success: 5 })
    expect(modelRateRule(settings, 'vip')).toEqual({ minutes: 2, windowMs: 120_000, total: 0, success: 100 })
    expect(modelRateRule(settings, 'constructor')).toMatchObject({ total: 10 })
    expect(modelRateRule({ ...settings, ModelRequestRateLimitCount: -1 }, 'default')).toMatchObject({ total: 0 })
  })

  test('is off when switched off, without a duration, or for the exempt group', () => {
    expect(modelRateRule({ ...settings, ModelRequestRateLimitEnabled: false }, 'default')).toBeUndefined()
    expect(modelRateRule({ ...settings, ModelRequestRateLimitDurationMinutes: 0 }, 'default')).toBeUndefined()
    const exempt = { ...settings, 'global.rate_limit_exempt_enabled': true }
    expect(modelRateRule(exempt, 'bulk-ok')).toBeUndefined()
    expect(modelRateRule(exempt, 'default')).toBeDefined()
    expect(modelRateRule(settings, 'bulk-ok')).toBeDefined()
  })

  test('says which of the two numbers was reached, all requests first', () => {
    const rule = { minutes: 1, windowMs: 60_000, total: 2, success: 1 }
    expect(modelRateVerdict({ total: [0, 1], success: [1] }, rule, 2)).toMatchObject({ allowed: false, by: 'total' })
    expect(modelRateVerdict({ total: [0], success: [1] }, rule, 2)).toMatchObject({ allowed: false, by: 'success' })
    expect(modelRateVerdict({ total: [0], success: [] }, rule, 2)).toEqual({ allowed: true })
  })
})

test('the limit of a token is off unless it is switched on and has a period', () => {
  const token = { rateLimitEnabled: true, rateLimitPeriod: 60, rateLimitCount: 1000, rateLimitSuccess: 0 }
  expect(tokenRateRule(token)).toEqual({ periodMs: 60_000, total: 1000, success: 0 })
  expect(tokenRateRule({ ...token, rateLimitEnabled: false })).toBeUndefined()
  expect(tokenRateRule({ ...token, rateLimitPeriod: 0 })).toBeUndefined()
})

test('a redirect is a success for the user’s limit but not for the token’s', () => {
  expect([200, 302, 400, 500].map(isModelRateSuccess)).toEqual([true, true, false, false])
  expect([200, 302, 400, 101].map(isTokenRateSuccess)).toEqual([true, false, false, false])
})
