import { chargeReceipt } from '#core/pricing/charge.ts'
import type { UsageReceipt } from '#core/pricing/receipt.ts'
import { resolvePrice } from '#core/pricing/resolve-price.ts'
import { defaultPriceTables } from '#core/pricing/tables.ts'
import { defaultQuotaPerUnit } from '#core/quota.ts'
import { logType } from '#core/statuses.ts'
import { emptyUsage } from '#core/usage.ts'
import type { PlantedChannel } from './channels.ts'
import { longTailed, oneOf } from './random.ts'
import type { Person } from './people.ts'
import type { PlantedToken } from './tokens.ts'

/** A row of the table `logs`, by its column names. */
export type LogRow = {
  created_at: Date
  user_id: number
  type: number
  content: string
  username: string
  token_name?: string
  token_id?: number
  model_name?: string
  quota?: number
  prompt_tokens?: number
  completion_tokens?: number
  use_time_ms?: number
  is_stream?: boolean
  channel_id?: number
  group?: string
  request_id?: string
  other?: Record<string, unknown>
}

const groupRatios: Record<string, number> = { default: 1, vip: 0.8, research: 0.5 }

const settings = {
  fallback_pricing_enabled: false,
  fallback_single_price: 0,
  fallback_input_ratio: 0,
  fallback_completion_ratio: 0,
  SelfUseModeEnabled: false,
  acceptUnset: false,
}

const flakyShare = 0.2

export type Caller = { person: Person; token: PlantedToken; channels: PlantedChannel[] }

/** One answered call at a moment, priced as the product prices it. */
export function callAt(random: () => number, createdAt: Date, { person, token, channels }: Caller): LogRow {
  const group = token.group || person.group
  const model = oneOf(random, modelsFor(token, channels, group))
  const able = channels.filter((channel) => channel.models.includes(model) && channel.groups.includes(group))
  const working = able.filter((channel) => !channel.directives?.includes('status='))
  const best = Math.max(...working.map((channel) => channel.priority ?? 0))
  const channel = oneOf(
    random,
    working.filter((one) => (one.priority ?? 0) === best),
  )
  const failed = random() < flakyShare ? able.find((one) => one.directives?.includes('status=503')) : undefined
  const receipt = receiptOf(random, model, groupRatios[group] ?? 1)
  const { usage, price } = receipt
  const isStream = !model.includes('embedding') && random() < 0.75
  const upstreamMs = Math.round(channel.responseMs * (0.6 + random()) + usage.completionTokens * (6 + random() * 8))
  const firstTokenMs = isStream ? Math.min(upstreamMs, Math.round(channel.responseMs * (0.5 + random()))) : upstreamMs
  const attempts = [...(failed ? [attemptOf(failed, 503, 420)] : []), attemptOf(channel, 200, upstreamMs)]
  const ratio = price.kind === 'ratio' ? price : null
  return {
    created_at: createdAt,
    user_id: person.id,
    type: logType.consume,
    content: `模型倍率 ${(ratio?.modelRatio ?? 0).toFixed(2)}，补全倍率 ${(ratio?.completionRatio ?? 0).toFixed(2)}，分组倍率 ${receipt.groupRatio.toFixed(2)}`,
    username: person.username,
    token_name: token.name,
    token_id: token.id,
    model_name: model,
    quota: chargeReceipt(receipt).quota,
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    use_time_ms: upstreamMs + 12 + (failed ? 420 : 0),
    is_stream: isStream,
    channel_id: channel.id,
    group,
    request_id: `${createdAt.toISOString().replace(/\D/g, '').slice(0, 14)}${Math.floor(random() * 1e9)}demo`,
    other: {
      model_ratio: ratio?.modelRatio ?? 0,
      group_ratio: receipt.groupRatio,
      completion_ratio: ratio?.completionRatio ?? 0,
      model_price: -1,
      cache_tokens: usage.cachedTokens,
      cache_ratio: ratio?.cacheRatio ?? 1,
      frt: firstTokenMs,
      ...(/^(o\d|gpt-5)/.test(model) ? { reasoning_effort: usage.completionTokens > 800 ? 'high' : 'low' } : {}),
      admin_info: { use_channel: attempts.map((one) => String(one.channel_id)), attempts, upstream_ms: upstreamMs },
      ...(receipt.formula === 'claude' ? { claude: true, cache_creation_tokens: 0, cache_creation_ratio: 1.25 } : {}),
      receipt,
      dialect: receipt.formula === 'claude' ? 'claude' : 'openai-chat',
      usage_source: 'upstream',
    },
  }
}

function modelsFor(token: PlantedToken, channels: PlantedChannel[], group: string): string[] {
  const served = channels
    .filter((channel) => channel.groups.includes(group) && (channel.status ?? 1) === 1)
    .flatMap(({ models }) => models)
  return [...new Set(served)].filter((model) => token.models?.includes(model) ?? true)
}

function receiptOf(random: () => number, model: string, groupRatio: number): UsageReceipt {
  const price = resolvePrice({ model, tables: defaultPriceTables, settings })
  if (!price) throw new Error(`the demo world uses ${model}, which has no price`)
  const promptTokens = longTailed(random, 60, 30_000)
  const cachedTokens = promptTokens > 2000 && random() < 0.6 ? Math.floor(promptTokens * 0.7) : 0
  const completionTokens = model.includes('embedding') ? 0 : longTailed(random, 20, 2500)
  const usage = { ...emptyUsage, promptTokens, cachedTokens, completionTokens }
  const formula = model.startsWith('claude') ? 'claude' : 'text'
  return { formula, usage, tools: [], price, groupRatio, quotaPerUnit: defaultQuotaPerUnit }
}

const attemptOf = (channel: PlantedChannel, status: number, ms: number) => ({
  channel_id: channel.id,
  channel_name: channel.name,
  key_index: 0,
  status,
  reason: status === 200 ? '' : 'The engine is overloaded',
  ms,
})
