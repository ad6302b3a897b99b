import { z } from 'zod'
import {
  defaultAutoGroups,
  defaultGroupGroupRatio,
  defaultGroupRatio,
  defaultPriceTables,
  defaultUserUsableGroups,
} from '#core/pricing/tables.ts'
import type { LongContextTable } from '#core/pricing/long-context.ts'
import { longContextSteps } from '#core/pricing/long-context-schema.ts'
import { type OptionTable, option } from '../define.ts'
import { checkFallbackPricing, checkGroupRatios, checkLongContext } from '../price-rules.ts'
import { figure, figures, flag, names } from '../schemas.ts'

export const priceOptions = {
  ModelPrice: option(figures, {
    default: { ...defaultPriceTables.ModelPrice },
    visibility: 'admin',
    group: 'prices',
    label: '模型固定价格',
    help: '一次调用消耗多少美元，优先级大于模型倍率',
    widget: 'price-table',
  }),
  ModelRatio: option(figures, {
    default: { ...defaultPriceTables.ModelRatio },
    visibility: 'admin',
    group: 'prices',
    label: '模型倍率',
    help: '倍率 1 等于每百万 tokens 2 美元',
    widget: 'price-table',
  }),
  CacheRatio: option(figures, {
    default: { ...defaultPriceTables.CacheRatio },
    visibility: 'admin',
    group: 'prices',
    label: '提示缓存倍率',
    widget: 'price-table',
  }),
  CreateCacheRatio: option(figures, {
    default: { ...defaultPriceTables.CreateCacheRatio },
    visibility: 'admin',
    group: 'prices',
    label: '缓存写入倍率',
    help: '写入提示缓存的输入相对普通输入的倍率，未设置时为 1.25',
    widget: 'price-table',
  }),
  LongContextRatio: option<LongContextTable>(z.record(z.string(), longContextSteps), {
    default: { ...defaultPriceTables.LongContextRatio },
    visibility: 'admin',
    group: 'prices',
    label: '长上下文倍率',
    help: '提示超过 above 个 token 时，整次调用的输入和输出各乘以多少',
    widget: 'price-table',
    check: checkLongContext,
  }),
  CompletionRatio: option(figures, {
    default: { ...defaultPriceTables.CompletionRatio },
    visibility: 'admin',
    group: 'prices',
    label: '模型补全倍率',
    help: '仅对自定义模型有效',
    widget: 'price-table',
  }),
  GroupRatio: option(z.record(z.string(), z.number()), {
    default: { ...defaultGroupRatio },
    visibility: 'admin',
    group: 'groups',
    label: '分组倍率',
    widget: 'group-ratios',
    check: checkGroupRatios,
  }),
  UserUsableGroups: option(z.record(z.string(), z.string()), {
    default: { ...defaultUserUsableGroups },
    visibility: 'admin',
    group: 'groups',
    label: '用户可选分组',
    help: '分组名称和它的描述',
    widget: 'group-names',
  }),
  GroupGroupRatio: option(z.record(z.string(), figures), {
    default: { ...defaultGroupGroupRatio },
    visibility: 'admin',
    group: 'groups',
    label: '分组特殊倍率',
    help: '用户所在分组使用另一分组时的倍率，优先于分组倍率',
    widget: 'json',
  }),
  AutoGroups: option(names, {
    default: [...defaultAutoGroups],
    visibility: 'admin',
    group: 'groups',
    label: '自动分组',
    help: '令牌分组为 auto 时依次尝试的分组，在用户可选分组中加入 auto 即可供用户选择',
    widget: 'tags',
  }),
  fallback_pricing_enabled: option(flag, {
    default: false,
    visibility: 'admin',
    group: 'fallback',
    label: '启用兜底倍率',
    help: '用于没有设置价格的模型',
  }),
  fallback_single_price: option(figure, {
    default: 0,
    visibility: 'admin',
    group: 'fallback',
    label: '兜底单次价格',
    unit: '美元',
    blank: 0,
    formCheck: checkFallbackPricing,
  }),
  fallback_input_ratio: option(figure, {
    default: 0,
    visibility: 'admin',
    group: 'fallback',
    label: '兜底输入倍率',
    blank: 0,
    formCheck: checkFallbackPricing,
  }),
  fallback_completion_ratio: option(figure, {
    default: 0,
    visibility: 'admin',
    group: 'fallback',
    label: '兜底补全倍率',
    blank: 0,
    formCheck: checkFallbackPricing,
  }),
  redirect_billing_enabled: option(flag, {
    default: false,
    visibility: 'admin',
    group: 'fallback',
    label: '按重定向前的模型计费',
  }),
} satisfies OptionTable
