import { z } from 'zod'
import { instant } from '#core/instant.ts'
import { buyingPrices } from '#core/pricing/buying-price.ts'
import { priceChange } from '#core/pricing/price-changes.ts'

const id = z.int().min(1).max(2_147_483_647)

export const channelOf = z.object({ channelId: id })
export type ChannelOf = z.infer<typeof channelOf>

export const channelsOf = z.object({ channelIds: z.array(id).max(10_000) })
export type ChannelsOf = z.infer<typeof channelsOf>

export const setBuyingPrices = z.object({
  channelId: id,
  prices: buyingPrices,
  /** The list where the change began: nothing is set where somebody else has changed it since. */
  expected: buyingPrices.optional(),
})
export type SetBuyingPrices = z.infer<typeof setBuyingPrices>

const mostDays = 31
const filled = (change: z.infer<typeof priceChange>): boolean =>
  change.prices.length > 0 || Object.keys(change.groupRatios).length > 0

export const rehearse = z.object({
  change: priceChange.refine(filled),
  days: z.int().min(1).max(mostDays).default(7),
})
export type Rehearse = z.infer<typeof rehearse>

export const schedule = z.object({
  change: priceChange.refine(filled),
  effectiveAt: instant(),
  note: z.string().trim().max(500).default(''),
})
export type Schedule = z.infer<typeof schedule>

export const oneChange = z.object({ id })
export type OneChange = z.infer<typeof oneChange>
