import type { Usage } from '../usage.ts'
import { isPaidByLength } from './audio-files.ts'
import { decimalOf, divide, multiply, toNumber } from './decimal.ts'
import { audioCompletionRatio, audioRatio, bareName, figureByPattern, type RatioMap, toolPrices } from './tables.ts'

const otherRatio = 20
const otherSpokenRatio = 40
const completionOfOthers = 2

const isGemini = (model: string): boolean => model.startsWith('gemini')

/** What an audio input token costs against a text input token of the same model. */
export function audioRatioOf(model: string, modelRatio: number): number {
  const name = bareName(model)
  return (
    figureByPattern(audioRatio, name) ??
    listedRatio(toolPrices.gemini_audio_input_per_million_tokens, name, modelRatio) ??
    ratioByName(name)
  )
}

/** Whether the price of its sound is listed, or follows from a list; that of others is a guess by their names. */
export function isAudioListed(model: string): boolean {
  const name = bareName(model)
  return isGemini(name) || (!isPaidByLength(name) && figureByPattern(audioRatio, name) !== undefined)
}

/** Sound of recordings and speech costs what text does, unless its price is listed. */
export const withListedAudio = (model: string, usage: Usage): Usage =>
  isAudioListed(model) ? usage : { ...usage, audioInputTokens: 0, audioOutputTokens: 0 }

function ratioByName(name: string): number {
  // Gemini lists a price of audio only where it is not that of text.
  if (isGemini(name)) return 1
  return name.includes('-audio') && !name.includes('-realtime') ? otherSpokenRatio : otherRatio
}

/** What audio output costs against audio input. Where no row says otherwise, Gemini's costs what all its output does. */
export function audioCompletionRatioOf(model: string, price: { audioRatio: number; completionRatio: number }): number {
  const name = bareName(model)
  const listed = figureByPattern(audioCompletionRatio, name)
  if (listed !== undefined) return listed
  if (!isGemini(name) || price.audioRatio === 0) return completionOfOthers
  return toNumber(divide(decimalOf(price.completionRatio), decimalOf(price.audioRatio), 6))
}

/**
 * What an output token of an image costs against a text input token, where the vendor lists it; no less than one of text does, whatever
 * an operator has made of that.
 */
export function imageOutputRatioOf(
  model: string,
  price: { modelRatio: number; completionRatio: number },
): number | undefined {
  const listed = listedRatio(toolPrices.image_output_per_million_tokens, bareName(model), price.modelRatio)
  return listed === undefined ? undefined : Math.max(listed, price.completionRatio)
}

/** Lists in dollars per million tokens; a ratio of 1 is 2 dollars per million. */
function listedRatio(list: RatioMap, name: string, modelRatio: number): number | undefined {
  const dollars = figureByPattern(list, name)
  if (dollars === undefined || modelRatio === 0) return undefined
  const textDollars = multiply(decimalOf(modelRatio), decimalOf(2))
  return toNumber(divide(decimalOf(dollars), textDollars, 6))
}
