import { transcriptionUsage } from '#core/pricing/audio-files.ts'
import { chargeReceipt } from '#core/pricing/charge.ts'
import { imageReceipt } from '#core/pricing/images.ts'
import type { Price, RatioPrice } from '#core/pricing/price.ts'
import type { Receipt, UsageFormula, UsageReceipt } from '#core/pricing/receipt.ts'
import { resolvePrice } from '#core/pricing/resolve-price.ts'
import { defaultPriceTables, toolPrices } from '#core/pricing/tables.ts'
import { taskReceipt } from '#core/pricing/tasks.ts'
import { emptyUsage, type Usage } from '#core/usage.ts'
import { type HoldFacts, noneBeside, planHold } from '#relay/billing/hold-plan.ts'
import { type Blocks, code, table } from './markdown.ts'

const quotaPerUnit = 500_000

const usual: RatioPrice = {
  kind: 'ratio',
  modelRatio: 1.25,
  completionRatio: 4,
  cacheRatio: 0.5,
  cacheWriteRatio: 1.25,
  cacheWrite1hRatio: 2,
  imageRatio: 2,
  audioRatio: 16,
  audioCompletionRatio: 2,
  source: 'table',
}

const perCall = (modelPrice: number): Price => ({ kind: 'call', modelPrice, source: 'table' })

type Given = { formula?: UsageFormula; price?: Price; groupRatio?: number } & Pick<UsageReceipt, 'tools' | 'promptUnit'>

const of = (usage: Partial<Usage>, given: Given = {}): Receipt => ({
  formula: 'text',
  price: usual,
  groupRatio: 1,
  quotaPerUnit,
  ...given,
  usage: { ...emptyUsage, ...usage },
})

/** Worked by hand; the page is only written while the code comes to the same. */
type Example = { what: string; receipt: Receipt; working: string; quota: number }

