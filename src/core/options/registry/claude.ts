import { z } from 'zod'
import { type OptionTable, option } from '../define.ts'
import { flag } from '../schemas.ts'

const fallbackMaxTokens = 8192

/** The entry for every model not listed is never missing. */
const maxTokensByModel = z
  .record(z.string(), z.int().min(1))
  .overwrite((value) => (Object.hasOwn(value, 'default') ? value : { default: fallbackMaxTokens, ...value }))

export const claudeOptions = {
  'claude.model_headers_settings': option(z.record(z.string(), z.record(z.string(), z.array(z.string()))), {
    default: {},
    visibility: 'admin',
    group: 'claude',
    label: 'Claude 请求头覆盖',
    help: '模型 → 请求头 → 值的列表',
    widget: 'json',
  }),
  'claude.default_max_tokens': option(maxTokensByModel, {
    default: { default: fallbackMaxTokens },
    visibility: 'admin',
    group: 'claude',
    label: '缺省 MaxTokens',
    help: 'default 用于没有单独列出的模型',
    widget: 'json',
  }),
  'claude.thinking_adapter_enabled': option(flag, {
    default: true,
    visibility: 'admin',
    group: 'claude',
    label: '启用 Claude 思考适配',
    help: '适配 -thinking 后缀',
  }),
  'claude.thinking_adapter_budget_tokens_percentage': option(z.number().min(0.1).max(1), {
    default: 0.8,
    visibility: 'admin',
    group: 'claude',
    label: '思考预算占比',
    help: '思考预算与最大输出 token 数之比，0.1 到 1',
    widget: 'percentage',
  }),
  'claude.batch_price_ratio': option(z.number().min(0).max(10), {
    default: 0.5,
    visibility: 'admin',
    group: 'claude',
    label: '批量价格倍率',
    help: '批量请求（/v1/messages/batches）与单次请求价格之比，0.5 为半价',
  }),
} satisfies OptionTable
