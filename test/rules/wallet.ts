import type { RuleList } from './rule.ts'

export const rules: RuleList = {
  title: 'Codes, wallet, plans and spend caps',
  sections: {
    'Making and changing codes': {
      'test/rest/redemptions.test.ts': {
        'refuses %j and makes nothing': [
          { rule: 'A code is worth something.', message: '额度必须大于 0' },
          { rule: 'A text of one’s own is short.', message: '兑换码不能超过 32 个字符' },
        ],
        'takes a text of its own for one code, once': {
          rule: 'A text that a code has already is given to no other.',
          message: '已存在',
        },
        'changes what may be changed of a code that nobody has used': {
          rule: 'What was used is not changed or enabled again.',
          message: '已使用的兑换码不能再修改',
        },
        'counts and deletes by the exact name': { rule: 'Deleting by name wants a name.', message: '请输入兑换码名称' },
        'disables many, and deletes all that are disabled': {
          rule: 'Who works off many has chosen some.',
          message: '请先选择要操作的项目',
        },
      },
      'client/features/redemptions/words.test.ts': {
        'codes without a name are called what they are worth': 'Codes without a name are called what they are worth.',
      },
    },
    Redeeming: {
      'test/payments/redeeming.test.ts': {
        'is not %j': { rule: 'A code is typed.', message: '请输入兑换码！' },
        'that is disabled or deleted gives nothing, a gift neither': [
          { rule: 'A code that there is not, or is no more, gives nothing.', message: '兑换失败，无效的兑换码' },
          { rule: 'A disabled code gives nothing.', message: '兑换失败，该兑换码已被禁用' },
        ],
        'redeemed %s is decided by the clock of the database': [
          { rule: 'Before its time a code waits.', message: '兑换失败，该兑换码尚未生效' },
          { rule: 'After its time a code is over.', message: '兑换失败，该兑换码已过期' },
        ],
        'is credited once for fifty people who redeem it at once': {
          rule: 'A code is credited once, whoever comes at once.',
          message: '兑换失败，该兑换码已被使用',
        },
        'given to ten goes to ten of fifty people who each ask twice at once, and is used up then': {
          rule: 'A gift is given as often as it says.',
          message: '兑换失败，该礼品码已达到使用次数上限',
        },
        'given to everybody goes to each of them once': {
          rule: 'Nobody gets a gift twice.',
          message: '兑换失败，你已经使用过该礼品码',
        },
        'are slowed down for each address, under whatever accounts': 'Guesses of one address count together.',
      },
    },
    'Topping up': {
      'test/payments/epay.test.ts': {
        'is refused for %j, and so is its price': [
          {
            rule: 'Less than the least amount is not bought, and never less than 1.',
            message: '充值数量不能小于 {minimum}',
            asserts: '充值数量不能小于 1',
          },
          { rule: 'Nobody buys more than can be counted.', message: '充值数量过大' },
        ],
        'costs what is said before, as a text of two decimals': {
          rule: 'What comes to less than a cent is not bought.',
          message: '充值金额过低',
        },
        'is none while the gateway is not set up, or its key is one that everybody knows': {
          rule: 'Without a gateway nothing is bought.',
          message: '管理员未开启在线充值！',
        },
        'sent fifty times at once to two instances credits once': 'A notification credits once.',
      },
      'src/features/plans/schema.test.ts': {
        'a way to pay that nobody offers is refused, for credit and for a plan': {
          rule: 'A way to pay that nobody offers is refused.',
          message: '不支持的支付方式',
          asserts: 'payment.method_unknown',
        },
      },
      'test/payments/stripe.test.ts': {
        'whose page cannot be made has failed, and says nothing of the key': {
          rule: 'A page to pay on that cannot be made is said so.',
          message: '拉起支付失败，请稍后重试',
        },
      },
      'test/payments/orders.test.ts': {
        'is no proof of a payment: the page the gateway leads back to credits nothing':
          'The page after the payment is no proof of it.',
      },
      'test/browser/wallet.test.ts': {
        'a user buys credit at the gateway, finds it in the wallet, and redeems a gift from a link':
          'A user buys, is credited and redeems in the console.',
      },
    },
    'Orders in the hands of administrators': {
      'test/payments/orders.test.ts': {
        'wants a reason and an order': {
          rule: 'Completing an order wants an order and a reason.',
          message: ['订单不存在', '请填写原因'],
        },
        'credits once for fifty administrators and notifications that come at once': {
          rule: 'What was paid is not completed again.',
          message: '订单已经支付',
        },
        'happens once, with the rebate, and may leave less than nothing': {
          rule: 'A credit is taken back once its money went back.',
          message: '只有已退款或被拒付且额度尚未收回的订单可以收回额度',
        },
      },
    },
    Plans: {
      'src/features/plans/schema.test.ts': {
        'a plan with %j is refused as %s': [
          {
            rule: 'A name has 1 to 60 characters.',
            message: '套餐名称应为 1 到 60 个字符',
            asserts: 'plan.name_invalid',
          },
          { rule: 'A price is not below 0.', message: '金额必须是不小于 0 的数', asserts: 'plan.price_invalid' },
          {
            rule: 'A price in money is more than nothing, in whole smallest units.',
            message: '金额必须大于 0，小数位数不能超过该币种的位数',
            asserts: 'plan.money_invalid',
          },
          {
            rule: 'Term, stock and limit are whole numbers from 1.',
            message: '数量必须是不小于 1 的整数',
            asserts: 'plan.count_invalid',
          },
          { rule: 'A plan has a window.', message: '至少需要一个额度周期', asserts: 'plan.window_missing' },
          { rule: 'A plan has at most five windows.', message: '最多 5 个额度周期', asserts: 'plan.window_too_many' },
          { rule: 'A window pays something.', message: '周期额度必须大于 0', asserts: 'plan.window_empty' },
          { rule: 'No window is there twice.', message: '额度周期不能重复', asserts: 'plan.window_repeated' },
        ],
      },
      'test/payments/plans.test.ts': {
        'is sold no oftener than there are, nor to one user oftener than allowed, nor to who cannot pay': [
          { rule: 'No more are sold than there are.', message: '套餐已售罄' },
          {
            rule: 'Nobody buys more than allowed.',
            message: '该套餐每人最多购买 {count} 次',
            asserts: '该套餐每人最多购买',
          },
          { rule: 'The balance pays what it can.', message: '余额不足，请先充值或选择在线支付' },
        ],
        'is ended by an administrator once for fifty at the same time, with what goes back, under the audit log': [
          { rule: 'A subscription ends once.', message: '套餐已经结束' },
          { rule: 'No more goes back than was paid.', message: '退回的额度不能超过套餐价格' },
        ],
      },
    },
    'Spend caps': {
      'test/trpc/spend-caps.test.ts': {
        'are refused with a reason where they make no sense': [
          {
            rule: 'An amount is a whole number from 0.',
            message: '消费上限的金额无效',
            asserts: 'spend_cap.amount_invalid',
          },
          { rule: 'Windows are those on offer.', message: '不支持的消费上限周期', asserts: 'spend_cap.window_invalid' },
          { rule: 'A zone is one of the IANA’s.', message: '无法识别的时区', asserts: 'spend_cap.zone_unknown' },
          {
            rule: 'A token or a user has at most ten.',
            message: '最多设置 10 个消费上限',
            asserts: 'spend_cap.too_many',
          },
          {
            rule: 'Of one window and its models there is one.',
            message: '同一周期和模型的消费上限只能设置一个',
            asserts: 'spend_cap.repeated',
          },
        ],
        'are raised for a while by the owner alone, above the usual amount and to a moment to come': [
          {
            rule: 'A raise ends in the future.',
            message: '临时提高的结束时间必须晚于当前时间',
            asserts: 'spend_cap.end_past',
          },
          {
            rule: 'A raise is above the cap.',
            message: '临时上限必须高于原来的上限',
            asserts: 'spend_cap.raise_too_low',
          },
          { rule: 'Nobody raises the cap of another.', message: '消费上限不存在', asserts: 'spend_cap.not_found' },
        ],
      },
    },
    'Enabling tokens': {
      'test/rest/tokens.test.ts': {
        'enables nothing that has run out': [
          {
            rule: 'An expired token is enabled once its expiry was moved.',
            message: '令牌已过期，无法启用，请先修改令牌过期时间，或者设置为永不过期',
          },
          {
            rule: 'An exhausted token is enabled once it has quota.',
            message: '令牌可用额度已用尽，无法启用，请先修改令牌剩余额度，或者设置为无限额度',
          },
        ],
      },
    },
  },
}
