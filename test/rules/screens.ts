import type { RuleList } from './rule.ts'

export const rules: RuleList = {
  title: 'Screens and ways',
  sections: {
    Ways: {
      'test/browser/wayfinding.test.ts': {
        'an address of a missing channel says so instead of offering a new one': {
          rule: 'A page that nobody has says so.',
          asserts: '/no/such/page',
        },
        'a page that is for others says so, and an ordinary user is led home from that of messages alone': [
          { rule: 'A page for others says so.', asserts: '/admin/prices' },
          { rule: 'The page of messages leads others home.', asserts: '/admin/messages' },
        ],
        'a first visit with a browser in %s begins with %s': {
          rule: 'The console is Chinese, or English where the reader’s browser is not Chinese.',
          asserts: 'zh-CN',
        },
      },
      'test/browser/first-journey.test.ts': {
        'goes from setup to a charged chat without leaving the console': [
          { rule: 'Before setup every page leads to it.', asserts: '**/setup' },
          { rule: 'A protected page leads to the login and back.', asserts: '**/login?*returnTo=*' },
        ],
      },
      'test/browser/playground.test.ts': {
        'a session that ended leads to the login and back': {
          rule: 'A session that has ended leads to the login, which says so, and back.',
          asserts: '**/login?expired=true&returnTo=%2Fplayground*',
        },
      },
      'test/browser/settings.test.ts': {
        'leads from the name of a setting in the address to its place among the others': {
          rule: 'The settings begin with the tab of operation; the address names another.',
          asserts: '运营设置',
        },
      },
      'client/app/routes.test.ts': {
        'dashboard, drawing and tasks are offered only where the site has them': {
          rule: 'The dashboard, drawings and tasks are offered where the site has them.',
          asserts: '/app/dashboard',
        },
        'channels, codes and messages are offered to the super administrator alone': {
          rule: 'Channels, codes and messages are offered to root alone.',
          asserts: '/admin/coupons',
        },
        'every route has its page': 'Every page has its address, and every address its page.',
      },
      'client/lib/time-range.test.ts': {
        'the year begins on the first of January, all day long': {
          rule: 'The first of January is greeted.',
          asserts: 'new Date(2027, 0, 1, 23, 59)',
        },
      },
    },
    'Users and messages': {
      'client/features/users/words.test.ts': {
        'a user is active or banned, another status is unknown, and who left is deregistered whatever the status': {
          rule: 'A user is active or banned, anything else unknown; who left is deregistered.',
          asserts: '已注销',
        },
        'the roles 1, 10 and 100 have their names, and any other is unknown': {
          rule: 'The roles have their names, and any other is unknown.',
          asserts: '未知身份',
        },
      },
      'test/browser/account.test.ts': {
        'a forgotten password is replaced by the mailed link, and a password that everybody knows is warned of': {
          rule: 'The reset page shows the address, and the new password once, copied.',
          asserts: '新密码已复制到剪贴板',
        },
      },
      'test/browser/people.test.ts': {
        'a message is written, arrives with a badge, harms nobody, and its sender sees that it was read': {
          rule: 'A message that does not exist leads back to the inbox.',
          asserts: '/app/inbox/999999',
        },
      },
      'test/rest/messages.test.ts': {
        'are all read at once by their reader, once, and by nobody else':
          'All messages are read at once, of their reader alone.',
      },
    },
    Money: {
      'client/features/redemptions/words.test.ts': {
        'a code is unused, disabled or used; another status is an unknown one': {
          rule: 'A code is unused, disabled or used, anything else unknown.',
          asserts: '未知状态',
        },
        'a gift code is used up once it has been used as often as it may be, and never where that is not limited': {
          rule: 'A gift code that was used as often as it may be is used up.',
          asserts: 'maxUses: 2',
        },
      },
      'test/browser/wallet.test.ts': {
        'a user buys credit at the gateway, finds it in the wallet, and redeems a gift from a link': {
          rule: 'A code in the address is filled in.',
          asserts: '/app/wallet?code=',
        },
      },
      'test/payments/redeeming.test.ts': {
        'is asked for where it is on, with a fresh answer each time one is given': {
          rule: 'The bot check stands before a redemption where it is on.',
          asserts: 'TurnstileCheckEnabled',
        },
      },
      'test/payments/epay.test.ts': {
        'is none while the gateway is not set up, or its key is one that everybody knows':
          'Online top-up that is not set up is none.',
      },
      'client/features/options/prices/rows.test.ts': {
        'ratios become dollars per million tokens and come back unchanged':
          'A ratio is half the price of a million tokens; both convert into each other.',
      },
    },
    Screening: {
      'src/core/screening/screen.test.ts': {
        'finds patterns also where the list has no plain word, and names them before words': {
          rule: 'Sensitive words stand one on a line; regex: begins a pattern.',
          asserts: 'regex:',
        },
      },
    },
  },
}
