import { z } from 'zod'
import { type OptionTable, option } from '../define.ts'
import { count, flag } from '../schemas.ts'

const totalLimit = z.int().min(-1)
const successLimit = z.int().min(1)

export const rateLimitOptions = {
  ModelRequestRateLimitEnabled: option(flag, {
    default: false,
    visibility: 'admin',
    group: 'rate-limit',
    label: '启用用户模型请求速率限制',
  }),
  ModelRequestRateLimitDurationMinutes: option(count, {
    default: 1,
    visibility: 'admin',
    group: 'rate-limit',
    label: '限制周期',
    unit: '分钟',
  }),
  ModelRequestRateLimitCount: option(totalLimit, {
    default: 0,
    visibility: 'admin',
    group: 'rate-limit',
    label: '用户每周期最多请求次数',
    help: '包括失败的请求，0 表示不限制',
    unit: '次',
  }),
  ModelRequestRateLimitSuccessCount: option(successLimit, {
    default: 1000,
    visibility: 'admin',
    group: 'rate-limit',
    label: '用户每周期最多请求完成次数',
    help: '只包括成功的请求',
    unit: '次',
  }),
  ModelRequestRateLimitGroup: option(z.record(z.string(), z.tuple([totalLimit, successLimit])), {
    default: {},
    visibility: 'admin',
    group: 'rate-limit',
    label: '分组速率限制',
    help: '各分组自己的这两个次数，优先于以上两个次数；JSON 中为分组名称 → [最多请求次数, 最多请求完成次数]',
    widget: 'json',
  }),
} satisfies OptionTable
