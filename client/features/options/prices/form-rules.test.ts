import { expect, test } from 'vitest'
import type { z } from 'zod'
import { batchForm, chosenModels, priceForm, type PriceValues } from './form-rules.ts'
import { blankFigures } from './rows.ts'

const blank: PriceValues = { model: 'gpt-4o', ...blankFigures }

const complaints = (schema: z.ZodType, values: object): Record<string, string> =>
  Object.fromEntries((schema.safeParse(values).error?.issues ?? []).map((issue) => [issue.path[0], issue.message]))

test.each<[Partial<PriceValues>, Record<string, string>]>([
  [{}, { input: '请输入数字' }],
  [{ input: 0 }, { input: '模型价格不能为0' }],
  [{ input: 3 }, {}],
  [
    { input: Number.NaN, output: Number.NaN },
    { input: '请输入数字', output: '请输入数字' },
  ],
  [{ input: -3 }, { input: '请输入有效的数字' }],
  [{ unit: 'ratio' }, { ratio: '请输入数字' }],
  [{ unit: 'ratio', ratio: 0 }, {}],
  [{ kind: 'call' }, { price: '请输入数字' }],
  [{ kind: 'call', price: 0.1 }, {}],
  [{ model: 'taken', input: 3 }, { model: '模型名称已存在' }],
])('the price %j is answered with %j', (values, messages) => {
  expect(complaints(priceForm(['taken']), { ...blank, ...values })).toEqual(messages)
})

test.each<[object, Record<string, string>]>([
  [{ mode: 'price' }, { price: '请输入填充值' }],
  [{ mode: 'ratio' }, { ratio: '请输入填充值' }],
  [{ mode: 'both' }, { ratio: '请输入模型倍率和补全倍率', completionRatio: '请输入模型倍率和补全倍率' }],
  [{ mode: 'both', ratio: 1 }, { completionRatio: '请输入模型倍率和补全倍率' }],
  [{ mode: 'price', price: Number.NaN }, { price: '请输入有效的数字' }],
  [{ mode: 'ratio', ratio: -1 }, { ratio: '请输入有效的数字' }],
  [{ mode: 'both', ratio: 1, completionRatio: 4 }, {}],
])('one price for several models, %j, is answered with %j', (values, messages) => {
  expect(complaints(batchForm, { price: null, ratio: null, completionRatio: null, ...values })).toEqual(messages)
})

test('one price for several models is for one at least', () => {
  expect(() => chosenModels(undefined)).toThrow('请先选择需要批量设置的模型')
  expect(() => chosenModels([])).toThrow('请先选择需要批量设置的模型')
  expect(chosenModels(['gpt-4o'])).toEqual(['gpt-4o'])
})
