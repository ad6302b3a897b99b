import { decimalOf, divide, multiply, toNumber } from './decimal.ts'
import { audioCompletionRatio, audioRatio, figureByPattern, figureOf, toolPrices } from './tables.ts'

const otherRatio = 20
const completionOfOthers = 2

const fullModels = { realtime: 'gpt-4o-realtime-preview', audio: 'gpt-4o-audio-preview' }

const isFullModel = (model: string, name: string): boolean => model === name || model === `${name}-2024-12-17`

/** What an audio input token costs against a text input token of the same model. */
export function audioRatioOf(model: string, modelRatio: number): number {
  return figureOf(audioRatio, model) ?? geminiAudioRatio(model, modelRatio) ?? ratioByName(model)
}

function ratioByName(model: string): number {
  if (model.includes('-realtime')) {
    if (isFullModel(model, fullModels.realtime)) return 8
    return model.startsWith('gpt-4o-mini-realtime-preview') ? 16.67 : otherRatio
  }
  if (model.includes('-audio')) {
    if (isFullModel(model, fullModels.audio)) return 16
    return model.startsWith('gpt-4o-mini-audio-preview') ? 66.67 : 40
  }
  return otherRatio
}

/** Gemini lists its audio input in dollars per million tokens; a ratio of 1 is 2 dollars per million. */
function geminiAudioRatio(model: string, modelRatio: number): number | undefined {
  const dollars = figureByPattern(toolPrices.gemini_audio_input_per_million_tokens, model)
  if (dollars === undefined || modelRatio === 0) return undefined
  const textDollars = multiply(decimalOf(modelRatio), decimalOf(2))
  return toNumber(divide(decimalOf(dollars), textDollars, 6))
}

/** What an audio output token costs against an audio input token. */
export const audioCompletionRatioOf = (model: string): number =>
  figureOf(audioCompletionRatio, model) ?? completionOfOthers
