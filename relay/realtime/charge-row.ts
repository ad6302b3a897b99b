import { chargeReceipt, formulaFor } from '#core/pricing/charge.ts'
import type { Receipt } from '#core/pricing/receipt.ts'
import { totalTokens, type Usage } from '#core/usage.ts'
import type { ChargeRow } from '#features/ledger/charge-row.ts'
import type { CallPrice } from '#relay/billing/price-call.ts'
import { userGroupKeys } from '#relay/billing/receipt-keys.ts'
import type { Session } from './call.ts'
import type { Measured } from './meter.ts'

export type PartOfSession = Measured & {
  /** The hold's, which is the log row's. */
  id: string
  /** A price per call was charged with an earlier part. */
  paid: boolean
  end: 'complete' | 'hung-up' | 'failed' | 'unpaid'
}

/** The log row of one response, or of what was left at the end of a session. */
export function realtimeChargeRow(session: Session, part: PartOfSession): ChargeRow {
  const { services, call, plan } = session
  const { measured, times } = part
  const { usage } = measured
  const nothing = totalTokens(usage) === 0
  const receipt = nothing || part.paid ? null : receiptOf(plan.terms, usage)
  const { token, user } = call.caller
  const now = performance.now()
  const startedAt = times.startedAt ?? call.startedAt
  const firstTokenMs = times.firstPartAt === null ? null : Math.round(times.firstPartAt - startedAt)
  return {
    id: part.id,
    userId: user.id,
    tokenId: token?.id ?? 0,
    channelId: plan.attempt.channel.id,
    quota: receipt === null ? 0 : chargeReceipt(receipt).quota,
    counted: !nothing,
    log: services.options.get('LogConsumeEnabled'),
    content: contentOf(plan.terms, { nothing, paid: part.paid }),
    username: user.username,
    tokenName: call.caller.tokenName,
    modelName: call.model,
    promptTokens: usage.promptTokens,
    completionTokens: usage.completionTokens,
    cachedTokens: usage.cachedTokens,
    useTimeMs: Math.round(now - startedAt),
    firstTokenMs,
    isStream: true,
    group: call.group,
    clientIp: user.showsIpInLogs ? call.ip : '',
    other: {
      ...otherOf(session, part, { receipt, firstTokenMs, upstreamMs: Math.round(now - session.sentAt) }),
      ...userGroupKeys(services, { user, group: call.group, groupRatio: plan.terms.groupRatio }),
    },
  }
}

const receiptOf = (terms: CallPrice, usage: Usage): Receipt => ({
  formula: formulaFor({ claude: false, realtime: true, usage }),
  usage,
  ...terms,
})

function contentOf({ price, groupRatio }: CallPrice, { nothing, paid }: { nothing: boolean; paid: boolean }): string {
  const digits = (value: number): string => value.toFixed(2)
  const text =
    price.kind === 'call'
      ? `模型价格 ${digits(price.modelPrice)}，分组倍率 ${digits(groupRatio)}`
      : `模型倍率 ${digits(price.modelRatio)}，补全倍率 ${digits(price.completionRatio)}，音频倍率 ${digits(price.audioRatio)}，音频补全倍率 ${digits(price.audioCompletionRatio)}，分组倍率 ${digits(groupRatio)}`
  if (nothing) return `${text}（没有用量，请求可能出错）`
  return paid ? `${text}（本次会话已计费）` : text
}

type Figures = { receipt: Receipt | null; firstTokenMs: number | null; upstreamMs: number }

/** The keys that older consoles read, then our own. */
function otherOf({ call, plan }: Session, part: PartOfSession, figures: Figures): Record<string, unknown> {
  const { attempt, attempts, terms } = plan
  const { usage, source, corrected } = part.measured
  const { price } = terms
  const ratio = price.kind === 'ratio' ? price : null
  const last = {
    channel_id: attempt.channel.id,
    channel_name: attempt.channel.name,
    key_index: attempt.key.position,
    status: part.end === 'failed' ? 500 : 200,
    reason: '',
    ms: figures.upstreamMs,
  }
  return {
    model_ratio: ratio?.modelRatio ?? 0,
    group_ratio: terms.groupRatio,
    completion_ratio: ratio?.completionRatio ?? 0,
    model_price: price.kind === 'call' ? price.modelPrice : -1,
    cache_tokens: usage.cachedTokens,
    cache_ratio: ratio?.cacheRatio ?? 1,
    frt: figures.firstTokenMs ?? -1000,
    admin_info: {
      use_channel: [...attempts, last].map((record) => String(record.channel_id)),
      attempts: [...attempts, last],
      upstream_ms: figures.upstreamMs,
    },
    ...(attempt.mapped ? { is_model_mapped: true, upstream_model_name: attempt.upstreamModel } : {}),
    ws: true,
    audio_input: usage.audioInputTokens,
    audio_output: usage.audioOutputTokens,
    text_input: usage.promptTokens - usage.audioInputTokens,
    text_output: usage.completionTokens - usage.audioOutputTokens,
    audio_ratio: ratio?.audioRatio ?? 1,
    audio_completion_ratio: ratio?.audioCompletionRatio ?? 1,
    ...(figures.receipt ? { receipt: figures.receipt } : {}),
    operation: 'realtime',
    session: call.id,
    usage_source: source,
    ...(corrected ? { usage_corrected: true } : {}),
    ...(part.end === 'complete' ? {} : { end: part.end }),
  }
}
