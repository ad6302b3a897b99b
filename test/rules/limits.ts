import type { RuleList } from './rule.ts'

export const rules: RuleList = {
  title: 'Limits',
  kind: 'limit',
  sections: {
    Accounts: {
      'test/rest/auth.test.ts': {
        'refuses %j': [
          { rule: 'A username has at most 12 characters.', asserts: '用户名不能超过 12 个字符' },
          { rule: 'A password has 8 to 20 characters.', asserts: '密码长度应为 8 到 20 个字符' },
        ],
      },
      'test/rest/site.test.ts': {
        'refuses %s with 400 and changes nothing': {
          rule: 'Setup wants a password of at least 8 characters.',
          asserts: '密码长度至少为 8 个字符',
        },
      },
      'test/rest/account.test.ts': {
        'refuses %j': { rule: 'A display name has at most 20 characters.', asserts: '显示名称不能超过 20 个字符' },
      },
      'test/browser/account.test.ts': {
        'from registration by an invitation to its end, with a check-in, a second factor and a passkey in between': {
          rule: 'Another code is asked for after 30 seconds.',
          asserts: '30 秒后重发',
        },
        'a forgotten password is replaced by the mailed link, and a password that everybody knows is warned of': {
          rule: 'Another reset mail is asked for after 30 seconds.',
          asserts: '30 秒后重发',
        },
      },
      'test/browser/sign-in.test.ts': {
        'are bound and unbound in the personal settings, with what went wrong said there': {
          rule: 'A WeChat code is said to be valid for three minutes.',
          asserts: '三分钟内有效',
        },
      },
      'src/core/options/codec.test.ts': {
        '%s = %s with %s': [
          {
            rule: 'Linux DO asks for a trust level of 0 or more.',
            asserts: "['LinuxDOMinimumTrustLevel', '-1', 'option.too_small']",
          },
          {
            rule: 'Linux DO asks for a trust level of 4 or less.',
            asserts: "['LinuxDOMinimumTrustLevel', '5', 'option.too_large']",
          },
        ],
      },
      'client/features/users/words.test.ts': {
        'the roles 1, 10 and 100 have their names, and any other is unknown': {
          rule: 'The roles are 1, 10 and 100.',
          asserts: '[1, 10, 100, 7]',
        },
        'a user is active or banned, another status is unknown, and who left is deregistered whatever the status': {
          rule: 'A user has the status 1, 2 or 3.',
          asserts: '[1, 2, 3, 9]',
        },
      },
    },
    Messages: {
      'client/features/messages/inbox-time.test.ts': {
        '20 people are offered a page, and 10 of those who have a message are shown': {
          rule: '20 people are offered a page, and 10 recipients shown.',
          asserts: '[20, 10]',
        },
      },
      'client/lib/unread.test.ts': {
        'the inbox is asked every 30 seconds, and its badge shows 99+ above 99': [
          { rule: 'Unread messages are counted every 30 seconds.', asserts: '30_000' },
          { rule: 'The badge shows 99+ above 99.', asserts: "'99+'" },
        ],
      },
      'src/features/messages/view-preview.test.ts': {
        'is cut at 100 characters, of which the last three are the ellipsis': {
          rule: 'A preview has 100 characters, the ellipsis included.',
          asserts: '100',
        },
      },
      'test/jobs/notifications.test.ts': {
        'is not sent again within two hours, and is after them': {
          rule: 'A balance is warned of at most once in two hours.',
          asserts: 'age(119)',
        },
      },
    },
    Options: {
      'src/core/options/codec.test.ts': {
        '%s = %s with %s': [
          { rule: 'Exports are a minute apart or more.', asserts: "['DataExportInterval', '0', 'option.too_small']" },
          {
            rule: 'The threshold of slow channels is 0 or more.',
            asserts: "['ChannelDisableThreshold', '-1', 'option.too_small']",
          },
          {
            rule: 'The threshold of balances is 0 or more.',
            asserts: "['QuotaRemindThreshold', '-1', 'option.too_small']",
          },
          { rule: 'The least check-in reward is 0 or more.', asserts: "['CheckInQuota', '-1', 'option.too_small']" },
          {
            rule: 'The largest check-in reward is 0 or more.',
            asserts: "['CheckInMaxQuota', '-1', 'option.too_small']",
          },
          { rule: 'The gift of an inviter is 0 or more.', asserts: "['QuotaForInviter', '-1', 'option.too_small']" },
          {
            rule: 'The gift of an invited user is 0 or more.',
            asserts: "['QuotaForInvitee', '-1', 'option.too_small']",
          },
          {
            rule: 'The rebate percentage is 100 or less.',
            asserts: "['RebatePercentage', '101', 'option.rebate_percentage']",
          },
          {
            rule: 'The rebate percentage is 0 or more.',
            asserts: "['RebatePercentage', '-0.1', 'option.rebate_percentage']",
          },
          {
            rule: 'A fallback price is 0 or more.',
            asserts: "['fallback_single_price', '-0.001', 'option.too_small']",
          },
          { rule: 'A fallback ratio is 0 or more.', asserts: "['fallback_input_ratio', '-0.1', 'option.too_small']" },
          {
            rule: 'The period of the request limit is 0 minutes or more.',
            asserts: "['ModelRequestRateLimitDurationMinutes', '-1', 'option.too_small']",
          },
          {
            rule: 'The count of the request limit is -1 or more.',
            asserts: "['ModelRequestRateLimitCount', '-2', 'option.too_small']",
          },
          {
            rule: 'The successes of the request limit are 1 or more.',
            asserts: "['ModelRequestRateLimitSuccessCount', '0', 'option.too_small']",
          },
          { rule: 'Automatic retries are 1 or more.', asserts: "['global.auto_retry_count', '0', 'option.too_small']" },
          {
            rule: 'Automatic retries are 10 or less.',
            asserts: "['global.auto_retry_count', '11', 'option.too_large']",
          },
          {
            rule: 'Keep-alive comments are a second apart or more.',
            asserts: "['general_setting.ping_interval_seconds', '0', 'option.too_small']",
          },
          {
            rule: 'The share of thinking of Gemini is 0.002 or more.',
            asserts: "['gemini.thinking_adapter_budget_tokens_percentage', '0.001', 'option.too_small']",
          },
          {
            rule: 'The share of thinking of Gemini is 1 or less.',
            asserts: "['gemini.thinking_adapter_budget_tokens_percentage', '1.1', 'option.too_large']",
          },
          {
            rule: 'The share of thinking of Claude is 0.1 or more.',
            asserts: "['claude.thinking_adapter_budget_tokens_percentage', '0.09', 'option.too_small']",
          },
          {
            rule: 'The share of thinking of Claude is 1 or less.',
            asserts: "['claude.thinking_adapter_budget_tokens_percentage', '1.1', 'option.too_large']",
          },
        ],
      },
    },
    'Figures and money': {
      'test/payments/redeeming.test.ts': {
        'are slowed down for each user, and codes that exist are no guesses': {
          rule: 'A user guesses 60 codes.',
          asserts: 'slice(0, 60)',
        },
      },
      'client/lib/format.test.ts': {
        'counts are written out below ten thousand and abbreviated from there': {
          rule: 'Large numbers are abbreviated from ten thousand, by k, M and B.',
          asserts: '2B',
        },
      },
      'client/features/pricing/ratio-tone.test.ts': {
        'a ratio above 5 is red, above 3 orange, above 1 blue, and else green': {
          rule: 'A group above 5 is red, above 3 orange, above 1 blue, else green.',
          asserts: '[5.1, 5, 3.1, 3, 1.1, 1, 0]',
        },
      },
      'client/features/pricing/prices.test.ts': {
        'a group pays its ratio of the list price, per million tokens': {
          rule: 'A ratio of 1.25 at a group of 0.8 is two dollars a million tokens.',
          asserts: 'groupRatio: 0.8',
        },
      },
      'test/browser/wallet.test.ts': {
        'a user buys credit at the gateway, finds it in the wallet, and redeems a gift from a link': {
          rule: 'Less than the least amount is not bought.',
          asserts: '充值数量不能小于 $1.00',
        },
      },
    },
    'Tokens and codes': {
      'test/rest/tokens.test.ts': {
        'refuses %j and makes nothing': {
          rule: 'A name has at most 30 characters.',
          asserts: '令牌名称不能超过 30 个字符',
        },
      },
      'test/rest/redemptions.test.ts': {
        'refuses %j and makes nothing': [
          { rule: 'At most 100 codes are made at once.', asserts: '{ count: 101 }' },
          { rule: 'A code’s name has at most 20 characters.', asserts: "'名'.repeat(21)" },
        ],
      },
      'client/features/chat/chat-link.test.ts': {
        'a key is looked for among 100 tokens, and whoever has none is led away after 1.5 seconds': [
          { rule: 'A chat looks for a key among 100 tokens.', asserts: '100' },
          { rule: 'Whoever has none is led away after 1.5 seconds.', asserts: '1500' },
        ],
      },
    },
    'Channels, logs and tasks': {
      'src/features/channels/rules.test.ts': {
        '200 tags are listed where nobody asks for more or fewer': {
          rule: '200 tags are listed.',
          asserts: 'limit: 200',
        },
      },
      'client/features/channels/tests/run-tests.test.ts': {
        '1 to 10 models may be tried at once, and three are unless somebody asks for more or fewer': {
          rule: '1 to 10 models are tested at once.',
          asserts: '{ least: 1, most: 10, preset: 3 }',
        },
        'no more models are tried at once than asked for, with a pause between batches': {
          rule: '200 milliseconds lie between batches.',
          asserts: '200',
        },
        'a failure that may pass is tried twice more, with growing pauses': {
          rule: 'A failed test is tried twice more, after a second and after two.',
          asserts: '2000',
        },
        'the pause never grows beyond five seconds': { rule: 'No pause is longer than five seconds.', asserts: '5000' },
      },
      'client/features/channels/tests/result-cache.test.ts': {
        'results are stored by channel and model for a day': {
          rule: 'Results of tests are kept for 24 hours.',
          asserts: '23 * hour',
        },
      },
      'client/features/channels/list/response-step.test.ts': {
        'a channel is quick up to one second, then slower at three and five': {
          rule: 'Response times are distinguished at 1, 3 and 5 seconds.',
          asserts: '5000',
        },
      },
      'client/features/logs/state.test.ts': {
        'an answer is good below 101 seconds and bad from 300 on; its first token below 3 and from 10': {
          rule: 'An answer is orange from 101 seconds and red from 300.',
          asserts: '300',
        },
      },
      'client/features/tasks/words.test.ts': {
        'drawings begin with the last 30 days, music with today, and more than 60 seconds are shown in red': {
          rule: 'A drawing that took more than 60 seconds is red.',
          asserts: '60',
        },
      },
      'test/browser/channels.test.ts': {
        'say what is wrong with a figure, take switching off back, and choose everything that matches': {
          rule: 'The table takes no priority below -999.',
          asserts: '-999',
        },
      },
    },
    'The shell': {
      'test/browser/people.test.ts': {
        'an administrator finds a user, changes the balance with a reason, promotes, disables, and the audit log shows it':
          { rule: 'A form drawer is 600 wide.', asserts: '600' },
      },
      'src/core/paging.test.ts': {
        'a list has 10 rows a page, or 20, 50 or 100 where its reader chooses so, and no more': {
          rule: 'A page has at most 100 rows.',
          asserts: 'pageSize: 101',
        },
      },
      'client/app/routes.test.ts': {
        'the sidebar is 200 wide, 240 beside a chat and 60 when collapsed': {
          rule: 'The sidebar is 200 wide, 240 beside a chat and 60 when collapsed.',
          asserts: '200, 240, 60',
        },
      },
      'test/browser/wayfinding.test.ts': {
        'an address of a missing channel says so instead of offering a new one': {
          rule: 'The bar at the top is 56 high.',
          asserts: '56',
        },
      },
      'client/features/setup/modes.test.ts': {
        'a site is run for others unless its founder chooses otherwise, and opens after 1.5 seconds': {
          rule: 'Setup leads on after 1.5 seconds.',
          asserts: '1500',
        },
      },
    },
  },
}
