import { z } from 'zod'
import { t } from '../../../i18n/t.ts'
import type { PriceFigures } from './rows.ts'

/** What is typed and no number is `NaN`. */
const typedFigure = z.union([z.number(), z.nan(), z.null()])

const fields = z.object({
  model: z.string().trim().min(1),
  kind: z.enum(['tokens', 'call']),
  unit: z.enum(['ratio', 'price']),
  ratio: typedFigure,
  completionRatio: typedFigure,
  cacheRatio: typedFigure,
  input: typedFigure,
  output: typedFigure,
  cached: typedFigure,
  price: typedFigure,
  listed: z.custom<PriceFigures['listed']>().optional(),
})
export type PriceValues = z.input<typeof fields>

/** The figures that are on screen, of which the first is needed: what was typed in the others must not stop a save. */
const shownFigures = ({ kind, unit }: Pick<PriceValues, 'kind' | 'unit'>) => {
  if (kind === 'call') return ['price'] as const
  return unit === 'ratio'
    ? (['ratio', 'completionRatio', 'cacheRatio'] as const)
    : (['input', 'output', 'cached'] as const)
}

/** The price of one model, with the names that a new one may not take. */
export const priceForm = (taken: readonly string[]) =>
  fields.superRefine((values, context) => {
    const refuse = (path: keyof PriceValues, message: string) =>
      context.addIssue({ code: 'custom', path: [path], message })
    if (taken.includes(values.model)) refuse('model', t('模型名称已存在'))
    const [first, ...further] = shownFigures(values)
    if (values[first] === null) refuse(first, t('请输入数字'))
    else if (first === 'input' && values.input === 0) refuse('input', t('模型价格不能为0'))
    for (const path of [first, ...further])
      if (values[path] !== null && !(values[path] >= 0))
        refuse(path, Number.isNaN(values[path]) ? t('请输入数字') : t('请输入有效的数字'))
  })

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
