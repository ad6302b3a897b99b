import { z } from 'zod'
import { anyId, anyWord } from '#core/filter-values.ts'
import { instant } from '#core/instant.ts'
import { timeZone } from '#core/time-zone.ts'

/** Both included; what is drawn by the hour begins with the hour that holds `start`. */
const range = z.object({ start: instant(), end: instant() })

const ownFilters = z.object({
  tokenId: anyId,
  modelName: anyWord,
  group: anyWord,
  /** As agents and programs name them: figures are then summed up from the rows of the log. */
  session: z.string().max(255).default(''),
  agent: anyWord,
  project: anyWord,
})
const filters = ownFilters.extend({
  username: anyWord,
  userId: anyId,
  channelId: anyId,
  channelName: anyWord,
})

const intervals = ['hour', 'day', 'week'] as const

const series = range.extend({
  interval: z.enum(intervals).default('hour'),
  /** Where a day begins. */
  timeZone: timeZone().default('UTC'),
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
