import { z } from 'zod'

const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const

/** How hard a model thinks before it answers. */
export type Effort = (typeof efforts)[number]

/** What a model takes of a chat call's parameters; the rest is refused by its vendor, or left out on the way there. */
export type ModelParameters = {
  /** Temperature and top_p: both, one of them, or neither. */
  sampling: 'both' | 'one' | 'none'
  /** Sampling is taken with these efforts only, '' being the model's own; null: with any. */
  samplingEfforts: readonly (Effort | '')[] | null
  penalties: boolean
  seed: boolean
  /** Empty: the model does not think, or takes no budget. */
  efforts: readonly Effort[]
  /** It reasons before it answers, with or without an adjustable effort. */
  reasoning: boolean
  tools: boolean
  images: boolean
  /** The most tokens an answer may have, where that is known. */
  maxOutput: number | null
  /** Tokens of prompt and answer that it holds at once, where that is known. */
  context: number | null
}

/** What most models take. */
export const usualParameters: ModelParameters = {
  sampling: 'both',
  samplingEfforts: null,
  penalties: true,
  seed: true,
  efforts: [],
  reasoning: false,
  tools: true,
  images: true,
  maxOutput: null,
  context: null,
}

const tokens = z.int().min(1).max(1_000_000_000)

/** What is said of models by name; what is not said stays as it is known otherwise. */
const modelCapabilities = z.strictObject({
  sampling: z.enum(['both', 'one', 'none']).optional(),
  penalties: z.boolean().optional(),
  seed: z.boolean().optional(),
  efforts: z.array(z.enum(efforts)).optional(),
  reasoning: z.boolean().optional(),
  tools: z.boolean().optional(),
  images: z.boolean().optional(),
  maxOutput: tokens.optional(),
  context: tokens.optional(),
})

export type ModelCapabilities = z.infer<typeof modelCapabilities>

/** By model; a name that ends in `*` is said of all that begin like it. */
export const capabilityTable = z.record(z.string().min(1).max(255), modelCapabilities)
export type CapabilityTable = z.infer<typeof capabilityTable>

type Row = { start: string; isExact: boolean; capabilities: ModelCapabilities }

/** The rows of a table, the widest first, so that a narrower one goes before a wider. A table is read for each call and hardly ever changed. */
const rowsOf = new WeakMap<CapabilityTable, readonly Row[]>()

function readRows(table: CapabilityTable): readonly Row[] {
  const rows = Object.entries(table)
    .map(([name, capabilities]): Row => {
      const isExact = !name.endsWith('*')
      return { start: (isExact ? name : name.slice(0, -1)).toLowerCase(), isExact, capabilities }
    })
    // The name itself is narrower than any beginning of it.
    .toSorted((one, other) => one.start.length - other.start.length || Number(one.isExact) - Number(other.isExact))
  rowsOf.set(table, rows)
  return rows
}

/** What a table says of a model: of several rows that cover it the narrower goes before the wider. */
export function capabilitiesIn(table: CapabilityTable, model: string): ModelCapabilities {
  const name = model.toLowerCase()
  const found: ModelCapabilities = {}
  for (const { start, isExact, capabilities } of rowsOf.get(table) ?? readRows(table))
    if (isExact ? name === start : name.startsWith(start)) Object.assign(found, capabilities)
  return found
}
