/**
 * What the console calls the periodic jobs, and the sentences that tell what came of their runs. A job without a line here
 * is shown by its name. The English stands beside the settings page, which shows them.
 */
const jobWords = {
  'channel-tests': {
    label: '测试所有渠道',
    results: ['已测试 {tested} 个渠道：{failed} 个失败，{disabled} 个被禁用，{enabled} 个重新启用'],
  },
  'channel-balances': {
    label: '更新所有渠道余额',
    results: ['已更新 {updated} 个渠道的余额：{failed} 个失败，{disabled} 个余额不足被禁用'],
  },
  'channel-models': {
    label: '比对上游模型列表',
    results: ['已比对 {compared} 个渠道：{changed} 个与上游不一致，{failed} 个失败'],
  },
  'log-partitions': {
    label: '准备日志分表',
    results: ['日志分表已备至 {until}'],
  },
  'usage-rollup': {
    label: '汇总用量',
    results: ['用量已汇总至 {until}'],
  },
  'task-polling': {
    label: '查询绘图和音乐任务',
    results: ['已查询 {drawings} 个绘图任务和 {jobs} 个音乐任务'],
  },
  'message-batches': {
    label: '查询批量请求',
    results: ['已查询 {batches} 个批量请求'],
  },
  payments: {
    label: '处理订单和返佣',
    results: ['已关闭 {expired} 个未支付的订单，补发 {rebates} 笔返佣，{plans} 个套餐到期'],
  },
  'plan-notices': {
    label: '发送套餐通知',
    results: ['已发送 {sent} 条套餐通知'],
  },
  retention: {
    label: '清理过期数据',
    results: ['已清理 {rows} 行过期数据，其中日志 {logs} 行'],
  },
  attention: {
    label: '通知待处理事项',
    results: ['{items} 项新的待处理事项，已通知 {administrators} 位管理员'],
  },
  'log-clearing': {
    label: '清理历史日志',
    results: ['{count} 条日志已清理！'],
  },
} as const satisfies Record<string, { label: string; results: readonly string[] }>

export type JobName = keyof typeof jobWords

/** Said of any job whose run somebody ended. */
export const cancelledRun = '已取消'

export const jobLabel = (name: string): string =>
  Object.hasOwn(jobWords, name) ? jobWords[name as JobName].label : name

/** Every sentence of above, for the check of their English. */
export const jobSentences: readonly string[] = [
  cancelledRun,
  ...Object.values(jobWords).flatMap(({ label, results }) => [label, ...results]),
]
