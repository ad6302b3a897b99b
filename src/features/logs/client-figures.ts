import { quotaOfReceipt } from '#core/pricing/charge.ts'
import { type ChargeLine, type LineLabel, linesOf } from '#core/pricing/charge-lines.ts'
import type { RatioPrice } from '#core/pricing/price.ts'
import { type BatchReceipt, type Receipt, receipt, type UsageReceipt } from '#core/pricing/receipt.ts'
import type { LogView } from './view.ts'

type Figures = Record<string, unknown>

/**
 * Clients of the documented paths compute from a row what it cost, each by the arithmetic that it knows: what a row says there has to
 * give the charge by it. The receipt knows more than that arithmetic has names for (long prompts, batches, writes that are kept for
 * an hour), so that what such a part of a charge comes to for each token is given as its ratio.
 */
export function clientFigures(view: LogView): LogView {
  const { other } = view
  if (!other) return view
  const read = receipt.safeParse(other['receipt'])
  const shown = { ...other, ...(read.success ? figuresOf(read.data) : freeFigures(view)) }
  return { ...view, other: shown, promptTokens: plainTokens(view.promptTokens, shown) }
}

/** By Claude's arithmetic, what was read from the cache and written to it is added by ratios of its own. */
const plainTokens = (promptTokens: number, other: Figures): number =>
  other['claude'] === true
    ? Math.max(0, promptTokens - figure(other['cache_tokens']) - figure(other['cache_creation_tokens']))
    : promptTokens

const figure = (value: unknown): number => (typeof value === 'number' ? value : 0)

/** Of a price per call that another row paid, or nobody because nothing was used. */
const freeFigures = ({ quota, other }: LogView): Figures =>
  quota === 0 && figure(other?.['model_price']) > 0 ? { model_price: 0 } : {}

function figuresOf(read: Receipt): Figures {
  if (read.formula === 'task') return {}
  // Sizes, qualities and numbers of images are no part of that arithmetic: the dollars of the whole call.
  if (read.formula === 'image') {
    return { model_price: quotaOfReceipt({ ...read, groupRatio: 1 }) / read.quotaPerUnit }
  }
  const lines = linesOf({ ...read, groupRatio: 1 })
  if (read.price.kind === 'ratio') return ratiosOf(read, lines, read.price)
  return read.formula === 'batch' ? { model_price: read.price.modelPrice * sumOf(lines, ['call']).cost } : {}
}

/** The tokens of the lines, and the same as tokens of a model whose every ratio is 1. */
function sumOf(lines: readonly ChargeLine[], labels: readonly LineLabel[]): { tokens: number; cost: number } {
  let [tokens, cost] = [0, 0]
  for (const { label, quantity, ratios } of lines) {
    if (!labels.includes(label)) continue
    tokens += quantity
    cost += ratios.reduce((product, { value }) => product * value, quantity)
  }
  return { tokens, cost }
}

function ratiosOf(read: UsageReceipt | BatchReceipt, lines: readonly ChargeLine[], price: RatioPrice): Figures {
  /** What a token of these lines costs over `base`; the price's own ratio where there are none, or where it is just that. */
  const ratio = (own: number, base: number, ...labels: LineLabel[]): number => {
    const { tokens, cost } = sumOf(lines, labels)
    const found = cost / tokens / base
    return Number.isFinite(found) && Math.abs(found - own) > 1e-9 * own ? Number(found.toPrecision(12)) : own
  }
  const model = ratio(price.modelRatio, 1, 'input')
  const figures = {
    model_ratio: model,
    completion_ratio: ratio(price.completionRatio, model, 'output', 'imageOutput'),
  }
  if (read.formula === 'audio') {
    const audio = ratio(price.audioRatio, model, 'audioInput')
    const spoken = ratio(price.audioCompletionRatio, model * audio, 'audioOutput')
    // Nothing read from the cache is cheaper there.
    return { ...figures, audio_ratio: audio, audio_completion_ratio: spoken, cache_tokens: 0 }
  }
  const cached = { ...figures, cache_ratio: ratio(price.cacheRatio, model, 'cacheRead') }
  const { tokens: written } = sumOf(lines, ['cacheWrite', 'cacheWrite1h'])
  const writeRatio = ratio(price.cacheWriteRatio, model, 'cacheWrite', 'cacheWrite1h')
  if (read.formula === 'text' && (written === 0 || writeRatio === 1)) return cached
  // The one arithmetic that knows of writes.
  return { ...cached, claude: true, cache_creation_tokens: written, cache_creation_ratio: writeRatio }
}
