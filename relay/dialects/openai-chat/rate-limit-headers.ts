import type { Standing } from '#core/limits/request-limit.ts'

export const openAiRateLimitHeaders = ({ limit, remaining, resetMs }: Standing): Record<string, string> => ({
  'x-ratelimit-limit-requests': String(limit),
  'x-ratelimit-remaining-requests': String(remaining),
  'x-ratelimit-reset-requests': `${Math.ceil(resetMs / 1000)}s`,
})
