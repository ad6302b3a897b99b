import { z } from 'zod'
import { expect, test } from 'vitest'
import { channelOperations, channelTypeOf, channelTypes, defaultBaseUrlOf, selectableChannelTypes } from './index.ts'

const row = z.strictObject({
  type: z.int().min(0),
  name: z.string().min(1),
  label: z.string().min(1),
  labelEn: z.string().min(1),
  baseUrl: z.string().regex(/^(https?:\/\/.*[^/])?$/),
  requiresBaseUrl: z.boolean(),
  keyFormat: z.enum(['none', 'single', 'pipe', 'dot', 'dash', 'single-or-pipe', 'json', 'service-account-json']),
  keyParts: z.array(z.string()),
  multiKey: z.boolean(),
  keyHint: z.string(),
  keyHintZh: z.string(),
  otherField: z.string().nullable(),
  defaultModels: z.array(z.string()),
  currentModels: z.array(z.string()),
  supports: z.record(z.enum(channelOperations), z.boolean()),
  protocol: z.enum(['openai', 'anthropic', 'gemini', 'bespoke']),
  status: z.enum(['active', 'legacy', 'extension', 'later', 'dead', 'excluded', 'reserved']),
  hiddenInUi: z.boolean(),
  streamUsageOption: z.boolean(),
  modelsEndpoint: z.string().nullable(),
  balanceEndpoint: z.string().nullable(),
  notes: z.string(),
})

test('every row of the list has the shape its type promises', () => {
  for (const entry of channelTypes) expect(row.safeParse(entry).error, entry.name).toBeUndefined()
})

test('each number stands for one type', () => {
  expect(new Set(channelTypes.map((entry) => entry.type)).size).toBe(channelTypes.length)
})

test('a type is found by its number, and an unknown number has no default address', () => {
  expect(channelTypeOf(14)?.label).toBe('Anthropic Claude')
  expect(channelTypeOf(999)).toBeUndefined()
  expect(defaultBaseUrlOf(24)).toBe('https://generativelanguage.googleapis.com')
  expect(defaultBaseUrlOf(999)).toBe('')
})

test('the channel form offers no hidden and no reserved number', () => {
  const offered = selectableChannelTypes.map((entry) => entry.type)
  expect(offered).toContain(1)
  expect(offered).not.toContain(0)
  expect(offered).not.toContain(28)
})
