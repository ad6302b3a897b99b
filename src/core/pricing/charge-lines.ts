import { emptyUsage, type Usage } from '../usage.ts'
import { add, decimalOf, multiply, shift } from './decimal.ts'
import type { Decimal } from './decimal.ts'
import { stepFor } from './long-context.ts'
import type { Price, RatioPrice } from './price.ts'
import {
  type BatchReceipt,
  type ImageReceipt,
  isToolName,
  type Receipt,
  type TaskReceipt,
  type ToolUse,
  type UsageReceipt,
} from './receipt.ts'

export type LineLabel =
  | 'input'
  | 'cacheRead'
  | 'cacheWrite'
  | 'cacheWrite1h'
  | 'imageInput'
  | 'audioInput'
  | 'output'
  | 'audioOutput'
  | 'imageOutput'
  | 'call'
  | 'image'
  | 'task'
  | ToolUse['tool']

export type RatioName =
  | 'model'
  | 'completion'
  | 'cache'
  | 'cacheWrite'
  | 'image'
  | 'audio'
  | 'audioCompletion'
  | 'imageOutput'
  | 'size'
  | 'quality'
  | 'longContext'
  | 'batch'
  | 'group'

export type LineUnit = 'token' | 'character' | 'call' | 'image'

/** One summand of a charge: `quantity × base × ratios`, in quota. */
export type ChargeLine = {
  label: LineLabel
  quantity: number
  unit: LineUnit
  /** Quota for one of `unit` before ratios. */
  base: Decimal
  ratios: { name: RatioName; value: number }[]
}

const oneQuota = decimalOf(1)
const noQuota = decimalOf(0)
/** An image of a model priced by ratio costs this many dollars at ratio 1. */
const imageDollarsPerRatio = decimalOf('0.0025')

/** Most ratios are 1, which changes nothing. */
export function lineQuota({ quantity, base, ratios }: ChargeLine): Decimal {
  let quota = base === oneQuota ? decimalOf(quantity) : multiply(decimalOf(quantity), base)
  for (const { value } of ratios) if (value !== 1) quota = multiply(quota, decimalOf(value))
  return quota
}

export function exactQuota(lines: readonly ChargeLine[]): Decimal {
  let quota = noQuota
  for (const line of lines) quota = add(quota, lineQuota(line))
  return quota
}

const dollarsInQuota = (dollars: number, quotaPerUnit: number): Decimal =>
  multiply(decimalOf(dollars), decimalOf(quotaPerUnit))

type Ratio = ChargeLine['ratios'][number]
const group = (given: { groupRatio: number }): Ratio => ({ name: 'group', value: given.groupRatio })

export function linesOf(receipt: Receipt): ChargeLine[] {
  switch (receipt.formula) {
    case 'image':
      return imageLines(receipt)
    case 'task':
      return taskLines(receipt)
    case 'batch':
      return batchLines(receipt)
    default:
      return usageLines(receipt)
  }
}

/** A call that used no tokens is free, its price per call and its tools included: the upstream gave nothing. */
function usageLines(receipt: UsageReceipt): ChargeLine[] {
  const { usage, price } = receipt
  if (usage.promptTokens + usage.completionTokens === 0) return []
  const lines = price.kind === 'call' ? [callLine(receipt, price.modelPrice)] : tokenLines(receipt, price)
  for (const tool of receipt.tools ?? []) if (tool.calls > 0) lines.push(toolLine(tool, receipt))
  return lines
}

const callLine = (receipt: Receipt, modelPrice: number): ChargeLine => ({
  label: receipt.formula === 'task' ? 'task' : 'call',
  quantity: 1,
  unit: 'call',
  base: dollarsInQuota(modelPrice, receipt.quotaPerUnit),
  ratios: [group(receipt)],
})

export function toolLine(use: ToolUse, receipt: Pick<UsageReceipt, 'groupRatio' | 'quotaPerUnit'>): ChargeLine {
  const quota = dollarsInQuota(use.dollars, receipt.quotaPerUnit)
  const base = use.per === 1000 ? shift(quota, 3) : quota
  return { label: use.tool, quantity: use.calls, unit: 'call', base, ratios: [group(receipt)] }
}

/** Token counts of the parts that are priced differently; they never overlap and never exceed their total. */
function partsOf(usage: Usage): { plain: number; image: number; write: number; write1h: number; cached: number } {
  const cached = Math.min(usage.cachedTokens, usage.promptTokens)
  const writes = Math.min(usage.cacheWriteTokens, usage.promptTokens - cached)
  const write1h = Math.min(usage.cacheWrite1hTokens, writes)
  const rest = usage.promptTokens - cached - writes
  const image = Math.min(usage.imageInputTokens, rest)
  return { plain: rest - image, image, write: writes - write1h, write1h, cached }
}

