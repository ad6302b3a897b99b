import type { Problem } from '#core/errors.ts'
import { areAscending, type LongContextTable } from '#core/pricing/long-context.ts'
import type { ReadOption } from './define.ts'

export function checkGroupRatios(ratios: Record<string, number>): Problem | undefined {
  const negative = Object.entries(ratios).find(([, ratio]) => ratio < 0)
  return negative && { code: 'option.group_ratio_negative', params: { group: negative[0] } }
}

/** Either one price per call, or both ratios, or nothing; 0 is "not set". */
export function checkFallbackPricing(read: ReadOption): Problem | undefined {
  const isSet = (key: string): boolean => read(key) !== 0
  const single = isSet('fallback_single_price')
  const input = isSet('fallback_input_ratio')
  const completion = isSet('fallback_completion_ratio')
  if (single ? input || completion : input !== completion) return { code: 'option.fallback_pricing' }
  return undefined
}

export function checkLongContext(table: LongContextTable): Problem | undefined {
  const unordered = Object.entries(table).find(([, steps]) => !areAscending(steps))
  return unordered && { code: 'option.long_context_order', params: { model: unordered[0] } }
}
