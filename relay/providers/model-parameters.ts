import { type Effort, type ModelParameters, usualParameters } from '#core/models/parameters.ts'
import { splitSuffix, traitsOf } from './anthropic/models.ts'
import { thinkingOf } from './gemini/models.ts'
import {
  effortsOf,
  isReasoningModel,
  isSearchModel,
  splitEffort,
  takesSamplingWithoutThinking,
} from './openai-compatible/model-families.ts'

/** The calls of these models are refused with an image. */
const textOnly =
  /^(gpt-3\.5|gpt-4(-(32k|\d{4}))?$|o1-(mini|preview)|o3-mini|deepseek-(chat|reasoner|coder|v\d|r\d)|command-r|glm-4(-|$)|moonshot-v1-\d+k$|qwen-(turbo|max|plus))/

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
  const thinking = thinkingOf(model)
  if (thinking.kind === 'none') return usualParameters
  if (thinking.kind === 'level')
    return { ...usualParameters, efforts: thinking.levels.map((level) => level.toLowerCase() as Effort) }
  return { ...usualParameters, efforts: [...(thinking.canBeOff ? (['none'] as const) : []), 'low', 'medium', 'high'] }
}

/** By the model's name, as the providers themselves judge it; names of a vendor's prefix by what follows it. */
export function parametersOf(name: string): ModelParameters {
  const model = name.slice(name.lastIndexOf('/') + 1).toLowerCase()
  const found = familyOf(model)
  return textOnly.test(model) ? { ...found, images: false } : found
}

function familyOf(model: string): ModelParameters {
  if (model.includes('claude')) return claude(model)
  if (model.startsWith('gemini')) return gemini(model)
  if (/^(o\d|gpt-)/.test(model)) return openAi(model)
  if (/^deepseek-(reasoner|r\d)/.test(model))
    return { ...usualParameters, sampling: 'none', penalties: false, seed: false }
  if (model.startsWith('grok-3-mini')) return { ...usualParameters, penalties: false, efforts: ['low', 'high'] }
  if (/^grok-([4-9]|build|code)/.test(model)) return { ...usualParameters, penalties: model.includes('non-reasoning') }
  if (model.startsWith('glm-')) return { ...usualParameters, penalties: false }
  if (model.startsWith('sonar')) return { ...usualParameters, seed: false, tools: false }
  if (model.startsWith('ernie-')) return { ...usualParameters, seed: false, images: model.includes('-vl') }
  if (model.startsWith('spark')) return { ...usualParameters, penalties: false, seed: false, images: false }
  if (model.startsWith('hunyuan')) return { ...usualParameters, penalties: false, images: model.includes('vision') }
  return usualParameters
}
