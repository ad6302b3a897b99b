/** How a model is given its reasoning budget. `least` is its smallest budget, 0 where thinking can be switched off. */
export type GeminiThinking =
  | { kind: 'budget'; least: number; most: number; canBeOff: boolean }
  | { kind: 'level'; levels: readonly string[] }
  | { kind: 'none' }

const pro: readonly string[] = ['LOW', 'HIGH']
const newerPro: readonly string[] = ['LOW', 'MEDIUM', 'HIGH']
const flash: readonly string[] = ['MINIMAL', 'LOW', 'MEDIUM', 'HIGH']

/** The generation a name states; `-latest` names follow the newest, and the models that draw have a name of their own. */
function generationOf(model: string): number | undefined {
  const stated = /^gemini-(\d+(?:\.\d+)?)/.exec(model)?.[1]
  if (stated !== undefined) return Number(stated)
  return /^gemini-(.*latest$|nano-banana-(pro|[2-9]))/.test(model) ? 3 : undefined
}

export const draws = (model: string): boolean => /image|banana/.test(model)

/** "Thinking level MINIMAL is not supported for this model": https://github.com/BerriAI/litellm/pull/41201. `-latest` is the newest. */
const takesMinimal = (model: string, generation: number): boolean =>
  model.includes('lite') || (generation < 3.7 && !model.endsWith('-latest'))

export function thinkingOf(model: string): GeminiThinking {
  const generation = generationOf(model)
  if (generation === undefined || generation < 2.5 || /image|tts|embedding|audio|live|banana/.test(model)) {
    return { kind: 'none' }
  }
  if (generation >= 3) {
    if (model.includes('flash')) return { kind: 'level', levels: takesMinimal(model, generation) ? flash : newerPro }
    return { kind: 'level', levels: generation === 3 ? pro : newerPro }
  }
  if (model.includes('lite')) return { kind: 'budget', least: 512, most: 24_576, canBeOff: true }
  if (model.includes('flash')) return { kind: 'budget', least: 0, most: 24_576, canBeOff: true }
  return { kind: 'budget', least: 128, most: 32_768, canBeOff: false }
}

/**
 * JSON Schema itself in the place of the vendor's own subset: https://ai.google.dev/gemini-api/docs/structured-output, "JSON Schema
 * support", and the field `parametersJsonSchema` of https://ai.google.dev/api/caching#FunctionDeclaration.
 */
export const takesJsonSchema = (model: string): boolean => (generationOf(model) ?? 0) >= 2.5

/** Of one message; more are refused before they are fetched. */
export const mostImages = 16

/**
 * "Penalty is not enabled for this model": only the second generation takes one (https://github.com/google-gemini/cookbook/issues/1290,
 * https://github.com/vercel/ai/issues/8943).
 */
export const takesPenalties = (model: string): boolean => (generationOf(model) ?? 0) < 2.5

/** From the third generation on, calls and images go back with the signature of the reasoning that led to them. */
export const wantsSignatures = (model: string): boolean => (generationOf(model) ?? 0) >= 3

/**
 * Before the third generation, tools of the vendor and functions exclude each other, and either of them a format of the answer: "Function calling
 * with a response mime type: 'application/json' is unsupported".
 */
export const mixesTools = (model: string): boolean => (generationOf(model) ?? 0) >= 3

export const refusesInstructions = (model: string): boolean =>
  model.startsWith('gemma') || /^gemini-2\.0-.*image/.test(model)

export type NameSuffix = { model: string; budget?: number | 'share' | 'off' | undefined; level?: string | undefined }

/** Settings written into the name: `-thinking`, `-thinking-<n>`, `-nothinking` and, on levelled models, an effort. */
export function splitSuffix(model: string): NameSuffix {
  const off = /-nothinking$/.exec(model)
  if (off) return { model: model.slice(0, off.index), budget: 'off' }
  const on = /-thinking(?:-(\d+))?$/.exec(model)
  if (on) return { model: model.slice(0, on.index), budget: on[1] === undefined ? 'share' : Number(on[1]) }
  const effort = /-(minimal|low|medium|high)$/.exec(model)
  const base = effort ? model.slice(0, effort.index) : model
  if (effort && thinkingOf(base).kind === 'level') return { model: base, level: effort[1] }
  return { model }
}
