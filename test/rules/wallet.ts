import type { Rule, RuleList } from './rule.ts'

const payments = {
  epay: 'test/payments/epay.test.ts',
  stripe: 'test/payments/stripe.test.ts',
  orders: 'test/payments/orders.test.ts',
  plans: 'test/payments/plans.test.ts',
  redeeming: 'test/payments/redeeming.test.ts',
} as const
const codes = 'test/rest/redemptions.test.ts'
const caps = 'test/trpc/spend-caps.test.ts'
const planForm = 'src/features/plans/schema.test.ts'
const tokens = 'test/rest/tokens.test.ts'
const wallet = 'test/browser/wallet.test.ts'

const byClock = 'redeemed %s is decided by the clock of the database'
const codeRefused = 'refuses %j and makes nothing'
const planRefused = 'a plan with %j is refused as %s'
const capRefused = 'are refused with a reason where they make no sense'
const raised = 'are raised for a while by the owner alone, above the usual amount and to a moment to come'
const orderRefused = 'is refused for %j, and so is its price'
const sold = 'is sold no oftener than there are, nor to one user oftener than allowed, nor to who cannot pay'
const ended = 'is ended by an administrator once for fifty at the same time, with what goes back, under the audit log'

const planRule = (rule: string, message: string, asserts: string): Rule => ({
  rule,
  message,
  asserts,
  file: planForm,
  test: planRefused,
})

