import { z } from 'zod'
import { t } from '../../../i18n/t.ts'

const figure = z.number().min(0).nullable()

const fields = z.object({
  model: z.string().trim().min(1),
  kind: z.enum(['tokens', 'call']),
  unit: z.enum(['ratio', 'price']),
  ratio: figure,
  completionRatio: figure,
  cacheRatio: figure,
  input: figure,
  output: figure,
  cached: figure,
  price: figure,
})
export type PriceValues = z.input<typeof fields>

/** The price of one model, with the names that a new one may not take. */
export const priceForm = (taken: readonly string[]) =>
  fields.superRefine((values, context) => {
    const refuse = (path: keyof PriceValues, message: string) =>
      context.addIssue({ code: 'custom', path: [path], message })
    if (taken.includes(values.model)) refuse('model', t('模型名称已存在'))
    if (values.kind === 'call') {
      if (values.price === null) refuse('price', t('请输入数字'))
    } else if (values.unit === 'ratio') {
      if (values.ratio === null) refuse('ratio', t('请输入数字'))
    } else if (values.input === null) refuse('input', t('请输入数字'))
    else if (values.input === 0) refuse('input', t('模型价格不能为0'))
  })

/** What is typed and no number is `NaN`. */
const typedFigure = z.union([z.number(), z.nan(), z.null()])

/** One price for several models. */
export const batchForm = z
  .object({
    mode: z.enum(['price', 'ratio', 'both']),
    price: typedFigure,
    ratio: typedFigure,
    completionRatio: typedFigure,
  })
  .superRefine(({ mode, price, ratio, completionRatio }, context) => {
    const refuse = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message })
    const shown = mode === 'price' ? { price } : mode === 'ratio' ? { ratio } : { ratio, completionRatio }
    for (const [path, value] of Object.entries(shown))
      if (value !== null && !(value >= 0)) refuse(path, t('请输入有效的数字'))
    if (mode === 'price' && price === null) refuse('price', t('请输入填充值'))
    if (mode === 'ratio' && ratio === null) refuse('ratio', t('请输入填充值'))
    if (mode === 'both') {
      if (ratio === null) refuse('ratio', t('请输入模型倍率和补全倍率'))
      if (completionRatio === null) refuse('completionRatio', t('请输入模型倍率和补全倍率'))
    }
  })

/** The models that one price is for: none is an order that makes no sense. */
export function chosenModels(models: readonly string[] | undefined): readonly string[] {
  if (!models || models.length === 0) throw new Error(t('请先选择需要批量设置的模型'))
  return models
}
