import type { RuleList } from './rule.ts'

export const rules: RuleList = {
  title: 'Settings, prices and the log',
  sections: {
    'Filters and refreshes': {
      'test/browser/logs.test.ts': {
        'asks nothing under filters that cannot be read, names them, and drops them at one press': {
          rule: 'A filter of the log that cannot be read asks nothing and is named.',
          message: '地址中的筛选条件无法识别，未按其筛选：{names}',
          asserts: 'Filters in the address that cannot be read: Type, Outcome, Time, Duration, Cost',
        },
      },
      'test/rest/logs.test.ts': {
        'is filtered by the documented words, times included to the second': {
          rule: 'A channel that is no number is looked for by name over REST too, and a type that there is not is refused.',
          asserts: "channel: 'word'",
        },
      },
      'test/browser/dashboard.test.ts': {
        'keeps what it showed where a refresh fails, says so, and tries again at one press': {
          rule: 'A refresh of the dashboard that fails leaves what was shown.',
          message: '刷新失败，显示的是之前的内容：{reason}',
          asserts: 'showing what was there before',
        },
      },
    },
    Options: {
      'src/core/options/codec.test.ts': {
        '%s = %s with %s': [
          {
            rule: 'A table that is no JSON is refused.',
            message: '不是合法的 JSON 字符串',
            asserts: 'option.not_json',
          },
          {
            rule: 'The rebate percentage lies between 0 and 100.',
            message: '返佣百分比必须在0到100之间',
            asserts: 'option.rebate_percentage',
          },
          {
            rule: 'Top-up ratios are JSON.',
            message: '充值分组倍率不是合法的 JSON 字符串',
            asserts: 'option.topup_ratio_not_json',
          },
          {
            rule: 'Quotas are at least 0.',
            message: '{label}不能小于 {minimum}',
            asserts: "['CheckInQuota', '-1', 'option.too_small']",
          },
          { rule: 'The trust level is 0 to 4.', asserts: "['LinuxDOMinimumTrustLevel', '5', 'option.too_large']" },
          {
            rule: 'Data is exported at least a minute apart.',
            asserts: "['DataExportInterval', '0', 'option.too_small']",
          },
          { rule: 'Automatic retries are 1 to 10.', asserts: "['global.auto_retry_count', '11', 'option.too_large']" },
          {
            rule: 'Keep-alive comments are a second apart or more.',
            asserts: "['general_setting.ping_interval_seconds', '0', 'option.too_small']",
          },
          {
            rule: 'A limit of successes is at least 1.',
            asserts: "['ModelRequestRateLimitSuccessCount', '0', 'option.too_small']",
          },
          {
            rule: 'The share of thinking of Gemini is at least 0.002.',
            asserts: "['gemini.thinking_adapter_budget_tokens_percentage', '0.001', 'option.too_small']",
          },
          {
            rule: 'The share of thinking of Claude is at least 0.1.',
            asserts: "['claude.thinking_adapter_budget_tokens_percentage', '0.09', 'option.too_small']",
          },
          {
            rule: 'Steps of long prompts ascend.',
            message: '各档必须按 above 从小到大排列',
            asserts: 'option.long_context_order',
          },
          { rule: 'A domain looks like one.', asserts: 'option.domain_invalid' },
          {
            rule: 'A domain stands on the list once.',
            message: '该域名已存在于白名单中',
            asserts: 'option.domain_duplicate',
          },
        ],
        'removes the closing slash of addresses': {
          rule: 'The closing slash of addresses is removed.',
          asserts: 'ServerAddress',
        },
      },
      'src/core/options/rules.test.ts': {
        'wants the server address before payment is configured': {
          rule: 'Payment wants the server address first.',
          message: '请先填写服务器地址',
          asserts: 'option.requires_server_address',
        },
        'saves switches before everything else': 'Switches are saved first.',
      },
    },
    'The settings page': {
      'test/browser/settings.test.ts': {
        'says which change was refused, keeps it as typed and saves the others': {
          rule: 'What is refused stays as typed, the rest is saved.',
          message: '部分保存失败，请重试',
        },
        'asks before password login is switched off, and leaves it on without consent':
          'Password login is switched off with consent alone.',
        'edits groups as a table that is stored as the three documented options': {
          rule: 'A form that is not filled in is not sent.',
          message: '请检查输入',
        },
      },
    },
    Log: {
      'test/browser/settings.test.ts': {
        'looks for a newer version where root says that they are published, and says when it cannot': {
          rule: 'A check for updates that fails is said to.',
          message: '检查更新失败，请稍后再试',
        },
      },
      'test/trpc/logs.test.ts': {
        'wants a time and an administrator': {
          rule: 'Clearing wants a time.',
          message: '请选择日志清理时间',
          asserts: 'log.time_required',
        },
        'in the background reports how far it is, ends when it is asked to, and keeps what was not reached': {
          rule: 'What was cleared is counted.',
          message: '{count} 条日志已清理！',
        },
        'find nothing for what cannot be there, or say what is wrong, and never find everything':
          'A filter that makes no sense finds nothing, or is refused.',
      },
    },
    Prices: {
      'test/relay/price-changes.test.ts': {
        'does not happen once it is cancelled, and not in the past': {
          rule: 'Nobody is charged by a price after the fact.',
          message: '生效时间必须在未来',
        },
        'comes into force on every node at its instant by the database’s clock, and is stored once': {
          rule: 'What has come into force cannot be called back.',
          message: '该调价已经生效或已取消',
        },
        'says to the unit what the same traffic is charged after the change, by user and model, with its cost': {
          rule: 'A rehearsal says to the unit what happens.',
          asserts: 'rehearsed.after.quota',
        },
      },
    },
  },
}
