import capabilities from '#core/models/capabilities.json' with { type: 'json' }
import {
  capabilitiesIn,
  capabilityTable,
  type Effort,
  type ModelParameters,
  usualParameters,
} from '#core/models/parameters.ts'
import { splitSuffix, traitsOf } from './anthropic/models.ts'
import { takesPenalties, thinkingOf } from './gemini/models.ts'
import {
  effortsOf,
  isReasoningModel,
  isSearchModel,
  splitEffort,
  takesSamplingWithoutThinking,
} from './openai-compatible/model-families.ts'

function openAi(model: string): ModelParameters {
  if (isSearchModel(model)) {
    return { ...usualParameters, sampling: 'none', penalties: false, seed: false, tools: false, images: false }
  }
  const { model: bare, effort } = splitEffort(model, [])
  if (!isReasoningModel(bare)) return usualParameters
  const efforts = effort === undefined && !/^o1-(mini|preview)/.test(bare) ? effortsOf(bare) : []
  const sometimes = takesSamplingWithoutThinking(bare) && efforts.includes('none')
  return {
    ...usualParameters,
    penalties: false,
    efforts,
    sampling: sometimes ? 'both' : 'none',
    samplingEfforts: ['none'],
  }
}

const samplings = { free: 'both', one: 'one', refused: 'none' } as const

function claude(model: string): ModelParameters {
  const suffix = splitSuffix(model)
  const traits = traitsOf(suffix.model)
  const own = traits.thinking === 'none' || suffix.thinking
  const efforts: readonly Effort[] = own
    ? []
    : traits.thinking === 'adaptive'
      ? ['none', 'low', 'medium', 'high', 'xhigh', 'max']
      : ['none', 'low', 'medium', 'high']
  return {
    ...usualParameters,
    sampling: suffix.thinking ? 'none' : samplings[traits.sampling],
    // Who thinks chooses the words without them.
    samplingEfforts: ['', 'none'],
    penalties: false,
    seed: false,
    efforts,
    maxOutput: traits.maxOutput ?? null,
  }
}

function gemini(model: string): ModelParameters {
  const usual = { ...usualParameters, penalties: takesPenalties(model) }
  const thinking = thinkingOf(model)
  if (thinking.kind === 'none') return usual
  if (thinking.kind === 'level')
    return { ...usual, efforts: thinking.levels.map((level) => level.toLowerCase() as Effort) }
  return { ...usual, efforts: [...(thinking.canBeOff ? (['none'] as const) : []), 'low', 'medium', 'high'] }
}

const known = capabilityTable.parse(capabilities)

/**
 * What is known of a model by its name: first what the providers themselves decide by, then the table of capabilities. Names of a
 * vendor's prefix go by what follows it.
 */
export function parametersOf(name: string): ModelParameters {
  const model = name.slice(name.lastIndexOf('/') + 1).toLowerCase()
  const found = familyOf(model)
  return { ...found, reasoning: found.efforts.length > 0, ...capabilitiesIn(known, model) }
}

function familyOf(model: string): ModelParameters {
  if (model.includes('claude')) return claude(model)
  if (model.startsWith('gemini')) return gemini(model)
  if (/^(o\d|gpt-)/.test(model)) return openAi(model)
  return usualParameters
}
