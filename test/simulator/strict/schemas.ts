import { checkFields } from '../fields.ts'
import { asList, asObject, asObjects, asText, refuse, type Json } from '../prompt.ts'

/** Every schema inside a schema, itself first. */
function innerSchemas(schema: unknown): Json[] {
  const given = asObject(schema)
  if (Object.keys(given).length === 0) return []
  const lists = ['anyOf', 'oneOf', 'allOf'].flatMap((name) => asList(given[name]))
  const maps = ['properties', '$defs', 'definitions'].flatMap((name) => Object.values(asObject(given[name])))
  return [given, ...[...lists, ...maps, given['items']].flatMap(innerSchemas)]
}

/**
 * OpenAI, structured outputs: https://platform.openai.com/docs/guides/structured-outputs, "Supported schemas": every object
 * closed, all fields required, and none of these words.
 */
const unsupportedInStrict = [
  'allOf',
  'oneOf',
  'not',
  'if',
  'patternProperties',
  'dependentRequired',
  'minLength',
  'maxLength',
  'default',
]

export function checkOpenAiStrict(schema: unknown, place: string): void {
  const say = (problem: string) => refuse(`Invalid schema for ${place}: ${problem}`, place)
  if (asObject(schema)['type'] !== 'object') say('schema must be a JSON Schema of \'type: "object"\'.')
  for (const each of innerSchemas(schema)) {
    const odd = unsupportedInStrict.find((name) => each[name] !== undefined)
    if (odd) say(`'${odd}' is not permitted.`)
    if (each['type'] !== 'object' && each['properties'] === undefined) continue
    if (each['additionalProperties'] !== false)
      say("'additionalProperties' is required to be supplied and to be false.")
    const required = asList(each['required'])
    const missing = Object.keys(asObject(each['properties'])).find((name) => !required.includes(name))
    if (missing)
      say(`'required' is required to be supplied and to be an array including every key. Missing '${missing}'.`)
  }
}

/** Both vendors want one plain object at the root of a function's parameters, in words of their own. */
export function checkPlainRoot(schema: unknown, message: string): void {
  const given = asObject(schema)
  if (['anyOf', 'oneOf', 'allOf'].some((name) => given[name] !== undefined)) refuse(message)
}

/**
 * Anthropic, structured outputs: https://platform.claude.com/docs/en/build-with-claude/structured-outputs, "JSON Schema
 * limitations".
 */
const unsupportedInGrammar = [
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'maxItems',
  'uniqueItems',
  'not',
  'if',
  'oneOf',
  'patternProperties',
]

export function checkAnthropicGrammar(schema: unknown, place: string): void {
  for (const each of innerSchemas(schema)) {
    const type = each['type']
    const odd = unsupportedInGrammar.find((name) => each[name] !== undefined)
    if (odd) refuse(`${place}: For '${asText(type)}' type, property '${odd}' is not supported`)
    if (Array.isArray(type)) refuse(`${place}: union types are not supported`)
    if (each['minItems'] !== undefined && each['minItems'] !== 0 && each['minItems'] !== 1)
      refuse(`${place}: For 'array' type, 'minItems' values other than 0 or 1 are not supported`)
    if (type === 'object' && each['additionalProperties'] !== false)
      refuse(`${place}: For 'object' type, 'additionalProperties' must be explicitly set to false`)
  }
}

const googleFields =
  'type format title description nullable enum maxItems minItems properties required minProperties maxProperties minLength maxLength pattern example anyOf propertyOrdering default items minimum maximum'.split(
    ' ',
  )

/** Google's own subset: https://ai.google.dev/api/caching#Schema; a list of values is one of texts. */
export function checkGoogleSchema(schema: unknown, place: string): void {
  const given = asObject(schema)
  checkFields(given, googleFields, `${place}.`)
  if (given['enum'] !== undefined && asText(given['type']).toLowerCase() !== 'string')
    refuse(`${place}.enum: only allowed for STRING type`)
  for (const child of Object.values(asObject(given['properties']))) checkGoogleSchema(child, place)
  for (const child of asObjects(given['anyOf'])) checkGoogleSchema(child, place)
  if (given['items'] !== undefined) checkGoogleSchema(given['items'], place)
}
