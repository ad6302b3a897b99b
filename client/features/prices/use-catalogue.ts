import { notify } from '../../components/notify.ts'
import { t } from '../../i18n/t.ts'
import { cataloguePrices } from '../../lib/catalogue-prices.ts'
import { useStatus } from '../../lib/status.ts'
import { type Draft, draftOf, type PriceRow } from './drafts.ts'

/** List prices of the public catalogue as drafts, for those models that it knows. */
export function useCatalogue() {
  const { quotaPerUnit } = useStatus()
  return async (rows: readonly PriceRow[]): Promise<{ row: PriceRow; draft: Draft }[]> => {
    try {
      const answers = await cataloguePrices(rows.map(({ model }) => model))
      const found = new Map(answers.map(({ model, price }) => [model, price]))
      const drafts = rows.flatMap((row) => {
        const listed = found.get(row.model)
        if (!listed) return []
        const price = {
          ...row.price,
          modelPrice: null,
          modelRatio: listed.modelRatio,
          completionRatio: listed.completionRatio,
          cacheRatio: listed.cacheRatio ?? 1,
          cacheWriteRatio: listed.cacheWriteRatio ?? 1.25,
          longContext: listed.longContext ?? [],
        } as NonNullable<PriceRow['price']>
        return [{ row, draft: draftOf({ price }, quotaPerUnit) }]
      })
      if (drafts.length === 0) notify.warning(t('价格目录中没有这些模型，请自行填写'))
      else if (drafts.length < rows.length)
        notify.info(t('目录中没有其余 {count} 个模型，它们保持不变。', { count: rows.length - drafts.length }))
      return drafts
    } catch (error) {
      notify.error(error, t('获取预设倍率失败，请重试'))
      return []
    }
  }
}
