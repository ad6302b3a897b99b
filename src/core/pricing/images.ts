import { totalTokens } from '../usage.ts'
import type { Usage } from '../usage.ts'
import { formulaFor } from './charge.ts'
import type { Price, RatioPrice } from './price.ts'
import type { ImageReceipt, UsageReceipt } from './receipt.ts'
import { bareName, figureOf, imageQualityRatio, imageSizeRatio } from './tables.ts'
import { drawingRatio, roundedDollars, untoldImageDollars } from './tools.ts'

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
const isGemini = (model: string): boolean => bareName(model).startsWith('gemini')
/** Their vendors sell images by the token. */
const isSoldByTokens = (model: string): boolean => isGemini(model) || bareName(model).startsWith('gpt-image')
const largeSizes = ['1024x1792', '1792x1024']
/** What an image of Gemini's usually comes to. */
const geminiImageTokens = 1290

/** What an image call is charged by: reported tokens where the vendor sells those, else a price per image. */
export function imageReceipt(call: ImageCall): ImageReceipt | UsageReceipt {
  const { price, groupRatio, quotaPerUnit, pricedModel } = call
  if (!isSoldByTokens(call.model) || price.kind === 'call') return perImage(call, price)
  if (call.usage === undefined || totalTokens(call.usage) === 0) return perImage(call, untoldPrice(price, call))
  const usage = withImages(call.usage, price)
  const formula = formulaFor({ claude: false, realtime: false, usage })
  return { formula, usage, price, groupRatio, quotaPerUnit, pricedModel }
}

/** Where images have a price of their own and nothing says how much of the output they are, they are all of it. */
const withImages = (usage: Usage, { imageOutputRatio }: RatioPrice): Usage =>
  imageOutputRatio === undefined || usage.imageOutputTokens > 0
    ? usage
    : { ...usage, imageOutputTokens: usage.completionTokens - usage.audioOutputTokens }

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
function untoldPrice(price: RatioPrice, call: ImageCall): Price {
  if (price.modelRatio === 0) return price
  const modelPrice = isGemini(call.model)
    ? roundedDollars((geminiImageTokens * price.modelRatio * drawingRatio(price)) / call.quotaPerUnit)
    : untoldImageDollars(call, price)
  return { kind: 'call', modelPrice, source: 'default' }
}
