import type { RequestLimit } from './request-limit.ts'

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

/** `minutes` is the window as the operator wrote it. */
export type ModelRateRule = RequestLimit & { minutes: number }

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
    shape: 'sliding',
    windowMs: minutes * millisecondsPerMinute,
    total: Math.max(0, total),
    success: Math.max(0, success),
  }
}

/** The limit of an access token; undefined where it has no period. */
export function tokenRateRule(limit: {
  periodSeconds: number
  count: number
  success: number
}): RequestLimit | undefined {
  if (limit.periodSeconds <= 0) return undefined
  return {
    shape: 'fixed',
    windowMs: limit.periodSeconds * 1000,
    total: Math.max(0, limit.count),
    success: Math.max(0, limit.success),
  }
}

/** What each of the two limits takes for a success. */
export const isModelRateSuccess = (status: number): boolean => status < 400
export const isTokenRateSuccess = (status: number): boolean => status >= 200 && status < 300
