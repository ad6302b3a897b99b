/** What a family of models takes. What it refuses answers HTTP 400 upstream, so it is left out or replaced before. */
export type ClaudeTraits = {
  /** The most tokens an answer may have; unknown for other vendors' models. */
  maxOutput?: number | undefined
  structuredOutput: boolean
  /** `one`: temperature or top_p, not both. */
  sampling: 'free' | 'one' | 'refused'
  /** `adaptive`: the model decides how much; `budget`: a number of tokens; `none`: it does not think. */
  thinking: 'adaptive' | 'budget' | 'none'
  /** A budget is taken although the model would rather decide by itself. */
  budgetAllowed: boolean
  /** How thinking is kept off. */
  off: 'disabled' | 'between_tools' | 'low_effort'
  /** The highest effort next to disabled thinking is `high`. */
  offUpToHigh: boolean
  effort: boolean
  /** Reasoning is shown only when a summary is asked for. */
  summarises: boolean
  forcedToolChoice: boolean
  /** The conversation may end with the beginning of the answer. */
  prefill: boolean
  /**
   * The least tokens that are cached: https://platform.claude.com/docs/en/build-with-claude/prompt-caching, "Cache limitations".
   * Where sources differ it is the smaller figure, for a mark on less is not charged.
   */
  leastCached: number
  /** Instructions may stand in mid-conversation, behind a turn of the user: "role 'system' is not supported on this model". */
  laterInstructions: boolean
}

const newest: ClaudeTraits = {
  maxOutput: 128_000,
  structuredOutput: true,
  sampling: 'refused',
  thinking: 'adaptive',
  budgetAllowed: false,
  off: 'disabled',
  offUpToHigh: true,
  effort: true,
  summarises: true,
  forcedToolChoice: true,
  prefill: false,
  leastCached: 512,
  laterInstructions: true,
}

const withBudget: ClaudeTraits = {
  ...newest,
  maxOutput: 64_000,
  sampling: 'one',
  thinking: 'budget',
  budgetAllowed: true,
  offUpToHigh: false,
  effort: false,
  summarises: false,
  prefill: true,
  leastCached: 1024,
  laterInstructions: false,
}

const early: ClaudeTraits = { ...withBudget, structuredOutput: false, sampling: 'free' }
const withoutThinking: ClaudeTraits = { ...early, thinking: 'none' }
const fourSix: ClaudeTraits = {
  ...newest,
  sampling: 'free',
  budgetAllowed: true,
  offUpToHigh: false,
  summarises: false,
  leastCached: 1024,
  laterInstructions: false,
}

const families: Readonly<Record<string, ClaudeTraits>> = {
  'sonnet-5-5': { ...newest, off: 'between_tools', forcedToolChoice: false },
  'opus-5-5': { ...newest, off: 'low_effort', forcedToolChoice: false },
  'haiku-5-5': newest,
  'opus-5': { ...newest, budgetAllowed: true },
  'fable-5-1': { ...newest, off: 'low_effort', forcedToolChoice: false },
  'fable-5-2': { ...newest, off: 'low_effort', forcedToolChoice: false },
  'fable-5': { ...newest, off: 'low_effort' },
  'opus-4-8': { ...newest, offUpToHigh: false, leastCached: 1024 },
  'opus-4-7': { ...newest, offUpToHigh: false, leastCached: 2048, laterInstructions: false },
  'sonnet-5': { ...newest, offUpToHigh: false, leastCached: 1024, laterInstructions: false },
  'sonnet-4-6': fourSix,
  'opus-4-6': { ...fourSix, leastCached: 4096 },
  'sonnet-4-5': withBudget,
  'opus-4-5': { ...withBudget, effort: true, leastCached: 4096 },
  'haiku-4-5': { ...withBudget, leastCached: 4096 },
  'opus-4-1': { ...withBudget, maxOutput: 32_000 },
  'sonnet-4': early,
  'opus-4': { ...early, maxOutput: 32_000 },
}

/** Another vendor's model behind this dialect: nothing is known, so nothing is held back. */
const foreign: ClaudeTraits = { ...early, maxOutput: undefined, structuredOutput: true }

export function traitsOf(model: string): ClaudeTraits {
  const name = model.toLowerCase().replaceAll('.', '-')
  const family = /(opus|sonnet|haiku|fable|mythos)-(\d)(?!\d)(?:-(\d{1,2})(?!\d))?/.exec(name)
  if (family) {
    const [, named, major, minor] = family
    // One model under two names, of which one is for verified organisations.
    const line = named === 'mythos' ? 'fable' : named
    const traits = families[minor === undefined ? `${line}-${major}` : `${line}-${major}-${minor}`]
    return traits ?? newest
  }
  if (!name.includes('claude')) return foreign
  if (name.includes('3-7-sonnet')) return early
  if (name.includes('claude-3-5-')) return { ...withoutThinking, maxOutput: 8192 }
  if (/claude-(3-|2|instant)/.test(name)) return { ...withoutThinking, maxOutput: 4096 }
  return newest
}

export type NameSuffix = { model: string; thinking: boolean; effort?: string | undefined }

/** `…-thinking` and, on models that decide for themselves, `…-<effort>` are settings written into the name. */
export function splitSuffix(model: string): NameSuffix {
  const suffix = /(-thinking)?(?:-(low|medium|high|xhigh|max))?$/.exec(model)
  const base = model.slice(0, suffix?.index ?? model.length)
  const traits = traitsOf(base)
  // Other vendors' names that end so are names of models.
  if (traits === foreign) return { model, thinking: false }
  if (suffix?.[2] !== undefined && traits.thinking === 'adaptive') {
    return { model: base, thinking: true, effort: suffix[2] }
  }
  if (model.endsWith('-thinking')) return { model: model.slice(0, -'-thinking'.length), thinking: true }
  return { model, thinking: false }
}
