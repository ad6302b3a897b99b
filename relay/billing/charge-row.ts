import type { Problem } from '#core/errors.ts'
import { formulaFor, quotaOfReceipt } from '#core/pricing/charge.ts'
import { imagePricesOf, nameOfPrice } from '#core/pricing/price-of.ts'
import type { Receipt, UsageReceipt } from '#core/pricing/receipt.ts'
import { toolUses } from '#core/pricing/tools.ts'
import { totalTokens } from '#core/usage.ts'
import type { ChargeRow } from '#features/ledger/charge-row.ts'
import type { Delivered } from '#relay/chat/delivered.ts'
import type { Attempt, AttemptRecord, Call, RelayServices } from '#relay/request/call.ts'
import type { ChannelRequest } from '#relay/attempt/channel-body.ts'
import { type CostInfo, costOfCall } from '#core/pricing/attempt-costs.ts'
import type { AnswerUsage } from './measure-usage.ts'
import type { CallPrice } from './price-call.ts'
import {
  attemptKeys,
  callColumns,
  contentKeys,
  priceText,
  receiptKeys,
  usageColumns,
  usageKeys,
  userGroupKeys,
} from './log-row.ts'

/** How an answer ended, seen from the bill. */
export type Ending = {
  measured: AnswerUsage
  /** Milliseconds from arrival to the first data; null when none arrived. */
  firstTokenMs: number | null
  /** Milliseconds that the upstream took, of the whole. */
  upstreamMs: number
  isStream: boolean
  /**
   * `complete`: a complete answer; the others were cut and are charged for what was delivered. `unpaid`: ended here, because
   * nothing was left to pay for more.
   */
  end: 'complete' | 'hung-up' | 'failed' | 'unpaid'
  /** Blank text, no tool call, no image. */
  empty: boolean
  losses: string[]
  delivered: () => Delivered
  failure?: string | undefined
  /** What the upstream said, for operators, where it is hidden from callers. */
  upstreamMessage?: string | undefined
  refusal?: Problem | undefined
  /** The answer's tokens by the count that follows streams. */
  countedTokens?: number | undefined
  /** Ids by which the upstream keeps the answer. */
  keeps?: readonly string[] | undefined
}

export type Settlement = {
  attempt: Attempt
  attempts: AttemptRecord[]
  terms: CallPrice
  ending: Ending
  claude: boolean
  /** The request as the channel sent it. */
  sent: ChannelRequest
  /** The output limit that was sent instead of the caller's. */
  lowered?: number | undefined
}

/** Nothing was answered, and the upstream reported no usage either. */
export const isFree = ({ empty, measured }: Pick<Ending, 'empty' | 'measured'>): boolean =>
  empty && !measured.isReported

/** The log row of a finished call, with everything its charge was computed from. */
export function chargeRowOf(services: RelayServices, call: Call, settlement: Settlement): ChargeRow {
  const { attempt, ending, terms } = settlement
  const { usage } = ending.measured
  const used = isFree(ending) ? { ...usage, promptTokens: 0, completionTokens: 0 } : usage
  // Nothing was used: nothing is charged, a price per call included, and no counter moves.
  const isUnused = totalTokens(used) === 0
  const tools = toolUses({
    model: nameOfPrice(terms, attempt.upstreamModel),
    sentAs: attempt.upstreamModel,
    usage: used,
    imagePrices: imagePricesOf(services.options),
  })
  const receipt: UsageReceipt | null = isUnused
    ? null
    : {
        formula: formulaFor({ claude: settlement.claude, realtime: false, usage: used }),
        usage: used,
        ...(tools.length > 0 ? { tools } : {}),
        ...terms,
      }
  const unusedText = ending.end === 'failed' ? '（没有用量，请求可能出错）' : '（没有用量，上游可能超时）'
  const cost = costOfCall({ attempt, at: call.receivedAt }, settlement.attempts, receipt)
  const other = otherOf(call, settlement, { receipt, cost: cost.info })
  return {
    id: call.id,
    ...callColumns(call, attempt),
    ...usageColumns(used, call.startedAt),
    quota: receipt ? quotaOfReceipt(receipt) : 0,
    counted: !isUnused,
    log: services.options.get('LogConsumeEnabled'),
    content: priceText(terms, receipt) + (isUnused ? unusedText : ''),
    firstTokenMs: ending.firstTokenMs === null ? null : Math.round(ending.firstTokenMs),
    isStream: ending.isStream,
    other: {
      ...userGroupKeys(services, call, terms.groupRatio),
      ...other,
      ...contentKeys(services, settlement.sent, ending.delivered),
    },
    ...cost.columns,
  }
}

/** The keys that older consoles read, then our own. */
function otherOf(
  call: Call,
  settlement: Settlement,
  { receipt, cost }: { receipt: Receipt | null; cost: CostInfo },
): Record<string, unknown> {
  const { attempt, attempts, ending, terms, claude } = settlement
  const { usage, source, corrected } = ending.measured
  const { price } = terms
  return {
    ...usageKeys(terms, usage, ending.firstTokenMs === null ? null : Math.round(ending.firstTokenMs)),
    ...attemptKeys(attempt, attempts, { upstreamMs: ending.upstreamMs, cost }),
    ...(call.request.reasoning?.effort ? { reasoning_effort: call.request.reasoning.effort } : {}),
    ...(claude
      ? {
          claude: true,
          cache_creation_tokens: usage.cacheWriteTokens,
          cache_creation_ratio: price.kind === 'ratio' ? price.cacheWriteRatio : 1,
        }
      : {}),
    ...receiptKeys(receipt),
    ...(settlement.sent.leadsSystemPrompt ? { system_prompt_override: true } : {}),
    ...(receipt ? { receipt } : {}),
    ...(settlement.lowered === undefined ? {} : { max_tokens_lowered: settlement.lowered }),
    dialect: call.dialect.id,
    ...call.session,
    usage_source: source,
    ...(corrected ? { usage_corrected: true } : {}),
    ...(ending.end === 'complete' ? {} : { end: ending.end, ...(ending.failure ? { failure: ending.failure } : {}) }),
    ...(ending.refusal ? { refusal: ending.refusal } : {}),
    ...(ending.losses.length > 0 ? { losses: ending.losses } : {}),
  }
}
