import { totalTokens } from '../usage.ts'
import type { Usage } from '../usage.ts'
import { formulaFor } from './charge.ts'
import type { Price } from './price.ts'
import type { ImageReceipt, UsageReceipt } from './receipt.ts'
import { figureOf, imageQualityRatio, imageSizeRatio } from './tables.ts'
import { listedImageDollars } from './tools.ts'

export type ImageCall = {
  /** The priced name. */
  model: string
  size: string
  quality: string
  count: number
  price: Price
  groupRatio: number
  quotaPerUnit: number
  pricedModel?: string | undefined
  /** What the upstream reported, where it did. */
  usage?: Usage | undefined
}

const isDallE = (model: string): boolean => model.startsWith('dall-e')
const isGptImage = (model: string): boolean => model.startsWith('gpt-image')
const largeSizes = ['1024x1792', '1792x1024']

/** What an image call is charged by: reported tokens for gpt-image models, else a price per image. */
export function imageReceipt(call: ImageCall): ImageReceipt | UsageReceipt {
  const { price, groupRatio, quotaPerUnit, pricedModel, usage } = call
  if (isGptImage(call.model) && price.kind === 'ratio') {
    if (usage !== undefined && totalTokens(usage) > 0) {
      const formula = formulaFor({ claude: false, realtime: false, usage })
      return { formula, usage, price, groupRatio, quotaPerUnit, pricedModel }
    }
    return perImage(call, gptImagePrice(price, call))
  }
  return perImage(call, price)
}

const perImage = (call: ImageCall, price: Price): ImageReceipt => ({
  formula: 'image',
  count: call.count,
  size: call.size,
  quality: call.quality,
  sizeRatio: isDallE(call.model) ? (figureOf(imageSizeRatio, call.size) ?? 1) : 1,
  qualityRatio: qualityRatioOf(call),
  price,
  groupRatio: call.groupRatio,
  quotaPerUnit: call.quotaPerUnit,
  pricedModel: call.pricedModel,
})

function qualityRatioOf({ model, size, quality }: ImageCall): number {
  if (model !== 'dall-e-3' || quality !== 'hd') return 1
  const ratios = imageQualityRatio['dall-e-3']
  return (largeSizes.includes(size) ? ratios?.['hd_1024x1792_or_1792x1024'] : ratios?.['hd']) ?? 1
}

/** Of an image whose tokens nobody reported. */
function gptImagePrice(price: Price, call: ImageCall): Price {
  if (price.kind === 'call' || price.modelRatio === 0) return price
  return { kind: 'call', modelPrice: listedImageDollars(call), source: 'default' }
}
