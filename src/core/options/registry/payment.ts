import { defaultTopupGroupRatio } from '#core/pricing/tables.ts'
import { type OptionTable, option } from '../define.ts'
import { address, checkAddress, count, figure, figures, singleLine } from '../schemas.ts'

export const paymentOptions = {
  PayAddress: option(address, {
    default: '',
    visibility: 'admin',
    group: 'payment',
    label: '支付地址',
    help: '不填写则不启用在线支付',
    widget: 'address',
    check: checkAddress('PayAddress', '支付地址'),
    formRequires: { keys: ['ServerAddress'], problem: 'option.requires_server_address' },
  }),
  EpayId: option(singleLine, {
    default: '',
    visibility: 'admin',
    group: 'payment',
    label: '易支付商户 ID',
  }),
  EpayKey: option(singleLine, {
    default: '',
    visibility: 'secret',
    group: 'payment',
    label: '易支付商户密钥',
    boundTo: ['PayAddress'],
    widget: 'password',
  }),
  CustomCallbackAddress: option(address, {
    default: '',
    visibility: 'admin',
    group: 'payment',
    label: '回调地址',
    help: '不填写则使用服务器地址作为回调地址',
    widget: 'address',
    check: checkAddress('CustomCallbackAddress', '回调地址'),
  }),
  Price: option(figure, {
    default: 7.3,
    visibility: 'public',
    group: 'payment',
    label: '充值价格',
    help: '每美元的价格',
  }),
  MinTopUp: option(count, {
    default: 1,
    visibility: 'public',
    group: 'payment',
    label: '最低充值数量',
    unit: '美元',
  }),
  TopupGroupRatio: option(figures, {
    default: { ...defaultTopupGroupRatio },
    visibility: 'admin',
    group: 'payment',
    label: '充值分组倍率',
    widget: 'group-ratios',
    refusal: 'option.topup_ratio_not_json',
  }),
} satisfies OptionTable
