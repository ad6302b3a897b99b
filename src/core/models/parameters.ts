/** How hard a model thinks before it answers. */
export type Effort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max'

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
  tools: boolean
  images: boolean
  /** The most tokens an answer may have, where that is known. */
  maxOutput: number | null
}

/** What most models take. */
export const usualParameters: ModelParameters = {
  sampling: 'both',
  samplingEfforts: null,
  penalties: true,
  seed: true,
  efforts: [],
  tools: true,
  images: true,
  maxOutput: null,
}
