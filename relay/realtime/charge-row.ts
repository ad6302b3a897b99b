import { formulaFor, quotaOfReceipt } from '#core/pricing/charge.ts'
import type { Receipt } from '#core/pricing/receipt.ts'
import { totalTokens, type Usage } from '#core/usage.ts'
import type { ChargeRow } from '#features/ledger/charge-row.ts'
import { type CostInfo, costOfCall } from '#core/pricing/attempt-costs.ts'
import type { CallPrice } from '#relay/billing/price-call.ts'
import {
  attemptKeys,
  attemptRecord,
  audioCountKeys,
  callColumns,
  priceText,
  usageColumns,
  usageKeys,
  userGroupKeys,
} from '#relay/billing/log-row.ts'
import type { Session } from './call.ts'
import type { Measured } from './meter-type.ts'

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
  const isUnused = totalTokens(usage) === 0
  const receipt = isUnused || part.paid ? null : receiptOf(plan.terms, usage)
  const startedAt = times.startedAt ?? call.startedAt
  const firstTokenMs = times.firstPartAt === null ? null : Math.round(times.firstPartAt - startedAt)
  const cost = costOfCall({ attempt: plan.attempt, at: services.ambient.now() }, [], boughtIn(plan.terms, part))
  const remark = isUnused ? '（没有用量，请求可能出错）' : part.paid ? '（本次会话已计费）' : ''
  return {
    id: part.id,
    ...callColumns(call, plan.attempt),
    ...usageColumns(usage, startedAt),
    quota: receipt === null ? 0 : quotaOfReceipt(receipt),
    counted: !isUnused,
    log: services.options.get('LogConsumeEnabled'),
    content: priceText(plan.terms, null, true) + remark,
    firstTokenMs,
    isStream: true,
    other: {
      ...otherOf(session, part, { receipt, firstTokenMs, cost: cost.info }),
      ...userGroupKeys(services, call, plan.terms.groupRatio),
    },
    ...cost.columns,
  }
}

const receiptOf = (terms: CallPrice, usage: Usage): Receipt => ({
  formula: formulaFor({ claude: false, realtime: true, usage }),
  usage,
  ...terms,
})

/** A price per call is paid with the first part; what the upstream takes for the tokens of the others is not. */
const boughtIn = ({ price, ...terms }: CallPrice, { measured, paid }: PartOfSession): Receipt =>
  receiptOf({ ...terms, price: paid && price.kind === 'call' ? { ...price, modelPrice: 0 } : price }, measured.usage)

/** The keys that older consoles read, then our own. */
function otherOf(
  { call, plan, sentAt, transcribes }: Session,
  part: PartOfSession,
  { receipt, firstTokenMs, cost }: { receipt: Receipt | null; firstTokenMs: number | null; cost: CostInfo },
): Record<string, unknown> {
  const { attempt, attempts, terms } = plan
  const { usage, source, corrected } = part.measured
  const upstreamMs = performance.now() - sentAt
  const last = attemptRecord(attempt, { status: part.end === 'failed' ? 500 : 200, ms: upstreamMs })
  return {
    ...usageKeys(terms, usage, firstTokenMs),
    ...attemptKeys(attempt, [...attempts, last], { upstreamMs, cost }),
    ws: true,
    ...audioCountKeys(terms, usage),
    ...(receipt ? { receipt } : {}),
    operation: transcribes ? 'realtime-transcription' : 'realtime',
    session: call.id,
    ...call.session,
    usage_source: source,
    ...(corrected ? { usage_corrected: true } : {}),
    ...(part.end === 'complete' ? {} : { end: part.end }),
  }
}