const examples: Example[] = [
  {
    what: '1200 prompt tokens, 200 of them read from the cache; 300 written',
    receipt: of({ promptTokens: 1200, cachedTokens: 200, completionTokens: 300 }),
    working: '(1000 + 200 × 0.5 + 300 × 4) × 1.25',
    quota: 2875,
  },
  {
    what: 'the same, model ratio 0.75, 1 token in, 1 out at completion ratio 1',
    receipt: of(
      { promptTokens: 1, completionTokens: 1 },
      { price: { ...usual, modelRatio: 0.75, completionRatio: 1 } },
    ),
    working: '2 × 0.75 = 1.5, to the nearest',
    quota: 2,
  },
  {
    what: 'one token at model ratio 0.25 in a group of ratio 0.8',
    receipt: of({ promptTokens: 1 }, { price: { ...usual, modelRatio: 0.25 }, groupRatio: 0.8 }),
    working: '1 × 0.25 × 0.8 = 0.2, at least 1',
    quota: 1,
  },
  {
    what: '1200 prompt tokens where more than 1000 cost twice as much, and the answer 1.5 times; 100 written',
    receipt: of(
      { promptTokens: 1200, completionTokens: 100 },
      { price: { ...usual, longContext: [{ above: 1000, input: 2, output: 1.5 }] } },
    ),
    working: '(1200 × 2 + 100 × 4 × 1.5) × 1.25',
    quota: 3750,
  },
  {
    what: 'no token at all, whatever the price',
    receipt: of({}, { price: perCall(5) }),
    working: 'nothing was used',
    quota: 0,
  },
  {
    what: 'Claude: 3000 in (1000 read from the cache, 300 written to it for 5 minutes, 200 for an hour), 100 out; ratios 1.5, 5, 0.1',
    receipt: of(
      { promptTokens: 3000, cachedTokens: 1000, cacheWriteTokens: 500, cacheWrite1hTokens: 200, completionTokens: 100 },
      { formula: 'claude', price: { ...usual, modelRatio: 1.5, completionRatio: 5, cacheRatio: 0.1 } },
    ),
    working: '(1500 + 1000 × 0.1 + 300 × 1.25 + 200 × 2 + 100 × 5) × 1.5 = 4312.5, rounded down',
    quota: 4312,
  },
  {
    what: '100 in, 60 of them of an image; 50 out',
    receipt: of({ promptTokens: 100, imageInputTokens: 60, completionTokens: 50 }),
    working: '(40 + 60 × 2 + 50 × 4) × 1.25',
    quota: 450,
  },
  {
    what: '100 in, an image of 1290 tokens out; model ratio 0.15, image output 100',
    receipt: of(
      { promptTokens: 100, completionTokens: 1290, imageOutputTokens: 1290 },
      { price: { ...usual, modelRatio: 0.15, imageOutputRatio: 100 } },
    ),
    working: '(100 + 1290 × 100) × 0.15',
    quota: 19_365,
  },
  {
    what: 'audio: 500 in (300 of them audio), 200 out (150 of them audio)',
    receipt: of(
      { promptTokens: 500, audioInputTokens: 300, completionTokens: 200, audioOutputTokens: 150 },
      { formula: 'audio' },
    ),
    working: '(200 + 300 × 16 + 50 × 4 + 150 × 16 × 2) × 1.25',
    quota: 12_500,
  },
  {
    what: '$0.02 a call in a group of ratio 1.5',
    receipt: of({ promptTokens: 10 }, { price: perCall(0.02), groupRatio: 1.5 }),
    working: '0.02 × 500000 × 1.5',
    quota: 15_000,
  },
  {
    what: '100 in, and two web searches at $10 a thousand',
    receipt: of({ promptTokens: 100 }, { tools: [{ tool: 'webSearch', calls: 2, dollars: 10, per: 1000 }] }),
    working: '100 × 1.25 + 2 × 10 ÷ 1000 × 500000',
    quota: 10_125,
  },
  {
    what: '1000 characters made speech, model ratio 7.5',
    receipt: of({ promptTokens: 1000 }, { price: { ...usual, modelRatio: 7.5 }, promptUnit: 'character' }),
    working: '1000 × 7.5',
    quota: 7500,
  },
  {
    what: '60.2 seconds transcribed, model ratio 15',
    receipt: of(transcriptionUsage(60.2), { price: { ...usual, modelRatio: 15 } }),
    working: '61 s × 1000 ÷ 60 = 1017 tokens; 1017 × 15',
    quota: 15_255,
  },
  {
    what: 'two `dall-e-3` images, 1024x1792, `hd`, model ratio 16',
    receipt: imageReceipt({
      model: 'dall-e-3',
      size: '1024x1792',
      quality: 'hd',
      count: 2,
      price: { ...usual, modelRatio: 16 },
      groupRatio: 1,
      quotaPerUnit,
    }),
    working: '2 × 0.0025 × 500000 × 16 × size 2 × quality 1.5',
    quota: 120_000,
  },
  {
    what: 'a drawing task at $0.1',
    receipt: taskReceipt({ action: 'IMAGINE', price: perCall(0.1) as never, groupRatio: 1, quotaPerUnit }),
    working: '0.1 × 500000',
    quota: 50_000,
  },
  {
    what: 'a task that only opens a dialogue (inpainting)',
    receipt: taskReceipt({ action: 'INPAINT', price: perCall(0.1) as never, groupRatio: 1, quotaPerUnit }),
    working: 'free',
    quota: 0,
  },
]

function chargeRows(): string[][] {
  return examples.map(({ what, receipt, working, quota }) => {
    const charge = chargeReceipt(receipt)
    if (charge.quota !== quota) throw new Error(`${what}: by hand ${quota}, by the code ${charge.quota}`)
    return [what, receipt.formula, working, String(quota), `$${charge.amount}`]
  })
}

const facts: HoldFacts = {
  terms: { promptTokens: 1000, cacheWriteMarked: 0, price: usual, groupRatio: 1, quotaPerUnit, formula: 'text' },
  limit: 4000,
  choices: 1,
  expected: 500,
  grows: true,
  mostWithoutLimit: 32_768,
  largestNewLimit: 4096,
  least: 256,
}

