import { ratioToDollars } from '#core/pricing/prices.ts'
import { t } from '../../../i18n/t.ts'

/** What a ratio is in money. */
export const ratioWords = (quotaPerUnit: number): string =>
  t('倍率 1 等于每百万 tokens {dollars} 美元', { dollars: ratioToDollars(1, quotaPerUnit) })
