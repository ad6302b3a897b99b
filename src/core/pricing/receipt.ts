import { z } from 'zod'
import { longContextStep } from './long-context-schema.ts'
import { price } from './price.ts'

const count = z.number().int().min(0).max(1e9)
const batchCount = z.number().int().min(0).max(1e13)
const factor = z.number().nonnegative()

const billedUsage = z.object({
  promptTokens: count,
  cachedTokens: count,
  cacheWriteTokens: count,
  cacheWrite1hTokens: count,
  audioInputTokens: count,
  imageInputTokens: count,
  completionTokens: count,
  reasoningTokens: count,
  audioOutputTokens: count,
  imageOutputTokens: count,
  webSearchCalls: count,
  fileSearchCalls: count,
})

const toolNames = ['webSearch', 'fileSearch', 'codeInterpreter', 'imageGeneration'] as const
export type ToolName = (typeof toolNames)[number]
export const isToolName = (name: string): name is ToolName => (toolNames as readonly string[]).includes(name)

/** Calls of a tool that the vendor runs, with the price they had: US dollars per `per` calls. */
const toolUse = z.object({
  tool: z.enum(toolNames),
  calls: count,
  dollars: factor,
  per: z.union([z.literal(1), z.literal(1000)]),
})
export type ToolUse = z.infer<typeof toolUse>

const terms = {
  price,
  groupRatio: factor,
  quotaPerUnit: z.number().positive(),
  /** The name that was looked up in the price tables. */
  pricedModel: z.string().optional(),
}

const usageReceipt = z.object({
  formula: z.enum(['text', 'claude', 'audio']),
  usage: billedUsage,
  /** What `usage.promptTokens` counts, where it is not tokens. */
  promptUnit: z.enum(['token', 'character']).optional(),
  tools: z.array(toolUse).optional(),
  ...terms,
})

const imageReceipt = z.object({
  formula: z.literal('image'),
  count,
  size: z.string(),
  quality: z.string(),
  sizeRatio: factor,
  qualityRatio: factor,
  ...terms,
})

const taskReceipt = z.object({ formula: z.literal('task'), action: z.string(), ...terms })

/** Calls that have the same prices, summed up. A batch may use more than any single call can. */
const batchPart = z.object({
  calls: count,
  usage: z.object({
    promptTokens: batchCount,
    cachedTokens: batchCount,
    cacheWriteTokens: batchCount,
    cacheWrite1hTokens: batchCount,
    completionTokens: batchCount,
  }),
  /** What their long prompts cost more. */
  step: longContextStep.optional(),
  tools: z.array(toolUse).optional(),
})
export type BatchPart = z.infer<typeof batchPart>

const batchReceipt = z.object({
  formula: z.literal('batch'),
  /** What a call in a batch costs of the price of one by itself; tools cost the same. */
  batchRatio: factor,
  parts: z.array(batchPart),
  ...terms,
})

/** Everything a charge is computed from, as it was at the call. Kept in the log row, it gives the same charge anywhere. */
export const receipt = z.discriminatedUnion('formula', [usageReceipt, imageReceipt, taskReceipt, batchReceipt])

export type UsageReceipt = z.infer<typeof usageReceipt>
export type ImageReceipt = z.infer<typeof imageReceipt>
export type TaskReceipt = z.infer<typeof taskReceipt>
export type BatchReceipt = z.infer<typeof batchReceipt>
export type Receipt = z.infer<typeof receipt>
export type UsageFormula = UsageReceipt['formula']
