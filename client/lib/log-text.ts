import { currentLanguage } from '../i18n/language.ts'
import { inLanguage, fill, text } from '../i18n/t.ts'

/** What the server writes of itself into rows of the log and of tests: it stands there as the documented Chinese sentence. */
const sentences: readonly string[] = [
  text('系统初始化赠送 {amount}'),
  text('新用户注册赠送 {amount}'),
  text('使用邀请码赠送 {amount}'),
  text('邀请用户赠送 {amount}'),
  text('邀请额度划转到余额 {amount}'),
  text('签到获得 {amount}'),
  text('通过兑换码充值 {amount}，兑换码 ID {id}'),
  text('通过礼品码充值 {amount}，礼品码 ID {id}'),
  text('使用在线充值成功，充值金额: {amount}，支付金额：{money}'),
  text('购买套餐「{plan}」成功，支付金额：{money}'),
  text('购买套餐「{plan}」，扣除 {amount}'),
  text('套餐「{plan}」已终止，退回 {amount}'),
  text('订单 {order} 已退款，收回额度 {amount}'),
  text('订单 {order} 的拒付已撤销，恢复额度 {amount}'),
  text('邀请用户充值返佣 {amount}'),
  text('充值为邀请者带来返佣 {amount}'),
  text('被邀请用户的充值已退款，收回返佣 {amount}'),
  text('被邀请用户的充值已恢复，恢复返佣 {amount}'),
  text('绘图任务 {id} 失败，退回 {amount}'),
  text('{platform}任务 {id} 失败，退回 {amount}'),
  text('请求 {id} 未送达，退回额度'),
  text('管理员将用户额度从 {before} 修改为 {after}'),
  text('管理员操作：启用'),
  text('管理员操作：禁用'),
  text('管理员操作：注销'),
  text('管理员操作：提升为管理员'),
  text('管理员操作：降级为普通用户'),
  text('模型测试'),
  text('模型 {model} 没有价格，没有测试；请在“模型与价格”页面设置价格，或者开启自用模式'),
]

/** The literal parts of each sentence, and the names of what stands between them. */
const patterns = sentences.map((sentence) => {
  const pieces = sentence.split(/[{}]/)
  return {
    sentence,
    literals: pieces.filter((_, at) => at % 2 === 0),
    names: pieces.filter((_, at) => at % 2 === 1),
  }
})

/** What stands in a text at the places of a sentence, by name; null where the text is not that sentence. */
function valuesIn(content: string, { literals, names }: (typeof patterns)[number]): [string, string][] | null {
  const [first = '', ...others] = literals
  if (names.length === 0) return content === first ? [] : null
  if (!content.startsWith(first)) return null
  const values: [string, string][] = []
  let from = first.length
  for (const [at, name] of names.entries()) {
    const literal = others[at] ?? ''
    const isLast = at === names.length - 1
    const to = isLast ? content.length - literal.length : content.indexOf(literal, from + 1)
    if (to <= from || (isLast && !content.endsWith(literal))) return null
    values.push([name, content.slice(from, to)])
    from = to + literal.length
  }
  return values
}

/** The text of a row of the log in the reader's language; what is no sentence of the product's stays as it is. */
export function logText(content: string): string {
  if (currentLanguage() !== 'en') return content
  for (const pattern of patterns) {
    const found = valuesIn(content, pattern)
    if (!found) continue
    // Outside the display in currency an amount is so many units, 点.
    const parts = found.map(([name, part]) => [name, part.replace(/ 点$/, '')])
    return fill(inLanguage(pattern.sentence), Object.fromEntries(parts) as Record<string, string>)
  }
  return content
}