export const rules: RuleList = {
  title: 'Codes, wallet, plans and spend caps',
  sections: {
    'Making and changing codes': [
      { rule: 'A code is worth something.', message: '额度必须大于 0', file: codes, test: codeRefused },
      { rule: 'A text of one’s own is short.', message: '兑换码不能超过 32 个字符', file: codes, test: codeRefused },
      {
        rule: 'A text that a code has already is given to no other.',
        message: '已存在',
        file: codes,
        test: 'takes a text of its own for one code, once',
      },
      {
        rule: 'Codes without a name are called what they are worth.',
        file: 'client/features/redemptions/words.test.ts',
        test: 'codes without a name are called what they are worth',
      },
      {
        rule: 'What was used is not changed or enabled again.',
        message: '已使用的兑换码不能再修改',
        file: codes,
        test: 'changes what may be changed of a code that nobody has used',
      },
      {
        rule: 'Deleting by name wants a name.',
        message: '请输入兑换码名称',
        file: codes,
        test: 'counts and deletes by the exact name',
      },
      {
        rule: 'Who works off many has chosen some.',
        message: '请先选择要操作的项目',
        file: codes,
        test: 'disables many, and deletes all that are disabled',
      },
    ],
    Redeeming: [
      { rule: 'A code is typed.', message: '请输入兑换码！', file: payments.redeeming, test: 'is not %j' },
      {
        rule: 'A code that there is not, or is no more, gives nothing.',
        message: '兑换失败，无效的兑换码',
        file: payments.redeeming,
        test: 'that is disabled or deleted gives nothing, a gift neither',
      },
      {
        rule: 'A disabled code gives nothing.',
        message: '兑换失败，该兑换码已被禁用',
        file: payments.redeeming,
        test: 'that is disabled or deleted gives nothing, a gift neither',
      },
      {
        rule: 'Before its time a code waits.',
        message: '兑换失败，该兑换码尚未生效',
        file: payments.redeeming,
        test: byClock,
      },
      {
        rule: 'After its time a code is over.',
        message: '兑换失败，该兑换码已过期',
        file: payments.redeeming,
        test: byClock,
      },
      {
        rule: 'A code is credited once, whoever comes at once.',
        message: '兑换失败，该兑换码已被使用',
        file: payments.redeeming,
        test: 'is credited once for fifty people who redeem it at once',
      },
      {
        rule: 'A gift is given as often as it says.',
        message: '兑换失败，该礼品码已达到使用次数上限',
        file: payments.redeeming,
        test: 'given to ten goes to ten of fifty people who each ask twice at once, and is used up then',
      },
      {
        rule: 'Nobody gets a gift twice.',
        message: '兑换失败，你已经使用过该礼品码',
        file: payments.redeeming,
        test: 'given to everybody goes to each of them once',
      },
      {
        rule: 'A user guesses 60 codes.',
        kind: 'limit',
        asserts: 'slice(0, 60)',
        file: payments.redeeming,
        test: 'are slowed down for each user, and codes that exist are no guesses',
      },
      {
        rule: 'Guesses of one address count together.',
        file: payments.redeeming,
        test: 'are slowed down for each address, under whatever accounts',
      },
    ],
    'Topping up': [
      {
        rule: 'Less than the least amount is not bought, and never less than 1.',
        message: '充值数量不能小于 {minimum}',
        asserts: '充值数量不能小于 1',
        file: payments.epay,
        test: orderRefused,
      },
      {
        rule: 'Nobody buys more than can be counted.',
        message: '充值数量过大',
        file: payments.epay,
        test: orderRefused,
      },
      {
        rule: 'What comes to less than a cent is not bought.',
        message: '充值金额过低',
        file: payments.epay,
        test: 'costs what is said before, as a text of two decimals',
      },
      {
        rule: 'Without a gateway nothing is bought.',
        message: '管理员未开启在线充值！',
        file: payments.epay,
        test: 'is none while the gateway is not set up, or its key is one that everybody knows',
      },
      {
        rule: 'A way to pay that nobody offers is refused.',
        message: '不支持的支付方式',
        asserts: 'payment.method_unknown',
        file: planForm,
        test: 'a way to pay that nobody offers is refused, for credit and for a plan',
      },
      {
        rule: 'A page to pay on that cannot be made is said so.',
        message: '拉起支付失败，请稍后重试',
        file: payments.stripe,
        test: 'whose page cannot be made has failed, and says nothing of the key',
      },
      {
        rule: 'A notification credits once.',
        file: payments.epay,
        test: 'sent fifty times at once to two instances credits once',
      },
      {
        rule: 'The page after the payment is no proof of it.',
        file: payments.orders,
        test: 'is no proof of a payment: the page the gateway leads back to credits nothing',
      },
      {
        rule: 'A user buys, is credited and redeems in the console.',
        file: wallet,
        test: 'a user buys credit at the gateway, finds it in the wallet, and redeems a gift from a link',
      },
    ],
    'Orders in the hands of administrators': [
      ...['订单不存在', '请填写原因'].map((message) => ({
        rule: 'Completing an order wants an order and a reason.',
        message,
        file: payments.orders,
        test: 'wants a reason and an order',
      })),
      {
        rule: 'What was paid is not completed again.',
        message: '订单已经支付',
        file: payments.orders,
        test: 'credits once for fifty administrators and notifications that come at once',
      },
      {
        rule: 'A credit is taken back once its money went back.',
        message: '只有已退款或被拒付且额度尚未收回的订单可以收回额度',
        file: payments.orders,
        test: 'happens once, with the rebate, and may leave less than nothing',
      },
    ],
    Plans: [
      planRule('A name has 1 to 60 characters.', '套餐名称应为 1 到 60 个字符', 'plan.name_invalid'),
      planRule('A price is not below 0.', '金额必须是不小于 0 的数', 'plan.price_invalid'),
      planRule(
        'A price in money is more than nothing, in whole smallest units.',
        '金额必须大于 0，小数位数不能超过该币种的位数',
        'plan.money_invalid',
      ),
      planRule('Term, stock and limit are whole numbers from 1.', '数量必须是不小于 1 的整数', 'plan.count_invalid'),
      planRule('A plan has a window.', '至少需要一个额度周期', 'plan.window_missing'),
      planRule('A plan has at most five windows.', '最多 5 个额度周期', 'plan.window_too_many'),
      planRule('A window pays something.', '周期额度必须大于 0', 'plan.window_empty'),
      planRule('No window is there twice.', '额度周期不能重复', 'plan.window_repeated'),
      { rule: 'No more are sold than there are.', message: '套餐已售罄', file: payments.plans, test: sold },
      {
        rule: 'Nobody buys more than allowed.',
        message: '该套餐每人最多购买 {count} 次',
        asserts: '该套餐每人最多购买',
        file: payments.plans,
        test: sold,
      },
      {
        rule: 'The balance pays what it can.',
        message: '余额不足，请先充值或选择在线支付',
        file: payments.plans,
        test: sold,
      },
      { rule: 'A subscription ends once.', message: '套餐已经结束', file: payments.plans, test: ended },
      {
        rule: 'No more goes back than was paid.',
        message: '退回的额度不能超过套餐价格',
        file: payments.plans,
        test: ended,
      },
    ],
    'Spend caps': [
      ...(
        [
          ['An amount is a whole number from 0.', '消费上限的金额无效', 'spend_cap.amount_invalid'],
          ['Windows are those on offer.', '不支持的消费上限周期', 'spend_cap.window_invalid'],
          ['A zone is one of the IANA’s.', '无法识别的时区', 'spend_cap.zone_unknown'],
          ['A token or a user has at most ten.', '最多设置 10 个消费上限', 'spend_cap.too_many'],
          ['Of one window and its models there is one.', '同一周期和模型的消费上限只能设置一个', 'spend_cap.repeated'],
        ] as const
      ).map(([rule, message, asserts]) => ({ rule, message, asserts, file: caps, test: capRefused })),
      ...(
        [
          ['A raise ends in the future.', '临时提高的结束时间必须晚于当前时间', 'spend_cap.end_past'],
          ['A raise is above the cap.', '临时上限必须高于原来的上限', 'spend_cap.raise_too_low'],
          ['Nobody raises the cap of another.', '消费上限不存在', 'spend_cap.not_found'],
        ] as const
      ).map(([rule, message, asserts]) => ({ rule, message, asserts, file: caps, test: raised })),
    ],
    'Enabling tokens': [
      {
        rule: 'An expired token is enabled once its expiry was moved.',
        message: '令牌已过期，无法启用，请先修改令牌过期时间，或者设置为永不过期',
        file: tokens,
        test: 'enables nothing that has run out',
      },
      {
        rule: 'An exhausted token is enabled once it has quota.',
        message: '令牌可用额度已用尽，无法启用，请先修改令牌剩余额度，或者设置为无限额度',
        file: tokens,
        test: 'enables nothing that has run out',
      },
    ],
  },
}
