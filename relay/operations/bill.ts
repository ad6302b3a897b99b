import { ceilingOf, formulaFor, quotaOfReceipt } from '#core/pricing/charge.ts'
import {
  expectedSpeech,
  isPaidByCharacter,
  reportedSpeech,
  reportedTranscription,
  speechUsage,
  transcriptionUsage,
} from '#core/pricing/audio-files.ts'
import { withListedAudio } from '#core/pricing/audio-rules.ts'
import { nameOfPrice } from '#core/pricing/price-of.ts'
import { imageReceipt } from '#core/pricing/images.ts'
import type { Receipt } from '#core/pricing/receipt.ts'
import { emptyUsage, isCount, normaliseUsage, type ReportedUsage, totalTokens, type Usage } from '#core/usage.ts'
import type { ChargeRow } from '#features/ledger/charge-row.ts'
import { cheapTextTokens } from '#relay/counting/cheap-count.ts'
import type { CountTexts } from '#relay/counting/count-text.ts'
import type { AttemptPlan } from '#relay/attempt/attempts.ts'
import type { RelayServices } from '#relay/request/call.ts'
import { costOfCall } from '#core/pricing/attempt-costs.ts'
import type { CallPrice } from '#relay/billing/price-call.ts'
import {
  attemptKeys,
  callColumns,
  priceText,
  receiptKeys,
  usageColumns,
  usageKeys,
  userGroupKeys,
} from '#relay/billing/log-row.ts'
import { givenTokensOf, promptTokensOf } from './as-sent.ts'
import { drawsImages } from './images.ts'
import { isObject } from '#relay/chat/json.ts'
import type { PlainCall } from './types.ts'

/** What a call is sent as, and under which price. */
type PricedAs = { upstreamModel: string; terms: CallPrice }

type PlainUsage = {
  usage: Usage
  promptUnit: 'token' | 'character'
  source: 'upstream' | 'estimated'
  /** A figure that cannot be was dropped, or a part cut to its total. */
  corrected: boolean
}

/** What was used: the upstream's figures where it gives any that can be, else what can be counted from the request. */
export async function plainUsage(
  call: Pick<PlainCall, 'asked'>,
  { upstreamModel, terms, count }: PricedAs & { count: CountTexts },
  reported: { usage: ReportedUsage | undefined; seconds: number | undefined },
): Promise<PlainUsage> {
  const { asked } = call
  if (asked.operation === 'speech') {
    const model = nameOfPrice(terms, upstreamModel)
    const { usage, corrected } = normaliseUsage(reportedSpeech(reported.usage ?? {}))
    if (usage.completionTokens > 0 && !isPaidByCharacter(model))
      return { usage, promptUnit: 'token', source: 'upstream', corrected }
    const [input = ''] = asked.texts
    const countedTokens = await count([input], upstreamModel)
    return { ...speechUsage({ model, input, countedTokens }), source: 'estimated', corrected: false }
  }
  const { usage, reported: isReported, corrected } = normaliseUsage(reported.usage ?? {})
  if (isReported && isCount(reported.usage?.promptTokens ?? 0))
    return { usage, promptUnit: 'token', source: 'upstream', corrected }
  const counted = (promptTokens: number, isCorrected = corrected): PlainUsage => ({
    usage: { ...usage, promptTokens, audioInputTokens: audioOf(call) },
    promptUnit: 'token',
    source: 'estimated',
    corrected: isCorrected,
  })
  switch (asked.operation) {
    case 'transcriptions':
    case 'translations': {
      const received = reportedTranscription(reported.seconds)
      const { promptTokens } = received ?? transcriptionUsage(asked.seconds)
      return counted(promptTokens, corrected || (!received && reported.seconds !== undefined))
    }
    case 'images':
    case 'image-edits':
      return counted(asked.count)
    default:
      return counted(givenTokensOf(call) + (await count(asked.texts, upstreamModel)))
  }
}

/** The part of what is given that is sound, of calls whose sound is not measured. */
const audioOf = ({ asked }: Pick<PlainCall, 'asked'>): number => asked.foreign?.media?.audio ?? 0

export const isRecording = ({ asked }: Pick<PlainCall, 'asked'>): boolean =>
  asked.operation === 'transcriptions' || asked.operation === 'translations'

const pricedUsage = (call: PlainCall, model: string, usage: Usage): Usage =>
  isRecording(call) || call.asked.operation === 'speech' ? withListedAudio(model, usage) : usage

/** What the charge is computed from. */
export function plainReceipt(
  call: PlainCall,
  plan: PricedAs,
  used: { usage: Usage; promptUnit: 'token' | 'character'; source: 'upstream' | 'estimated' },
): Receipt {
  const { asked } = call
  const model = nameOfPrice(plan.terms, plan.upstreamModel)
  if (drawsImages(call.asked)) {
    const { size, quality, count } = asked
    const usage = used.source === 'upstream' ? used.usage : undefined
    return imageReceipt({ model, size, quality, count, usage, ...plan.terms })
  }
  const usage = pricedUsage(call, model, used.usage)
  const formula = formulaFor({ claude: false, realtime: false, usage })
  return {
    formula,
    usage,
    ...(used.promptUnit === 'character' ? { promptUnit: used.promptUnit } : {}),
    ...plan.terms,
  }
}

