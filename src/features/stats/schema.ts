import { z } from 'zod'

const id = z.int().min(0).max(2_147_483_647)

const isTimeZone = (name: string): boolean => {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

/** Whole hours: the one that holds `start` to the one that holds `end`. */
const range = z.object({ start: z.date(), end: z.date() })

const ownFilters = z.object({
  tokenId: id.default(0),
  modelName: z.string().max(255).default(''),
  group: z.string().max(255).default(''),
})
const filters = ownFilters.extend({
  username: z.string().max(255).default(''),
  userId: id.default(0),
  channelId: id.default(0),
})

const intervals = ['hour', 'day', 'week'] as const

const series = range.extend({
  interval: z.enum(intervals).default('hour'),
  /** Where a day begins. */
  timeZone: z.string().max(64).refine(isTimeZone).default('UTC'),
})

export const ownOverview = range.extend(ownFilters.shape)
export const overview = range.extend(filters.shape)
export const ownSeries = series.extend(ownFilters.shape)
export const modelSeries = series.extend(filters.shape)
export const ownLive = ownFilters
export const live = filters
export type OwnFilters = z.infer<typeof ownFilters>
export type Filters = z.infer<typeof filters>
export type Range = z.infer<typeof range>
export type Series = z.infer<typeof series>

export const ownUsage = range
export const usage = range.extend({ username: z.string().max(255).default('') })
export type UsageInput = z.infer<typeof usage>
