import type { Language } from '#core/errors.ts'
import { balanceText } from '#core/balance-text.ts'
import type { Attention } from './service.ts'

const dollars = (amount: number): string => `$${amount.toFixed(2)}`
const day = (time: Date): string => time.toISOString().slice(0, 10)

/** What needs a hand, in one line of a notice. */
export function attentionText(item: Attention): Record<Language, string> {
  switch (item.kind) {
    case 'channel-disabled':
      return {
        zh: `渠道 ${item.channel} 已自动禁用：${item.reason}`,
        en: `Channel ${item.channel} was disabled automatically: ${item.reason}`,
      }
    case 'circuit-open':
      return {
        zh: `渠道 ${item.channel} 处于冷却中：${item.reason}`,
        en: `Channel ${item.channel} is cooling down: ${item.reason}`,
      }
    case 'model-unserved':
      return {
        zh: `模型 ${item.model} 没有可用的渠道（分组 ${item.groups.join(', ')}）`,
        en: `Model ${item.model} has no working channel (groups ${item.groups.join(', ')})`,
      }
    case 'price-missing':
      return { zh: `模型 ${item.model} 没有价格`, en: `Model ${item.model} has no price` }
    case 'balance-low':
      return {
        zh: `渠道 ${item.channel} 的余额只剩 ${balanceText(item.balance, item.currency)}`,
        en: `Channel ${item.channel} has only ${balanceText(item.balance, item.currency)} left`,
      }
    case 'balance-off':
      return {
        zh: `渠道 ${item.channel} 的上游余额减少 ${dollars(item.reported)}，本站计得 ${dollars(item.counted)}`,
        en: `Channel ${item.channel}: the upstream's balance fell by ${dollars(item.reported)}, counted here ${dollars(item.counted)}`,
      }
    case 'drift':
      return {
        zh: `渠道 ${item.channel} 有 ${item.missing} 个模型上游已不再提供`,
        en: `Channel ${item.channel} lists ${item.missing} models that its upstream no longer serves`,
      }
    case 'proxy-unknown':
      return {
        zh: `反向代理 ${item.address} 未写入 TRUST_PROXY，所有访客被视为同一个地址`,
        en: `TRUST_PROXY does not name the reverse proxy ${item.address}: all visitors count as one address`,
      }
    case 'model-retired':
      return {
        zh: `模型 ${item.model} 于 ${day(item.retires)} 停用，建议改用 ${item.successor}`,
        en: `Model ${item.model} is retired on ${day(item.retires)}; use ${item.successor} instead`,
      }
  }
}
