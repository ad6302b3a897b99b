import { formatQuota } from '#core/quota.ts'
import type { Services } from '#features/deps.ts'

/** An amount as log rows write it, exact to the unit. */
export const shownQuota = ({ options }: Pick<Services, 'options'>, quota: number): string =>
  formatQuota(quota, {
    quotaPerUnit: options.get('QuotaPerUnit'),
    inCurrency: options.get('DisplayInCurrencyEnabled'),
    digits: 6,
  })
