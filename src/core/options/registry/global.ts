import { z } from 'zod'
import { type CapabilityTable, capabilityTable } from '#core/models/parameters.ts'
import { type OptionTable, option } from '../define.ts'
import { checkModelMapping, modelMapping } from '../model-mapping.ts'
import { flag, singleLine } from '../schemas.ts'
import { checkStatusCodes } from '../status-codes.ts'

export const globalOptions = {
  ModelCapabilities: option<CapabilityTable>(capabilityTable, {
    default: {},
    visibility: 'admin',
    group: 'global',
    label: '模型能力',
    help: '操练场按此显示参数和限制，覆盖内置的数据；模型名可以 * 结尾。字段：sampling（both、one、none）、penalties、seed、efforts、reasoning、tools、images、maxOutput、context',
    widget: 'json',
  }),
  'global.pass_through_request_enabled': option(flag, {
    default: false,
    visibility: 'admin',
    group: 'global',
    label: '启用请求透传',
    help: '全部请求体除模型名外原样转发；地址和请求头仍由渠道生成，参数覆盖和系统提示词不起作用',
  }),
  'global.hide_upstream_error_enabled': option(flag, {
    default: false,
    visibility: 'admin',
    group: 'global',
    label: '隐藏上游错误信息',
  }),
  'global.block_browser_extension_enabled': option(flag, {
    default: false,
    visibility: 'admin',
    group: 'global',
    label: '拦截浏览器扩展的请求',
  }),
  'global.finish_after_hangup_enabled': option(flag, {
    default: false,
    visibility: 'admin',
    group: 'global',
    label: '调用者断开后继续读取上游',
    help: '开启后读完整个回答并按其计费，关闭则立即中止上游请求，按已交付的内容计费',
  }),
  'global.stored_responses_days': option(z.int().min(0).max(3650), {
    default: 30,
    visibility: 'admin',
    group: 'global',
    label: '网关保存响应的天数',
    help: '上游不保存 Responses 接口的响应时由网关加密保存，供后续请求引用；调用者可用 store: false 拒绝，0 表示不保存',
  }),
  'global.stored_responses_megabytes': option(z.int().min(1).max(100_000), {
    default: 100,
    visibility: 'admin',
    group: 'global',
    label: '每个用户保存响应的容量（MB）',
    help: '超出后删除最久未使用的响应',
  }),
  'global.rate_limit_exempt_enabled': option(flag, {
    default: false,
    visibility: 'admin',
    group: 'global',
    label: '启用速率限制豁免分组',
  }),
  'global.rate_limit_exempt_group': option(singleLine, {
    default: 'bulk-ok',
    visibility: 'admin',
    group: 'global',
    label: '速率限制豁免分组',
  }),
  'global.safe_check_exempt_enabled': option(flag, {
    default: false,
    visibility: 'admin',
    group: 'global',
    label: '启用屏蔽词检查豁免分组',
  }),
  'global.safe_check_exempt_group': option(singleLine, {
    default: 'nsfw-ok',
    visibility: 'admin',
    group: 'global',
    label: '屏蔽词检查豁免分组',
  }),
  'global.auto_retry_enabled': option(flag, {
    default: false,
    visibility: 'admin',
    group: 'global',
    label: '启用自动重试',
  }),
  'global.auto_retry_count': option(z.int().min(1).max(10), {
    default: 3,
    visibility: 'admin',
    group: 'global',
    label: '自动重试次数',
  }),
  'global.auto_retry_force_channel_switch': option(flag, {
    default: false,
    visibility: 'admin',
    group: 'global',
    label: '重试时强制切换渠道',
  }),
  'global.auto_retry_status_codes': option(singleLine, {
    default: '5xx,4xx',
    visibility: 'admin',
    group: 'global',
    label: '自动重试状态码',
    help: '以逗号分隔，例如 429、5xx 或 500-503，留空表示全部',
    check: checkStatusCodes,
  }),
  'general_setting.ping_interval_enabled': option(flag, {
    default: false,
    visibility: 'admin',
    group: 'global',
    label: '启用 Ping 间隔',
    help: '流式响应等待期间定时发送保活内容',
  }),
  'general_setting.ping_interval_seconds': option(z.int().min(1), {
    default: 60,
    visibility: 'admin',
    group: 'global',
    label: 'Ping 间隔',
    unit: '秒',
  }),
  global_model_mapping: option(z.object({ mapping: modelMapping }), {
    default: { mapping: {} },
    visibility: 'admin',
    group: 'mapping',
    label: '模型映射',
    widget: 'model-mapping',
    check: (value) => checkModelMapping(value.mapping),
  }),
} satisfies OptionTable
