import { z } from 'zod'
import { defaultQuotaPerUnit } from '#core/quota.ts'
import { type OptionTable, option } from '../define.ts'
import { count, flag } from '../schemas.ts'

export const quotaOptions = {
  QuotaForNewUser: option(count, {
    default: 0,
    visibility: 'admin',
    group: 'quota',
    label: '新用户初始额度',
    widget: 'quota',
  }),
  PreConsumedQuota: option(count, {
    default: 500,
    visibility: 'admin',
    group: 'quota',
    label: '请求预扣费额度',
    help: '尚无调用记录的模型按此数量的输出 tokens 预扣，请求结束后多退少补',
    unit: 'tokens',
  }),
  QuotaForInviter: option(count, {
    default: 0,
    visibility: 'admin',
    group: 'quota',
    label: '邀请新用户奖励额度',
    widget: 'quota',
  }),
  QuotaForInvitee: option(count, {
    default: 0,
    visibility: 'admin',
    group: 'quota',
    label: '新用户使用邀请码奖励额度',
    widget: 'quota',
  }),
  AffEnabled: option(flag, {
    default: true,
    visibility: 'public',
    group: 'quota',
    label: '启用邀请功能',
  }),
  QuotaPerUnit: option(z.number().gt(0), {
    default: defaultQuotaPerUnit,
    visibility: 'public',
    group: 'general',
    label: '单位美元额度',
    help: '一美元对应的额度；所有余额和价格都以它换算，请不要修改',
  }),
  QuotaRemindThreshold: option(count, {
    default: 1000,
    visibility: 'admin',
    group: 'monitoring',
    label: '额度提醒阈值',
    help: '低于此额度时将提醒没有设置预警阈值的用户；从未修改过此项时，他们在低于 500,000 额度时收到提醒',
    widget: 'quota',
  }),
  RebateEnabled: option(flag, {
    default: false,
    visibility: 'admin',
    group: 'rebate',
    label: '启用返佣',
    help: '被邀请的用户充值或兑换时，邀请者获得返佣',
  }),
  RebatePercentage: option(z.number().min(0).max(100), {
    default: 0,
    visibility: 'admin',
    group: 'rebate',
    label: '返佣百分比',
    unit: '%',
    widget: 'percentage',
    refusal: 'option.rebate_percentage',
  }),
  RebateAfterPaymentEnabled: option(flag, {
    default: false,
    visibility: 'admin',
    group: 'rebate',
    label: '首次付费后才返佣',
    help: '被邀请的用户在线充值过一次之前，兑换不产生返佣',
  }),
  CheckInEnabled: option(flag, {
    default: false,
    visibility: 'public',
    group: 'check-in',
    label: '启用签到功能',
  }),
  CheckInQuota: option(count, {
    default: 1000,
    visibility: 'admin',
    group: 'check-in',
    label: '签到奖励额度',
    widget: 'quota',
  }),
  CheckInMaxQuota: option(count, {
    default: 0,
    visibility: 'admin',
    group: 'check-in',
    label: '签到最大奖励额度',
    help: '大于签到奖励额度时，奖励为两者之间的随机额度',
    widget: 'quota',
  }),
} satisfies OptionTable