/** The lines that grow with an answer. */
export const isOfAnswer = (label: LineLabel): boolean =>
  label === 'output' || label === 'audioOutput' || label === 'imageOutput'

function tokenLines(receipt: UsageReceipt, price: RatioPrice): ChargeLine[] {
  const { usage } = receipt
  const step = receipt.promptUnit === 'character' ? undefined : stepFor(price.longContext, usage.promptTokens)
  const lines: ChargeLine[] = []
  const line = (label: LineLabel, quantity: number, ...own: Ratio[]): void => {
    if (!(quantity > 0)) return
    const ratios: Ratio[] = [{ name: 'model', value: price.modelRatio }, ...own]
    if (step !== undefined) {
      ratios.push({ name: 'longContext', value: isOfAnswer(label) ? step.output : step.input })
    }
    ratios.push(group(receipt))
    const unit = label === 'input' && receipt.promptUnit === 'character' ? 'character' : 'token'
    lines.push({ label, quantity, unit, base: oneQuota, ratios })
  }
  const output = (audioOut: number): void => {
    const rest = usage.completionTokens - audioOut
    // Receipts from before images had a price of their own have none.
    const images = price.imageOutputRatio === undefined ? 0 : Math.min(usage.imageOutputTokens, rest)
    line('output', rest - images, { name: 'completion', value: price.completionRatio })
    line('imageOutput', images, { name: 'imageOutput', value: price.imageOutputRatio ?? price.completionRatio })
  }
  if (receipt.formula === 'audio') {
    const audioIn = Math.min(usage.audioInputTokens, usage.promptTokens)
    const audioOut = Math.min(usage.audioOutputTokens, usage.completionTokens)
    const audio: Ratio = { name: 'audio', value: price.audioRatio }
    line('input', usage.promptTokens - audioIn)
    line('audioInput', audioIn, audio)
    output(audioOut)
    line('audioOutput', audioOut, audio, { name: 'audioCompletion', value: price.audioCompletionRatio })
    return lines
  }
  const parts = partsOf(receipt.formula === 'claude' ? { ...usage, imageInputTokens: 0 } : usage)
  line('input', parts.plain)
  line('imageInput', parts.image, { name: 'image', value: price.imageRatio })
  line('cacheRead', parts.cached, { name: 'cache', value: price.cacheRatio })
  line('cacheWrite', parts.write, { name: 'cacheWrite', value: price.cacheWriteRatio })
  line('cacheWrite1h', parts.write1h, { name: 'cacheWrite', value: price.cacheWrite1hRatio })
  output(0)
  return lines
}

function imageLines(receipt: ImageReceipt): ChargeLine[] {
  if (receipt.count === 0) return []
  return [
    {
      label: 'image',
      quantity: receipt.count,
      unit: 'image',
      base: imageBase(receipt.price, receipt.quotaPerUnit),
      ratios: [
        ...(receipt.price.kind === 'ratio' ? [{ name: 'model' as const, value: receipt.price.modelRatio }] : []),
        { name: 'size', value: receipt.sizeRatio },
        { name: 'quality', value: receipt.qualityRatio },
        group(receipt),
      ],
    },
  ]
}

const imageBase = (price: Price, quotaPerUnit: number): Decimal =>
  price.kind === 'call'
    ? dollarsInQuota(price.modelPrice, quotaPerUnit)
    : multiply(imageDollarsPerRatio, decimalOf(quotaPerUnit))

const taskLines = (receipt: TaskReceipt): ChargeLine[] =>
  receipt.price.kind === 'call' ? [callLine(receipt, receipt.price.modelPrice)] : []

/** Each part as if it were one call of Claude's, at the batch's share of the price; the vendor's tools cost what they always do. */
const batchLines = ({ parts, batchRatio, price, ...terms }: BatchReceipt): ChargeLine[] =>
  parts.flatMap(({ calls, usage, step, tools }) => {
    const ofStep = step === undefined ? undefined : [{ ...step, above: 1 }]
    const priced = price.kind === 'ratio' ? { ...price, longContext: ofStep } : price
    const part: UsageReceipt = {
      ...terms,
      formula: 'claude',
      price: priced,
      usage: { ...emptyUsage, ...usage },
      ...(tools ? { tools } : {}),
    }
    return usageLines(part).map((line) => {
      if (isToolName(line.label)) return line
      const quantity = line.label === 'call' ? calls : line.quantity
      return { ...line, quantity, ratios: [...line.ratios, { name: 'batch' as const, value: batchRatio }] }
    })
  })
