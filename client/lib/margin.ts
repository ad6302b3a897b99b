import { nanosPerDollar } from '#core/pricing/buying-price.ts'
import { currentStatus } from './status.ts'
import { formatPercent, priceText } from './format.ts'

/** Billionths of a dollar, as they are booked. */
export const costText = (cost: number): string => priceText(cost / nanosPerDollar)

type Costed = { costedQuota: number; cost: number }

export const revenueOf = ({ costedQuota }: Pick<Costed, 'costedQuota'>): number =>
  costedQuota / currentStatus().quotaPerUnit

/** In dollars, of what is known to have cost something. */
export const marginOf = (costed: Costed): number => revenueOf(costed) - costed.cost / nanosPerDollar

/** `$1.20 (37.5%)`; the share is left out where nothing was earned. */
export function marginText(costed: Costed): string {
  const margin = marginOf(costed)
  const revenue = revenueOf(costed)
  return revenue === 0 ? priceText(margin) : `${priceText(margin)} (${formatPercent(margin / revenue)})`
}