/** Rankers read the question once with every document, and count it so. */
function repeatedQuery({ asked }: PlainCall): number {
  const { query, documents } = asked.json
  if (asked.operation !== 'rerank' || typeof query !== 'string' || !Array.isArray(documents)) return 0
  return cheapTextTokens(query) * Math.max(0, documents.length - 1)
}

/** Of all files: which of several the upstream reads is its own business. */
const fileBytes = ({ form }: PlainCall['asked']): number =>
  [...(form?.values() ?? [])].reduce((sum, part) => sum + (part instanceof Blob ? part.size : 0), 0)

/** Vendors' own words for the number of images, at the top of a body or in a group of settings. */
const countNames = new Set([
  'batch_size',
  'image_count',
  'max_images',
  'n',
  'num_images',
  'num_outputs',
  'number_of_images',
])
/** The most that any of them draws for one call. */
const mostImages = 128
/** Volcengine draws so many in a row where nobody says how many. */
const usualSeries = 15

function mostImagesIn(json: Record<string, unknown>): number {
  const groups = [json, ...Object.values(json).filter(isObject)]
  const counts = groups
    .flatMap((group) => Object.entries(group).map(([name, value]) => (countNames.has(name) ? Number(value) : 0)))
    .filter((count) => Number.isInteger(count) && count <= mostImages)
  const isSeries = json['sequential_image_generation'] === 'auto' && !counts.some((count) => count > 1)
  return Math.max(isSeries ? usualSeries : 0, ...counts)
}

/** What to set aside: the same formula over what is known before the call. */
export function plainEstimate(call: PlainCall, { attempt, terms }: AttemptPlan): number {
  const { asked } = call
  const promptTokens =
    asked.operation === 'speech'
      ? [...(asked.texts[0] ?? '')].length
      : isRecording(call)
        ? // A minute of audio is about 480 KB at common rates; without its length that is the guess.
          asked.seconds === undefined
          ? Math.max(1000, Math.ceil(fileBytes(asked) / 480))
          : transcriptionUsage(asked.seconds).promptTokens
        : promptTokensOf(call) + repeatedQuery(call)
  // The sound is reported in a stream alone.
  const reportsAudio =
    asked.operation === 'speech' && asked.stream && !isPaidByCharacter(nameOfPrice(terms, attempt.upstreamModel))
  const spoken = reportsAudio ? expectedSpeech(cheapTextTokens(asked.texts[0] ?? '')) : {}
  const audioInputTokens = isRecording(call) ? promptTokens : audioOf(call)
  const count = drawsImages(call.asked) ? Math.max(asked.count, mostImagesIn(asked.json)) : asked.count
  const receipt = plainReceipt(
    { ...call, asked: { ...asked, count } },
    { upstreamModel: attempt.upstreamModel, terms },
    {
      usage: { ...emptyUsage, promptTokens, audioInputTokens, ...spoken },
      promptUnit: 'token',
      source: 'estimated',
    },
  )
  return ceilingOf(receipt)
}

export type PlainEnd = {
  used: Awaited<ReturnType<typeof plainUsage>>
  firstByteMs: number | null
  upstreamMs: number
  end: 'complete' | 'hung-up' | 'failed'
  losses: readonly string[]
}

/** The log row of a finished operation. */
export function plainChargeRow(
  services: RelayServices,
  call: PlainCall,
  given: { plan: AttemptPlan; end: PlainEnd },
): ChargeRow {
  const { plan, end } = given
  const { attempt, attempts, terms } = plan
  const { usage, source, corrected } = end.used
  const isUnused = totalTokens(usage) === 0
  const receipt = isUnused ? null : plainReceipt(call, { upstreamModel: attempt.upstreamModel, terms }, end.used)
  const text = priceText(terms, receipt)
  const cost = costOfCall({ attempt, at: call.receivedAt }, attempts, receipt)
  const firstTokenMs = end.firstByteMs === null ? null : Math.round(end.firstByteMs)
  return {
    id: call.id,
    ...callColumns(call, attempt),
    ...usageColumns(usage, call.startedAt),
    quota: receipt ? quotaOfReceipt(receipt) : 0,
    counted: !isUnused,
    log: services.options.get('LogConsumeEnabled'),
    content: drawsImages(call.asked) ? `${text}, 大小 ${call.asked.size}, 品质 ${call.asked.quality}` : text,
    firstTokenMs,
    isStream: call.stream,
    other: {
      ...usageKeys(terms, usage, firstTokenMs),
      ...attemptKeys(attempt, attempts, { upstreamMs: end.upstreamMs, cost: cost.info }),
      ...receiptKeys(receipt),
      ...userGroupKeys(services, call, terms.groupRatio),
      ...(receipt ? { receipt } : {}),
      operation: call.asked.operation,
      ...call.session,
      usage_source: source,
      ...(corrected ? { usage_corrected: true } : {}),
      ...(end.end === 'complete' ? {} : { end: end.end }),
      ...(end.losses.length > 0 ? { losses: end.losses } : {}),
    },
    ...cost.columns,
  }
}
