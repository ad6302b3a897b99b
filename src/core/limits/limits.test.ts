import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { admitRequest, endRequest, type LimitState, type RequestLimit } from './request-limit.ts'
import { isModelRateSuccess, isTokenRateSuccess, modelRateRule, tokenRateRule } from './rules.ts'
import type { ModelRateSettings } from './rules.ts'
import { slidingWait } from './sliding-log.ts'

/** A limit with its state and a clock. */
function counter(limit: RequestLimit) {
  let state: LimitState | undefined
  let made = 0
  return {
    ask: (now: number) => {
      made += 1
      const id = `request-${made}`
      const { verdict, state: next } = admitRequest(state, limit, { id, now })
      state = next
      const end = (succeeded: boolean, at: number) => {
        state = endRequest(state, limit, { id, admittedAt: now, succeeded, now: at })
      }
      return { ...verdict, end }
    },
    state: () => state,
  }
}

describe('the sliding log', () => {
  const rule = { limit: 2, windowMs: 1000 }

  test('refuses while the oldest of the last uses is younger than the window, and says for how long', () => {
    expect(slidingWait([100], rule, 200)).toBe(0)
    expect(slidingWait([100, 200], rule, 300)).toBe(800)
    expect(slidingWait([100, 200], { ...rule, windowMs: 60_000 }, 300)).toBe(59_800)
    expect(slidingWait([100, 200], rule, 1100)).toBe(0)
  })

  test('a limit or window of 0 is none', () => {
    expect(slidingWait([1, 1, 1], { limit: 0, windowMs: 1000 }, 1)).toBe(0)
    expect(slidingWait([1, 1, 1], { limit: 1, windowMs: 0 }, 1)).toBe(0)
  })
})

describe('a sliding limit on requests', () => {
  const sliding = (total: number, success: number): RequestLimit => ({
    shape: 'sliding',
    windowMs: 1000,
    total,
    success,
  })

  test('never accepts more than the limit within any window, and never refuses below it', () => {
    const steps = fc.array(fc.integer({ min: 0, max: 600 }), { maxLength: 60 })
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 5 }), (gaps, most) => {
        const accepted: number[] = []
        const { ask } = counter(sliding(most, 0))
        let now = 0
        for (const gap of gaps) {
          now += gap
          const recent = accepted.filter((time) => time > now - 1000).length
          const { refusedBy, retryAfterMs } = ask(now)
          expect(refusedBy).toBe(recent < most ? null : 'total')
          expect(retryAfterMs > 0).toBe(refusedBy !== null)
          if (refusedBy === null) accepted.push(now)
        }
      }),
    )
  })

  test('checks all requests before successes, and a refused one counts for neither', () => {
    const { ask } = counter(sliding(3, 2))
    ask(0)
    ask(1)
    expect([ask(2).refusedBy, ask(3).refusedBy]).toEqual(['success', 'success'])
    const both = counter(sliding(2, 2))
    both.ask(0)
    both.ask(1)
    expect(both.ask(2).refusedBy).toBe('total')
  })

  test('what is under way holds a place among the successes; what fails gives it back', () => {
    const { ask } = counter(sliding(0, 2))
    const first = ask(0)
    ask(0)
    expect(ask(0).refusedBy).toBe('success')
    first.end(false, 10)
    expect(ask(20).refusedBy).toBeNull()
    expect(ask(20).refusedBy).toBe('success')
  })

  test('a success counts from its reply on, also when that came after the window of its request', () => {
    const { ask } = counter(sliding(0, 1))
    ask(0).end(true, 1500)
    expect(ask(2400)).toMatchObject({ refusedBy: 'success', retryAfterMs: 100 })
    expect(ask(2500).refusedBy).toBeNull()
  })

  test('reports what is left and when all of it will be', () => {
    const { ask } = counter(sliding(3, 0))
    ask(0)
    expect(ask(400)).toMatchObject({ total: { limit: 3, remaining: 1, resetMs: 1000 }, success: null })
  })
})

describe('a fixed limit on requests', () => {
  const fixed = (total: number, success: number): RequestLimit => ({ shape: 'fixed', windowMs: 60_000, total, success })

  test('opens with its first request and ends a period later', () => {
    const { ask } = counter(fixed(2, 0))
    expect([ask(5000), ask(6000)].map(({ refusedBy }) => refusedBy)).toEqual([null, null])
    expect(ask(35_000)).toMatchObject({ refusedBy: 'total', retryAfterMs: 30_000 })
    expect(ask(65_000)).toMatchObject({ refusedBy: null, total: { limit: 2, remaining: 1, resetMs: 60_000 } })
  })

  test('refuses once the successes are used up, those under way included', () => {
    const { ask } = counter(fixed(0, 1))
    const first = ask(0)
    expect(ask(1).refusedBy).toBe('success')
    first.end(false, 2)
    ask(3).end(true, 4)
    expect(ask(5)).toMatchObject({ refusedBy: 'success', retryAfterMs: 59_995 })
  })

  test('a success that is known after its window counts in the one that is open then', () => {
    const { ask } = counter(fixed(0, 2))
    const slow = ask(0)
    ask(60_000).end(true, 60_001)
    slow.end(true, 60_002)
    expect(ask(60_003).refusedBy).toBe('success')
  })

  test('a clock that went back does not lock anyone out', () => {
    for (const limit of [fixed(1, 1), { ...fixed(1, 1), shape: 'sliding' as const }]) {
      const { ask } = counter(limit)
      ask(1_000_000)
      expect(ask(0).refusedBy).toBeNull()
    }
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
    expect(modelRateRule(settings, 'default')).toEqual({
      shape: 'sliding',
      minutes: 2,
      windowMs: 120_000,
      total: 10,
      success: 5,
    })
    expect(modelRateRule(settings, 'vip')).toMatchObject({ total: 0, success: 100 })
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
})

test('the limit of a token is a fixed window, and none without a period', () => {
  const limit = { periodSeconds: 60, count: 1000, success: 0 }
  expect(tokenRateRule(limit)).toEqual({ shape: 'fixed', windowMs: 60_000, total: 1000, success: 0 })
  expect(tokenRateRule({ ...limit, periodSeconds: 0 })).toBeUndefined()
})

test('a redirect is a success for the user’s limit but not for the token’s', () => {
  expect([200, 302, 400, 500].map(isModelRateSuccess)).toEqual([true, true, false, false])
  expect([200, 302, 400, 101].map(isTokenRateSuccess)).toEqual([true, false, false, false])
})