/** By hand as well: what is set aside for a call of 1000 prompt tokens whose answers usually have 500. */
const holds = [
  { what: 'streamed, limit 4000, balance 40000', given: {}, available: 40_000, amount: 3750, lowered: undefined },
  { what: 'streamed, balance 3000', given: {}, available: 3000, amount: 3000, lowered: undefined },
  {
    what: 'unstreamed, limit 4000, balance 100000',
    given: { grows: false },
    available: 100_000,
    amount: 21_250,
    lowered: undefined,
  },
  {
    what: 'unstreamed, limit 4000, balance 40000',
    given: { grows: false },
    available: 40_000,
    amount: 11_250,
    lowered: 2000,
  },
  { what: 'balance 2000', given: {}, available: 2000, amount: null, lowered: undefined },
] as const

function holdRows(): string[][] {
  return holds.map(({ what, given, available, amount, lowered }) => {
    const plan = planHold({ ...facts, ...given }, available, noneBeside)
    // What was rounded up stays on the safe side, by less than one token.
    const isSame = plan === null ? amount === null : amount !== null && Math.abs(plan.amount - amount) <= 5
    if (!isSame || plan?.lowered !== lowered)
      throw new Error(`${what}: by hand ${amount}, by the code ${JSON.stringify(plan)}`)
    if (plan === null) return [what, 'refused', '']
    return [what, String(plan.amount), lowered === undefined ? '' : `limit lowered to ${lowered}`]
  })
}

const settings = {
  fallback_pricing_enabled: false,
  fallback_single_price: 0,
  fallback_input_ratio: 0,
  fallback_completion_ratio: 0,
  SelfUseModeEnabled: false,
  acceptUnset: false,
}

const lookups: { model: string; changes?: Partial<typeof settings>; why: string }[] = [
  { model: 'gpt-4o', why: 'its own row; the completion ratio follows from the name' },
  { model: 'gpt-4o-gizmo-g-abc', why: 'the row of its family' },
  { model: 'gemini-2.5-flash-thinking-8192', why: 'the row of its family' },
  { model: 'mj_imagine', why: 'a price per call' },
  { model: 'unheard-of', why: 'it has no price: refused' },
  {
    model: 'unheard-of',
    changes: { fallback_pricing_enabled: true, fallback_input_ratio: 2, fallback_completion_ratio: 3 },
    why: 'fallback prices are on',
  },
  {
    model: 'unheard-of',
    changes: { SelfUseModeEnabled: true },
    why: 'self-use mode, or the user accepts unpriced models',
  },
]

const priceText = (price: Price | undefined): string =>
  price === undefined
    ? 'none'
    : price.kind === 'call'
      ? `$${price.modelPrice} a call`
      : `model ratio ${price.modelRatio}, completion ratio ${price.completionRatio}`

export const billingBlocks: Blocks = {
  charges: () => table(['call', 'formula', 'by hand', 'quota', 'dollars'], chargeRows()),
  holds: () => table(['call', 'set aside', 'remark'], holdRows()),
  prices: () =>
    table(
      ['model', 'price by the built-in tables', 'why'],
      lookups.map(({ model, changes, why }) => [
        code(model),
        priceText(resolvePrice({ model, tables: defaultPriceTables, settings: { ...settings, ...changes } })),
        why,
      ]),
    ),
  tools: () =>
    table(
      ['tool', 'dollars', 'per'],
      [
        ['web search of Claude models', String(toolPrices.claude_web_search), '1000'],
        ['Google search of Gemini models', String(toolPrices.google_search), '1000'],
        ['web search of others', String(toolPrices.web_search.default), '1000'],
        ['file search', String(toolPrices.file_search), '1000'],
        ['code interpreter, hosted shell', String(toolPrices.code_interpreter_per_call), 'gigabyte of a container'],
        [
          'image generation',
          'what the model that draws costs by its own price; where it has none, by quality and size as `gpt-image-1`',
          'image',
        ],
      ],
    ),
}
