import type { RuleList } from './rule.ts'

export const rules: RuleList = {
  title: 'Presets',
  kind: 'preset',
  sections: {
    Options: {
      'src/core/options/registry/registry.test.ts': {
        'shows the documented default of every key as text': [
          { rule: 'A dollar is 500000 units of quota.', asserts: "QuotaPerUnit: '500000'" },
          { rule: 'A dollar costs 7.3.', asserts: "Price: '7.3'" },
          { rule: 'A dollar is the least that is bought.', asserts: "MinTopUp: '1'" },
          {
            rule: 'The request limit counts failed requests without a limit.',
            asserts: "ModelRequestRateLimitCount: '0'",
          },
          { rule: 'The request limit lets 1000 succeed.', asserts: "ModelRequestRateLimitSuccessCount: '1000'" },
          {
            rule: 'The period of the request limit is a minute.',
            asserts: "ModelRequestRateLimitDurationMinutes: '1'",
          },
          { rule: 'Automatic retries are three.', asserts: "'global.auto_retry_count': '3'" },
          { rule: 'Automatic retries follow 5xx and 4xx.', asserts: "'global.auto_retry_status_codes': '5xx,4xx'" },
          {
            rule: 'The group without request limits is bulk-ok.',
            asserts: "'global.rate_limit_exempt_group': 'bulk-ok'",
          },
          {
            rule: 'The group whose prompts are not screened is nsfw-ok.',
            asserts: "'global.safe_check_exempt_group': 'nsfw-ok'",
          },
          {
            rule: 'Keep-alive comments are 60 seconds apart.',
            asserts: "'general_setting.ping_interval_seconds': '60'",
          },
          {
            rule: 'The share of thinking of Gemini is 0.6.',
            asserts: "'gemini.thinking_adapter_budget_tokens_percentage': '0.6'",
          },
          {
            rule: 'Gemini’s names with -thinking are left alone.',
            asserts: "'gemini.thinking_adapter_enabled': 'false'",
          },
          {
            rule: 'The share of thinking of Claude is 0.8.',
            asserts: "'claude.thinking_adapter_budget_tokens_percentage': '0.8'",
          },
          { rule: 'Claude’s names with -thinking are read.', asserts: "'claude.thinking_adapter_enabled': 'true'" },
        ],
      },
    },
    Accounts: {
      'client/features/account/thresholds.test.ts': {
        '0.2, 1, 5 and 10 dollars are offered as thresholds of warnings': {
          rule: '0.2, 1, 5 and 10 dollars are offered as thresholds.',
          asserts: '[0.2, 1, 5, 10]',
        },
      },
      'test/trpc/accounts.test.ts': {
        'says below which balance its owner is warned, and other settings choose nothing': {
          rule: 'A balance is warned of below 500000.',
          asserts: '500_000',
        },
      },
      'client/features/setup/modes.test.ts': {
        'a site is run for others unless its founder chooses otherwise, and opens after 1.5 seconds': {
          rule: 'A site is run for others, by oneself, or to be looked at; for others at first.',
          asserts: "toBe('external')",
        },
      },
      'test/browser/sign-in.test.ts': {
        'make an account, sign in to it again, and lead back to where the reader was going': {
          rule: 'Login leads to the tokens where the address names no other place.',
          asserts: '**/app/tokens',
        },
      },
    },
    Channels: {
      'client/features/channels/form/values.test.ts': {
        'the key field says the parts that a type’s key is made of, and else how several are separated': {
          rule: 'The key field says of what parts the key of a type is made.',
          asserts: 'APPID|APISecret|APIKey',
        },
        'a new channel is of the group default and switches off by itself': [
          { rule: 'A new channel is of the group default.', asserts: "groups: ['default']" },
          { rule: 'A new channel switches off by itself.', asserts: 'autoBan: true' },
        ],
      },
    },
    Lists: {
      'src/core/paging.test.ts': {
        'a list has 10 rows a page, or 20, 50 or 100 where its reader chooses so, and no more': [
          { rule: 'A list has 10 rows a page.', asserts: 'pageSize: 10 }' },
          { rule: '10, 20, 50 and 100 rows are offered.', asserts: '[10, 20, 50, 100]' },
        ],
      },
      'client/features/tasks/words.test.ts': {
        'drawings begin with the last 30 days, music with today, and more than 60 seconds are shown in red': {
          rule: 'Drawings begin with the last 30 days.',
          asserts: '30',
        },
      },
      'client/lib/time-range.test.ts': {
        'one month before %s is %s': {
          rule: 'The log is cleared up to a month ago.',
          asserts: 'new Date(2026, 9, 23, 15, 30)',
        },
      },
    },
    'Tokens and codes': {
      'client/features/tokens/presets.test.ts': {
        'a new token has 500000, never expires, and would be limited to 1000 requests and 10 successes in 60 seconds': [
          { rule: 'A new token has 500000.', asserts: '500_000' },
          { rule: 'It never expires.', asserts: 'expiresAt: null' },
          { rule: 'Its limit counts 1000 requests.', asserts: 'rateLimitCount: 1000' },
          { rule: 'Its limit counts 10 successes.', asserts: 'rateLimitSuccess: 10' },
          { rule: 'Its limit is over 60 seconds.', asserts: 'rateLimitPeriod: 60' },
        ],
        'the form offers amounts of 1 to 1000 dollars, 10 to 100 tokens at once, and an hour, a day or thirty days': [
          { rule: '1, 10, 50, 100, 500 and 1000 dollars are offered.', asserts: '[1, 10, 50, 100, 500, 1000]' },
          { rule: '10, 20, 30 and 100 tokens at once are offered.', asserts: '[10, 20, 30, 100]' },
          { rule: 'An hour, a day and thirty days are offered.', asserts: '[3_600_000, 86_400_000, 2_592_000_000]' },
        ],
      },
      'client/features/redemptions/words.test.ts': {
        'a new code is one of 100000, used without a limit; amounts of 1 to 1000 dollars are offered': [
          { rule: 'A new code is worth 100000.', asserts: 'quota: 100_000' },
          { rule: 'One code is made, which is used without a limit.', asserts: 'count: 1, maxUses: -1' },
        ],
      },
    },
    'Channels and playground': {
      'client/features/channels/tests/run-tests.test.ts': {
        '1 to 10 models may be tried at once, and three are unless somebody asks for more or fewer': {
          rule: 'Three models are tested at once.',
          asserts: 'preset: 3',
        },
      },
      'client/features/playground/settings.test.ts': {
        'the temperature goes from 0.1 to 1 by 0.1, and the first settings ask a helpful assistant for as much as it gives':
          { rule: 'The temperature goes from 0.1 to 1 by 0.1.', asserts: '0.1' },
      },
      'test/trpc/channels.test.ts': {
        'are created with defaults, an index and keys that the database cannot give away': {
          rule: 'A new channel disables itself and belongs to the group default.',
          asserts: 'default',
        },
      },
    },
  },
}
