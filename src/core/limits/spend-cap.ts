import { z } from 'zod'
import { refusal } from '../refusal.ts'
import { currentZone, timeZone } from '../time-zone.ts'

/** Lengths of a rolling window. */
export const rollingSeconds = [3600, 18_000, 43_200, 86_400, 604_800, 2_592_000] as const
export const calendarPeriods = ['day', 'week', 'month'] as const
export const mostCaps = 10
/** Of a plan. */
export const mostWindows = 5

export const capAmount = z
  .int(refusal('spend_cap.amount_invalid'))
  .min(0, refusal('spend_cap.amount_invalid'))
  .max(1e15, refusal('spend_cap.amount_invalid'))

/** At most so much within a window: a rolling one of a length, or a calendar one that begins at midnight of a zone. */
export const spendCap = z
  .object({
    period: z.enum(['rolling', ...calendarPeriods]),
    /** Of a rolling window. */
    seconds: z.int().default(0),
    /** IANA name; of a calendar window. */
    zone: timeZone(refusal('spend_cap.zone_unknown')).default('UTC'),
    amount: capAmount,
    /** Empty: every model. A name that ends in `*` covers all that begin like it. */
    models: z.array(z.string().trim().min(1).max(255)).max(100).default([]),
  })
  .refine(
    ({ period, seconds }) => period !== 'rolling' || (rollingSeconds as readonly number[]).includes(seconds),
    refusal('spend_cap.window_invalid'),
  )
  .transform((cap) => ({
    ...cap,
    seconds: cap.period === 'rolling' ? cap.seconds : 0,
    zone: cap.period === 'rolling' ? 'UTC' : cap.zone,
    models: [...new Set(cap.models)].toSorted(),
  }))
export type SpendCapInput = z.infer<typeof spendCap>

/** What makes two caps the same one, whatever their amounts and by whichever name their zone stands. */
export const windowKey = (cap: Pick<SpendCapInput, 'period' | 'seconds' | 'zone' | 'models'>): string =>
  JSON.stringify([cap.period, cap.seconds, currentZone(cap.zone), cap.models])

export const spendCaps = z
  .array(spendCap)
  .max(mostCaps, refusal('spend_cap.too_many'))
  .refine((caps) => new Set(caps.map(windowKey)).size === caps.length, refusal('spend_cap.repeated'))
