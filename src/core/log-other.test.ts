import fc from 'fast-check'
import { expect, test } from 'vitest'
import { expandOther, leanOther } from './log-other.ts'
import { emptyUsage } from './usage.ts'

const figure = fc.constantFrom(0, 1, 0.5, 4, 500_000)
const count = fc.constantFrom(0, 1, 17, 200_000)
const usage = fc.record({ promptTokens: count, cachedTokens: count, completionTokens: count })
const price = fc.record({
  kind: fc.constant('ratio'),
  modelRatio: figure,
  completionRatio: figure,
  cacheRatio: figure,
  cacheWriteRatio: figure,
  cacheWrite1hRatio: figure,
  imageRatio: figure,
  audioRatio: figure,
  audioCompletionRatio: figure,
  source: fc.constantFrom('table', 'fallback'),
})
const attempt = fc.record(
  {
    channel_id: fc.integer({ min: 1 }),
    channel_name: fc.string(),
    key_index: count,
    status: count,
    reason: fc.string(),
  },
  { requiredKeys: ['channel_id', 'channel_name'] },
)
const receipt = fc.record(
  {
    formula: fc.constantFrom('text', 'claude'),
    usage: usage.map((counts) => ({ ...emptyUsage, ...counts })),
    price: fc.oneof(price, fc.constant({ kind: 'call', modelPrice: 0.1, source: 'table' })),
    groupRatio: figure,
    quotaPerUnit: figure,
    pricedModel: fc.constantFrom('gpt-4o', 'another'),
    tools: fc.constant([{ tool: 'webSearch', calls: 1, dollars: 10, per: 1000 }]),
  },
  { requiredKeys: ['formula', 'usage', 'price', 'groupRatio', 'quotaPerUnit'] },
)
const other = fc.record(
  {
    model_ratio: figure,
    group_ratio: figure,
    completion_ratio: figure,
    model_price: fc.constantFrom(-1, 0.1),
    cache_tokens: count,
    cache_ratio: figure,
    usage_source: fc.constantFrom('upstream', 'estimated'),
    frt: fc.integer(),
    end: fc.constant('hung-up'),
    receipt,
    admin_info: fc.record({
      use_channel: fc.array(fc.constantFrom('1', '2')),
      attempts: fc.array(attempt),
      upstream_ms: count,
    }),
  },
  { requiredKeys: ['frt'] },
)

test('whatever a row keeps comes back as it was', () => {
  fc.assert(
    fc.property(other, (given) => {
      const stored = JSON.parse(JSON.stringify(leanOther(given, 'gpt-4o'))) as Record<string, unknown>
      expect(expandOther(stored, 'gpt-4o')).toEqual(given)
    }),
    { numRuns: 1000 },
  )
})

test('of an ordinary call only what it used, its price and its way are kept', () => {
  const attempts = [{ channel_id: 3, channel_name: 'main', key_index: 0, status: 200, reason: '', ms: 8 }]
  const price = { kind: 'ratio', modelRatio: 0.075, completionRatio: 4, cacheRatio: 0.5, cacheWriteRatio: 1 }
  const others = { cacheWrite1hRatio: 1, imageRatio: 1, audioRatio: 1, audioCompletionRatio: 1, source: 'table' }
  const given = {
    model_ratio: 0.075,
    group_ratio: 1,
    completion_ratio: 4,
    model_price: -1,
    cache_tokens: 0,
    cache_ratio: 0.5,
    frt: 8,
    admin_info: { use_channel: ['3'], attempts, upstream_ms: 8 },
    receipt: {
      formula: 'text',
      usage: { ...emptyUsage, promptTokens: 9, completionTokens: 12 },
      price: { ...price, ...others },
      groupRatio: 1,
      quotaPerUnit: 500_000,
      pricedModel: 'gpt-4o-mini',
    },
    dialect: 'openai-chat',
    usage_source: 'upstream',
  }
  expect(leanOther(given, 'gpt-4o-mini')).toEqual({
    lean: 1,
    frt: 8,
    admin_info: { attempts: [{ channel_id: 3, channel_name: 'main', ms: 8 }], upstream_ms: 8 },
    receipt: {
      usage: { promptTokens: 9, completionTokens: 12 },
      price: { modelRatio: 0.075, completionRatio: 4, cacheRatio: 0.5 },
    },
    dialect: 'openai-chat',
  })
})
