import { defaultTopupGroupRatio } from '#core/pricing/tables.ts'
import { fractionDigits } from '../../payment/money.ts'
import { type OptionTable, option } from '../define.ts'
import { z } from 'zod'
import { address, checkAddress, count, figure, figures, singleLine, text } from '../schemas.ts'

/** Who pays is sent back there, and so is the notice that they have. */
const wantsAddress = { keys: ['ServerAddress'], problem: 'option.requires_server_address' } as const

export const paymentOptions = {
  PayAddress: option(address, {
    default: '',
    visibility: 'admin',
    group: 'payment',
    label: '支付地址',
    help: '不填写则不启用在线支付',
    widget: 'address',
    check: checkAddress('PayAddress', '支付地址'),
    formRequires: wantsAddress,
  }),
  EpayId: option(singleLine, {
    default: '',
    visibility: 'admin',
    group: 'payment',
    label: '易支付商户 ID',
    formRequires: wantsAddress,
  }),
  EpayKey: option(singleLine, {
    default: '',
    visibility: 'secret',
    group: 'payment',
    label: '易支付商户密钥',
    boundTo: ['PayAddress'],
    widget: 'password',
    formRequires: wantsAddress,
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
  'stripe.secret_key': option(singleLine, {
    default: '',
    visibility: 'secret',
    group: 'stripe',
    label: 'Stripe 密钥',
    help: '以 sk_ 或 rk_ 开头；与 Webhook 签名密钥都填写后才启用',
    boundTo: ['stripe.api_address'],
    widget: 'password',
    formRequires: wantsAddress,
  }),
  'stripe.webhook_secret': option(text.max(4096).trim(), {
    default: '',
    visibility: 'secret',
    group: 'stripe',
    label: 'Stripe Webhook 签名密钥',
    help: '以 whsec_ 开头；更换密钥期间可填写多个，以空格分隔。在 Stripe 添加的端点为服务器地址后接 /api/user/stripe/webhook，须选择这些事件：checkout.session.completed、checkout.session.async_payment_succeeded、checkout.session.async_payment_failed、checkout.session.expired、charge.refunded、refund.failed、charge.dispute.created、charge.dispute.closed。负载样式（payload style）选择快照（snapshot）；选择精简（thin）时，以 rk_ 开头的密钥还须能读取 Checkout Sessions、Charges and Refunds 与 Disputes',
    // It signs what comes from there, and is sent nowhere itself.
    boundTo: ['stripe.api_address'],
    widget: 'password',
    formRequires: wantsAddress,
  }),
  'stripe.currency': option(
    z
      .string()
      .trim()
      .toLowerCase()
      .regex(/^[a-z]{3}$/),
    {
      default: 'usd',
      visibility: 'admin',
      group: 'stripe',
      label: 'Stripe 结算货币',
      help: '三个字母的货币代码',
      check: (value) =>
        fractionDigits(value.toUpperCase()) === 3 ? { code: 'option.currency_unsupported' } : undefined,
    },
  ),
  'stripe.price': option(figure, {
    default: 1,
    visibility: 'admin',
    group: 'stripe',
    label: 'Stripe 充值价格',
    help: '每美元额度的价格，以结算货币计',
  }),
  'stripe.api_address': option(address, {
    default: 'https://api.stripe.com',
    visibility: 'admin',
    group: 'stripe',
    label: 'Stripe 接口地址',
    widget: 'address',
    check: checkAddress('stripe.api_address', 'Stripe 接口地址'),
  }),
} satisfies OptionTable
