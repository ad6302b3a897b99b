import type { RuleList } from './rule.ts'

export const rules: RuleList = {
  title: 'Screens and ways',
  sections: {
    Ways: [
      {
        rule: 'A page that nobody has says so.',
        asserts: '/no/such/page',
        file: 'test/browser/wayfinding.test.ts',
        test: 'an address of a missing channel says so instead of offering a new one',
      },
      {
        rule: 'Before setup every page leads to it.',
        asserts: '**/setup',
        file: 'test/browser/first-journey.test.ts',
        test: 'goes from setup to a charged chat without leaving the console',
      },
      {
        rule: 'A protected page leads to the login and back.',
        asserts: '**/login?returnTo=*',
        file: 'test/browser/first-journey.test.ts',
        test: 'goes from setup to a charged chat without leaving the console',
      },
      {
        rule: 'A session that has ended leads to the login, which says so, and back.',
        asserts: '**/login?expired=true&returnTo=%2Fplayground*',
        file: 'test/browser/playground.test.ts',
        test: 'a session that ended leads to the login and back',
      },
      {
        rule: 'A page for others says so.',
        asserts: '/admin/prices',
        file: 'test/browser/wayfinding.test.ts',
        test: 'a page that is for others says so, and an ordinary user is not led away from it',
      },
      {
        rule: 'The settings begin with the tab of operation; the address names another.',
        asserts: '运营设置',
        file: 'test/browser/settings.test.ts',
        test: 'leads from the name of a setting in the address to its place among the others',
      },
      {
        rule: 'The dashboard, drawings and tasks are offered where the site has them.',
        asserts: '/app/dashboard',
        file: 'client/app/routes.test.ts',
        test: 'dashboard, drawing and tasks are offered only where the site has them',
      },
      {
        rule: 'Channels, codes and messages are offered to root alone.',
        asserts: '/admin/coupons',
        file: 'client/app/routes.test.ts',
        test: 'channels, codes and messages are offered to the super administrator alone',
      },
      {
        rule: 'Every page has its address, and every address its page.',
        file: 'client/app/routes.test.ts',
        test: 'every route has its page',
      },
      {
        rule: 'The console is Chinese, or English where the reader’s browser is not Chinese.',
        asserts: 'zh-CN',
        file: 'test/browser/wayfinding.test.ts',
        test: 'a first visit with a browser in %s begins with %s',
      },
      {
        rule: 'The first of January is greeted.',
        asserts: 'new Date(2027, 0, 1, 23, 59)',
        file: 'client/lib/time-range.test.ts',
        test: 'the year begins on the first of January, all day long',
      },
    ],
    'Users and messages': [
      {
        rule: 'A user is active or banned, anything else unknown; who left is deregistered.',
        asserts: '已注销',
        file: 'client/features/users/words.test.ts',
        test: 'a user is active or banned, another status is unknown, and who left is deregistered whatever the status',
      },
      {
        rule: 'The roles have their names, and any other is unknown.',
        asserts: '未知身份',
        file: 'client/features/users/words.test.ts',
        test: 'the roles 1, 10 and 100 have their names, and any other is unknown',
      },
      {
        rule: 'The reset page shows the address, and the new password once, copied.',
        asserts: '新密码已复制到剪贴板',
        file: 'test/browser/account.test.ts',
        test: 'a forgotten password is replaced by the mailed link, and a password that everybody knows is warned of',
      },
      {
        rule: 'A message that does not exist leads back to the inbox.',
        asserts: '/app/inbox/999999',
        file: 'test/browser/people.test.ts',
        test: 'a message is written, arrives with a badge, harms nobody, and its sender sees that it was read',
      },
      {
        rule: 'All messages are read at once, of their reader alone.',
        file: 'test/rest/messages.test.ts',
        test: 'are all read at once by their reader, once, and by nobody else',
      },
    ],
    Money: [
      {
        rule: 'A code is unused, disabled or used, anything else unknown.',
        asserts: '未知状态',
        file: 'client/features/redemptions/words.test.ts',
        test: 'a code is unused, disabled or used; another status is an unknown one',
      },
      {
        rule: 'A gift code that was used as often as it may be is used up.',
        asserts: 'maxUses: 2',
        file: 'client/features/redemptions/words.test.ts',
        test: 'a gift code is used up once it has been used as often as it may be, and never where that is not limited',
      },
      {
        rule: 'A code in the address is filled in.',
        asserts: '/app/wallet?code=',
        file: 'test/browser/wallet.test.ts',
        test: 'a user buys credit at the gateway, finds it in the wallet, and redeems a gift from a link',
      },
      {
        rule: 'The bot check stands before a redemption where it is on.',
        asserts: 'TurnstileCheckEnabled',
        file: 'test/payments/redeeming.test.ts',
        test: 'is asked for where it is on, with a fresh answer each time one is given',
      },
      {
        rule: 'Online top-up that is not set up is none.',
        file: 'test/payments/epay.test.ts',
        test: 'is none while the gateway is not set up, or its key is one that everybody knows',
      },
      {
        rule: 'A ratio is half the price of a million tokens; both convert into each other.',
        file: 'client/features/options/prices/rows.test.ts',
        test: 'ratios become dollars per million tokens and come back unchanged',
      },
    ],
    Screening: [
      {
        rule: 'Sensitive words stand one on a line; regex: begins a pattern.',
        asserts: 'regex:',
        file: 'src/core/screening/screen.test.ts',
        test: 'finds patterns also where the list has no plain word, and names them before words',
      },
    ],
  },
}
