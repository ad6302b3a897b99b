import { z } from 'zod'
import { type OptionTable, option } from '../define.ts'
import { figure, flag, text } from '../schemas.ts'

const disableKeywords = [
  'Your credit balance is too low',
  'This organization has been disabled.',
  'You exceeded your current quota',
  'Permission denied',
  'The security token included in the request is invalid',
  'Operation not allowed',
  'Your account is not authorized',
]

/** Root may well look every minute; a year is long enough to mean never. */
const minutes = z.int().min(0).max(525_600)

export const monitoringOptions = {
  ChannelDisableThreshold: option(figure, {
    default: 5,
    visibility: 'admin',
    group: 'monitoring',
    label: '测试所有渠道的最长响应时间',
    help: '超过此时间将自动禁用渠道，0 表示不限制',
    unit: '秒',
  }),
  ChannelTestFrequency: option(minutes, {
    default: 0,
    visibility: 'admin',
    group: 'monitoring',
    label: '自动测试所有渠道的间隔',
    help: '0 表示不自动测试；手动禁用的渠道不参与',
    unit: '分钟',
  }),
  ChannelUpdateFrequency: option(minutes, {
    default: 0,
    visibility: 'admin',
    group: 'monitoring',
    label: '自动更新渠道余额的间隔',
    help: '0 表示不自动更新；余额用尽的渠道将被禁用',
    unit: '分钟',
  }),
  ChannelModelsFrequency: option(minutes, {
    default: 1440,
    visibility: 'admin',
    group: 'monitoring',
    label: '自动比对上游模型列表的间隔',
    help: '0 表示不自动比对；差异显示在渠道页面，不会自动修改',
    unit: '分钟',
  }),
  AutomaticDisableChannelEnabled: option(flag, {
    default: false,
    visibility: 'admin',
    group: 'monitoring',
    label: '失败时自动禁用渠道',
  }),
  AutomaticEnableChannelEnabled: option(flag, {
    default: false,
    visibility: 'admin',
    group: 'monitoring',
    label: '成功时自动启用渠道',
  }),
  AutomaticDisableKeywords: option(text, {
    default: disableKeywords.join('\n'),
    visibility: 'admin',
    group: 'monitoring',
    label: '自动禁用关键词',
    help: '一行一个，不区分大小写；上游的错误信息包含其中之一时自动禁用渠道',
    widget: 'lines',
  }),
} satisfies OptionTable
