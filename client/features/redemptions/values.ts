import { defaultQuotaPerUnit } from '#core/quota.ts'
import { quotaText } from '../../lib/format.ts'

/** What a new code is made with until its maker says otherwise. */
export const newRedemption = {
  name: '',
  quota: defaultQuotaPerUnit / 5,
  count: 1,
  isGift: false,
  maxUses: -1,
  validFrom: null,
  validUntil: null,
  key: '',
}

/** Dollars. */
export const quotaPresets = [1, 10, 50, 100, 500, 1000] as const

/** Codes without a name are called what they are worth. */
export const nameOf = ({ name, quota }: { name: string; quota: number }): string =>
  name || quotaText(quota).slice(0, 20)
