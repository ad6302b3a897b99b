/** What a channel's override may not touch: it is what the call was admitted for, or the answer is read by it. */
const protectedNames: ReadonlySet<string> = new Set(['model', 'stream', 'stream_options'])

type Json = Record<string, unknown>

/**
 * How vendors call an address that they bring the answer to: whoever may set it has everybody's answers sent there, past the
 * gateway and its guard.
 */
const callbackName = /^(?:callback|webhook|notify|notification)s?(?:url|uri|hook|address|endpoint|host)?s?$/

/** An address is a text, wherever in the value it stands. */
const holdsText = (value: unknown): boolean =>
  typeof value === 'string' || (typeof value === 'object' && value !== null && Object.values(value).some(holdsText))

const isCallback = (name: string, value: unknown): boolean =>
  callbackName.test(name.toLowerCase().replaceAll(/[_-]/g, '')) && holdsText(value)

/** Below these in a JSON schema stand names that whoever wrote it chose, and an object there says what may stand under one. */
const schemaNames: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
])
const isSchema = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !('url' in value || 'uri' in value)

/** The first name of an address for answers, however deep it stands. */
function callbackIn(value: unknown, within = ''): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  for (const [name, inner] of Object.entries(value)) {
    const isChosen = schemaNames.has(within) && isSchema(inner)
    const found =
      !Array.isArray(value) && !isChosen && isCallback(name, inner) ? name : callbackIn(inner, isChosen ? '' : name)
    if (found !== undefined) return found
  }
  return undefined
}

/** The first name of an override that it may not have; undefined where there is none. */
export const protectedNameIn = (override: Json): string | undefined =>
  Object.keys(override).find((name) => protectedNames.has(name)) ?? callbackIn(override)

/** A body with the override set; a value of null removes the name. The body itself stays as it is. */
export function withOverride(body: Json, override: Json): Json {
  const changed = { ...body }
  for (const [name, value] of Object.entries(override)) {
    if (protectedNames.has(name) || name === '__proto__') continue
    // One that was stored before such names were refused.
    if (callbackIn({ [name]: value }) !== undefined) continue
    if (value === null) delete changed[name]
    else changed[name] = value
  }
  return changed
}

/** How upstreams call the limit on their output, and the objects it may stand in. */
const limitNames = new Set(
  ['max_tokens', 'max_completion_tokens', 'max_output_tokens', 'max_new_tokens', 'max_tokens_to_sample'].concat([
    'maxTokens',
    'maxOutputTokens',
    'num_predict',
  ]),
)
const countNames = new Set(['n', 'candidateCount', 'candidate_count', 'num_generations'])
const settingNames = new Set(['generationConfig', 'generation_config', 'inferenceConfig', 'parameters', 'options'])

/** The largest of the named numbers in a body or in its settings; undefined where none is set. */
function largestOf(body: Json, names: ReadonlySet<string>): number | undefined {
  const places = [body, ...Object.entries(body).flatMap(([name, value]) => (settingNames.has(name) ? [value] : []))]
  const found = places
    .filter((place): place is Json => typeof place === 'object' && place !== null)
    .flatMap((place) => Object.entries(place))
    .flatMap(([name, value]) => (names.has(name) && typeof value === 'number' && value > 0 ? [value] : []))
  return found.length === 0 ? undefined : Math.max(...found)
}

const touches = (override: Json, names: ReadonlySet<string>): boolean =>
  Object.keys(override).some((name) => names.has(name) || settingNames.has(name))

/** Whether an override has a say in how much a call puts out. */
export const setsLimits = (override: Json): boolean => touches(override, limitNames)

/** The body with no output limit above this one, wherever it stands. */
export function lowerLimits(body: Json, limit: number): Json {
  const lowered = (place: Json, nested: boolean): Json =>
    Object.fromEntries(
      Object.entries(place).map(([name, value]) => {
        if (limitNames.has(name) && typeof value === 'number') return [name, Math.min(value, limit)]
        const isSettings = nested && settingNames.has(name) && typeof value === 'object' && value !== null
        return [name, isSettings ? lowered(value as Json, false) : value]
      }),
    )
  return lowered(body, true)
}

export type OutputInput = { maxTokens: number | undefined; choiceCount: number | undefined }

/** What a call may put out once its body carries the override: the caller's own setting where the override says nothing of it. */
export function overriddenInput(body: Json, override: Json, input: OutputInput): OutputInput {
  const sent = withOverride(body, override)
  return {
    maxTokens: touches(override, limitNames) ? largestOf(sent, limitNames) : input.maxTokens,
    choiceCount: touches(override, countNames) ? largestOf(sent, countNames) : input.choiceCount,
  }
}

/** What an override adds to a prompt at most: every text and list in it, numbers and switches apart. */
export const textsOfOverride = (override: Json): string[] =>
  Object.entries(override).flatMap(([name, value]) => {
    if (protectedNames.has(name) || settingNames.has(name)) return []
    if (typeof value === 'string') return [value]
    return typeof value === 'object' && value !== null ? [JSON.stringify(value)] : []
  })
