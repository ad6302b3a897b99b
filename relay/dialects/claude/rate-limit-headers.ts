import type { Standing } from '#core/limits/request-limit.ts'

export const claudeRateLimitHeaders = ({ limit, remaining, resetMs }: Standing, now: Date): Record<string, string> => ({
  'anthropic-ratelimit-requests-limit': String(limit),
  'anthropic-ratelimit-requests-remaining': String(remaining),
  'anthropic-ratelimit-requests-reset': new Date(now.getTime() + resetMs).toISOString().replace(/\.\d+Z$/, 'Z'),
})
