import type { WindowRule } from './fixed-window.ts'
import { allowed, slidingVerdict } from './sliding-log.ts'
import type { Verdict } from './sliding-log.ts'

/** The options of the limit on a user's model requests, by their documented keys. */
export type ModelRateSettings = {
  ModelRequestRateLimitEnabled: boolean
  ModelRequestRateLimitDurationMinutes: number
  ModelRequestRateLimitCount: number
  ModelRequestRateLimitSuccessCount: number
  /** Group → [total, success] instead of the two numbers above. */
  ModelRequestRateLimitGroup: Readonly<Record<string, readonly [number, number]>>
  'global.rate_limit_exempt_enabled': boolean
  'global.rate_limit_exempt_group': string
}

/** `total` counts every request, `success` those answered below 400; 0 is no limit. */
export type ModelRateRule = { minutes: number; windowMs: number; total: number; success: number }

const millisecondsPerMinute = 60_000

/** The limit on a user's requests in the group they run in; undefined where there is none. */
export function modelRateRule(settings: ModelRateSettings, usedGroup: string): ModelRateRule | undefined {
  const minutes = settings.ModelRequestRateLimitDurationMinutes
  if (!settings.ModelRequestRateLimitEnabled || minutes <= 0) return undefined
  if (settings['global.rate_limit_exempt_enabled'] && settings['global.rate_limit_exempt_group'] === usedGroup) {
    return undefined
  }
  const groups = settings.ModelRequestRateLimitGroup
  const own = Object.hasOwn(groups, usedGroup) ? groups[usedGroup] : undefined
  const [total, success] = own ?? [settings.ModelRequestRateLimitCount, settings.ModelRequestRateLimitSuccessCount]
  return {
    minutes,
    windowMs: minutes * millisecondsPerMinute,
    total: Math.max(0, total),
    success: Math.max(0, success),
  }
}

export type ModelRateVerdict = Verdict & { by?: 'total' | 'success' }

/** First the check of all requests, then that of the successful ones. `logs` hold instants, oldest first. */
export function modelRateVerdict(
  logs: { total: readonly number[]; success: readonly number[] },
  rule: ModelRateRule,
  now: number,
): ModelRateVerdict {
  for (const by of ['total', 'success'] as const) {
    const verdict = slidingVerdict(logs[by], { limit: rule[by], windowMs: rule.windowMs }, now)
    if (!verdict.allowed) return { ...verdict, by }
  }
  return allowed
}

/** The limit of an access token; undefined where it is off. */
export function tokenRateRule(token: {
  rateLimitEnabled: boolean
  rateLimitPeriod: number
  rateLimitCount: number
  rateLimitSuccess: number
}): WindowRule | undefined {
  if (!token.rateLimitEnabled || token.rateLimitPeriod <= 0) return undefined
  return {
    periodMs: token.rateLimitPeriod * 1000,
    total: Math.max(0, token.rateLimitCount),
    success: Math.max(0, token.rateLimitSuccess),
  }
}

/** What each of the two limits takes for a success. */
export const isModelRateSuccess = (status: number): boolean => status < 400
export const isTokenRateSuccess = (status: number): boolean => status >= 200 && status < 300
