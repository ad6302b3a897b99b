import type { RuleList } from './rule.ts'

const codec = { file: 'src/core/options/codec.test.ts', test: '%s = %s with %s' } as const
const rulesTest = 'src/core/options/rules.test.ts'
const form = 'test/browser/settings.test.ts'
const logs = 'test/trpc/logs.test.ts'
const changes = 'test/relay/price-changes.test.ts'

export const rules: RuleList = {
  title: 'Settings, prices and the log',
  sections: {
    'Filters and refreshes': [
      {
        rule: 'A filter of the log that cannot be read asks nothing and is named.',
        message: '地址中的筛选条件无法识别，未按其筛选：{names}',
        asserts: 'not applied: Type, Outcome, Time, Duration, Cost',
        file: 'test/browser/logs.test.ts',
        test: 'asks nothing under filters that cannot be read, names them, and drops them at one press',
      },
      {
        rule: 'A channel that is no number is looked for by name over REST too, and a type that there is not is refused.',
        asserts: "channel: 'word'",
        file: 'test/rest/logs.test.ts',
        test: 'is filtered by the documented words, times included to the second',
      },
      {
        rule: 'A refresh of the dashboard that fails leaves what was shown.',
        message: '刷新失败，显示的是之前的内容：{reason}',
        asserts: 'showing what was there before',
        file: 'test/browser/dashboard.test.ts',
        test: 'keeps what it showed where a refresh fails, says so, and tries again at one press',
      },
    ],
    Options: [
      {
        rule: 'A table that is no JSON is refused.',
        message: '不是合法的 JSON 字符串',
        asserts: 'option.not_json',
        ...codec,
      },
      {
        rule: 'The rebate percentage lies between 0 and 100.',
        message: '返佣百分比必须在0到100之间',
        asserts: 'option.rebate_percentage',
        ...codec,
      },
      {
        rule: 'Top-up ratios are JSON.',
        message: '充值分组倍率不是合法的 JSON 字符串',
        asserts: 'option.topup_ratio_not_json',
        ...codec,
      },
      {
        rule: 'Quotas are at least 0.',
        message: '{label}不能小于 {minimum}',
        asserts: "['CheckInQuota', '-1', 'option.too_small']",
        ...codec,
      },
      {
        rule: 'The trust level is 0 to 4.',
        asserts: "['LinuxDOMinimumTrustLevel', '5', 'option.too_large']",
        ...codec,
      },
      {
        rule: 'Data is exported at least a minute apart.',
        asserts: "['DataExportInterval', '0', 'option.too_small']",
        ...codec,
      },
      {
        rule: 'Automatic retries are 1 to 10.',
        asserts: "['global.auto_retry_count', '11', 'option.too_large']",
        ...codec,
      },
      {
        rule: 'Keep-alive comments are a second apart or more.',
        asserts: "['general_setting.ping_interval_seconds', '0', 'option.too_small']",
        ...codec,
      },
      {
        rule: 'A limit of successes is at least 1.',
        asserts: "['ModelRequestRateLimitSuccessCount', '0', 'option.too_small']",
        ...codec,
      },
      {
        rule: 'The share of thinking of Gemini is at least 0.002.',
        asserts: "['gemini.thinking_adapter_budget_tokens_percentage', '0.001', 'option.too_small']",
        ...codec,
      },
      {
        rule: 'The share of thinking of Claude is at least 0.1.',
        asserts: "['claude.thinking_adapter_budget_tokens_percentage', '0.09', 'option.too_small']",
        ...codec,
      },
      {
        rule: 'Steps of long prompts ascend.',
        message: '各档必须按 above 从小到大排列',
        asserts: 'option.long_context_order',
        ...codec,
      },
      { rule: 'A domain looks like one.', asserts: 'option.domain_invalid', ...codec },
      {
        rule: 'A domain stands on the list once.',
        message: '该域名已存在于白名单中',
        asserts: 'option.domain_duplicate',
        ...codec,
      },
      {
        rule: 'The closing slash of addresses is removed.',
        asserts: 'ServerAddress',
        file: codec.file,
        test: 'removes the closing slash of addresses',
      },
      {
        rule: 'Payment wants the server address first.',
        message: '请先填写服务器地址',
        asserts: 'option.requires_server_address',
        file: rulesTest,
        test: 'wants the server address before payment is configured',
      },
      { rule: 'Switches are saved first.', file: rulesTest, test: 'saves switches before everything else' },
    ],
    'The settings page': [
      {
        rule: 'What is refused stays as typed, the rest is saved.',
        message: '部分保存失败，请重试',
        file: form,
        test: 'says which change was refused, keeps it as typed and saves the others',
      },
      {
        rule: 'Password login is switched off with consent alone.',
        file: form,
        test: 'asks before password login is switched off, and leaves it on without consent',
      },
      {
        rule: 'A form that is not filled in is not sent.',
        message: '请检查输入',
        file: form,
        test: 'edits groups as a table that is stored as the three documented options',
      },
    ],
    Log: [
      {
        rule: 'A check for updates that fails is said to.',
        message: '检查更新失败，请稍后再试',
        file: form,
        test: 'looks for a newer version where root says that they are published, and says when it cannot',
      },
      {
        rule: 'Clearing wants a time.',
        message: '请选择日志清理时间',
        asserts: 'log.time_required',
        file: logs,
        test: 'wants a time and an administrator',
      },
      {
        rule: 'What was cleared is counted.',
        message: '{count} 条日志已清理！',
        file: logs,
        test: 'in the background reports how far it is, ends when it is asked to, and keeps what was not reached',
      },
      {
        rule: 'A filter that makes no sense finds nothing, or is refused.',
        file: logs,
        test: 'find nothing for what cannot be there, or say what is wrong, and never find everything',
      },
    ],
    Prices: [
      {
        rule: 'Nobody is charged by a price after the fact.',
        message: '生效时间必须在未来',
        file: changes,
        test: 'does not happen once it is cancelled, and not in the past',
      },
      {
        rule: 'What has come into force cannot be called back.',
        message: '该调价已经生效或已取消',
        file: changes,
        test: 'comes into force on every node at its instant by the database’s clock, and is stored once',
      },
      {
        rule: 'A rehearsal says to the unit what happens.',
        asserts: 'rehearsed.after.quota',
        file: changes,
        test: 'says to the unit what the same traffic is charged after the change, by user and model, with its cost',
      },
    ],
  },
}
