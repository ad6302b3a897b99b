import { quotaOfReceipt } from '#core/pricing/charge.ts'
import { receipt } from '#core/pricing/receipt.ts'
import type { LogView } from './view.ts'

/**
 * Clients of the documented paths compute from a row what it cost, each by the arithmetic that it knows: what a row says there has to
 * give the charge by it.
 */

/** Of Claude's calls the input without what was read from the cache and written to it, which is added by its own ratios. */
export function clientPromptTokens({ promptTokens, other }: Pick<LogView, 'promptTokens' | 'other'>): number {
  if (other?.['claude'] !== true) return promptTokens
  return Math.max(0, promptTokens - figure(other['cache_tokens']) - figure(other['cache_creation_tokens']))
}

/** Of images the dollars of the whole call, however it is priced: sizes, qualities and numbers are no part of that arithmetic. */
export function clientOther(other: LogView['other']): LogView['other'] {
  const stored = other?.['receipt'] as { formula?: unknown } | undefined
  if (stored?.formula !== 'image') return other
  const read = receipt.safeParse(stored)
  if (!read.success) return other
  return { ...other, model_price: quotaOfReceipt({ ...read.data, groupRatio: 1 }) / read.data.quotaPerUnit }
}

const figure = (value: unknown): number => (typeof value === 'number' ? value : 0)
