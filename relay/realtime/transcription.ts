import { reportedTranscription } from '#core/pricing/audio-files.ts'
import { formulaFor, quotaOfReceipt } from '#core/pricing/charge.ts'
import { withListedAudio } from '#core/pricing/audio-rules.ts'
import { nameOfPrice, priceOf } from '#core/pricing/price-of.ts'
import type { Receipt } from '#core/pricing/receipt.ts'
import { costOfCall } from '#core/pricing/attempt-costs.ts'
import { normaliseUsage, totalTokens, type Usage } from '#core/usage.ts'
import type { ChargeRow } from '#features/ledger/charge-row.ts'
import {
  attemptKeys,
  audioCountKeys,
  callColumns,
  priceText,
  usageColumns,
  usageKeys,
  userGroupKeys,
} from '#relay/billing/log-row.ts'
import { type Json, numberOf, recordOf, wordOf } from '#relay/providers/shared/json.ts'
import type { RealtimeTranslation } from '#relay/providers/types.ts'
import type { Session } from './call.ts'

/** The input is transcribed by a model of its own, with its own usage and price. */
export const endsTranscription = (event: Json): boolean =>
  event['type'] === 'conversation.item.input_audio_transcription.completed'

/** The model that transcribes the input of a session, in either schema. */
export function transcriberOf(session: Json): string | undefined {
  const input = recordOf(recordOf(session['audio'])?.['input'])
  const transcription = recordOf(input?.['transcription']) ?? recordOf(session['input_audio_transcription'])
  return wordOf(transcription?.['model'])
}

/** By tokens or by seconds, as the model is sold. */
export function reportedUsageOf(
  { usage: read }: Pick<RealtimeTranslation, 'usage'>,
  reported: Json,
): Usage | undefined {
  if (reported['type'] === 'duration') return reportedTranscription(numberOf(reported['seconds']))
  const { usage, reported: isReported } = normaliseUsage(read(reported) ?? {})
  return isReported ? usage : undefined
}

/**
 * The charge of one transcription, at the price of the model that made it; at that of the session where nobody has set one. Nothing
 * where it reports nothing: the input is paid with the response then.
 */
export function transcriptionRow(
  session: Session,
  event: Json,
  { id, model }: { id: string; model: string | undefined },
): ChargeRow | undefined {
  const { services, call, plan } = session
  const usage = reportedUsageOf(session.translation, recordOf(event['usage']) ?? {})
  if (usage === undefined || totalTokens(usage) === 0) return undefined
  const { terms: own, attempt, attempts } = plan
  const listed =
    model === undefined
      ? undefined
      : priceOf(services.options, { model, acceptUnset: call.caller.user.acceptsUnpricedModels })
  const terms = listed ? { ...own, price: listed, pricedModel: model } : own
  // The session's price for each call is paid with its responses.
  if (!listed && own.price.kind === 'call') return undefined
  const priced = withListedAudio(nameOfPrice(terms, attempt.upstreamModel), usage)
  const receipt: Receipt = {
    formula: formulaFor({ claude: false, realtime: !listed, usage: priced }),
    usage: priced,
    ...terms,
  }
  const bought = { ...attempt, model: model ?? attempt.model, upstreamModel: model ?? attempt.upstreamModel }
  const cost = costOfCall({ attempt: bought, at: services.ambient.now() }, [], receipt)
  return {
    id,
    ...callColumns(call, attempt),
    modelName: model ?? call.model,
    ...usageColumns(usage, performance.now()),
    quota: quotaOfReceipt(receipt),
    counted: true,
    log: services.options.get('LogConsumeEnabled'),
    content: priceText(terms, receipt),
    firstTokenMs: null,
    isStream: true,
    other: {
      ...usageKeys(terms, usage, null),
      ...attemptKeys(attempt, attempts, { cost: cost.info }),
      ...userGroupKeys(services, call, terms.groupRatio),
      ws: true,
      ...audioCountKeys(terms, priced),
      operation: 'realtime-transcription',
      session: call.id,
      ...call.session,
      usage_source: 'upstream',
      receipt,
    },
    ...cost.columns,
  }
}
