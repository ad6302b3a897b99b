import { z } from 'zod'
import { type OptionTable, option } from '../define.ts'
import { count, flag } from '../schemas.ts'

const legacyRole = (label: string) => option(count, { default: 0, visibility: 'admin', group: 'legacy', label })

export const generalOptions = {
  RetryTimes: option(z.int().min(0).max(100), {
    default: 2,
    visibility: 'admin',
    group: 'general',
    label: '失败重试次数',
  }),
  DisplayInCurrencyEnabled: option(flag, {
    default: true,
    visibility: 'public',
    group: 'general',
    label: '以货币形式显示额度',
  }),
  DisplayTokenStatEnabled: option(flag, {
    default: true,
    visibility: 'admin',
    group: 'general',
    label: '额度查询接口返回令牌额度而非用户额度',
  }),
  StreamCacheQueueLength: option(count, {
    default: 0,
    visibility: 'admin',
    group: 'screening',
    label: '流缓存队列长度',
    help: '为旧客户端保留，没有作用',
  }),
  LogConsumeEnabled: option(flag, {
    default: true,
    visibility: 'admin',
    group: 'logs',
    label: '启用额度消费日志记录',
  }),
  LogChatContentEnabled: option(flag, {
    default: false,
    visibility: 'public',
    group: 'logs',
    label: '记录聊天内容',
    help: '用户会在令牌页面看到提示',
  }),
  LogErrorEnabled: option(flag, {
    default: true,
    visibility: 'admin',
    group: 'logs',
    label: '记录错误日志',
  }),
  LogRetentionDays: option(z.int().min(0).max(36_500), {
    default: 0,
    visibility: 'admin',
    group: 'logs',
    label: '日志保留天数',
    help: '更早的日志自动删除，已结束的绘画和音乐任务也是（至少保留 90 天），统计数据和余额不受影响；0 表示永久保留',
  }),
  DataExportEnabled: option(flag, {
    default: true,
    visibility: 'public',
    group: 'dashboard',
    label: '启用数据看板',
  }),
  DataExportInterval: option(z.int().min(1), {
    default: 5,
    visibility: 'admin',
    group: 'dashboard',
    label: '数据看板更新间隔',
    help: '每隔这么久把已结束的小时汇总一次；最近的用量始终即时显示',
    unit: '分钟',
  }),
  DataExportDefaultTime: option(z.enum(['hour', 'day', 'week']), {
    default: 'hour',
    visibility: 'public',
    group: 'dashboard',
    label: '数据看板默认时间粒度',
    help: '仅影响显示',
  }),
  FileUploadPermission: legacyRole('文件上传权限'),
  FileDownloadPermission: legacyRole('文件下载权限'),
  ImageUploadPermission: legacyRole('图片上传权限'),
  ImageDownloadPermission: legacyRole('图片下载权限'),
} satisfies OptionTable
