import { defaultQuotaPerUnit } from '#core/quota.ts'

/** A balance below this is warned of, in units of quota, until its owner chooses another. */
export const usualThreshold = defaultQuotaPerUnit

/** Dollars. */
export const thresholdPresets = [0.2, 1, 5, 10] as const
