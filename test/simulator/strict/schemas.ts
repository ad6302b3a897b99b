import { camelled, checkFields } from '../fields.ts'
import { asList, asObject, asObjects, asText, refuse, type Json } from '../prompt.ts'

/** Every schema inside a schema, itself first. */
export function innerSchemas(schema: unknown): Json[] {
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

/**
 * "Invalid schema for function …: In context=(), object schema missing properties.": https://github.com/spring-projects/spring-ai/issues/4776; "array
 * schema missing items": https://github.com/sigoden/aichat/pull/1049. Of arrays inside it is any, of objects the root.
 */
export function checkOpenAiParameters(schema: unknown, name: string): void {
  if (schema === undefined) return
  const root = asObject(schema)
  const say = (problem: string) => refuse(`Invalid schema for function '${name}': ${problem}`, 'tools')
  if (root['type'] === 'object' && root['properties'] === undefined)
    say('In context=(), object schema missing properties.')
  if (Object.keys(root).length === 0) say(`schema must be a JSON Schema of 'type: "object"', got 'type: "None"'.`)
  for (const each of innerSchemas(schema))
    if ([each['type']].flat().includes('array') && each['items'] === undefined) say('array schema missing items.')
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

/**
 * https://platform.claude.com/docs/en/build-with-claude/structured-outputs, "Schema complexity limits": 20 strict tools, 24 optional
 * parameters and 16 parameters of several types in all that a call is held to.
 */
export function checkGrammarSize(tools: readonly unknown[], formats: readonly unknown[]): void {
  if (tools.length > 20) refuse(`Too many strict tools (${tools.length}). The maximum number of strict tools is 20.`)
  const all = [...tools, ...formats].flatMap(innerSchemas)
  const optional = all.reduce(
    (sum, each) =>
      sum + Object.keys(asObject(each['properties'])).filter((name) => !asList(each['required']).includes(name)).length,
    0,
  )
  if (optional > 24) refuse(`Schemas contains too many optional parameters (${optional}), limit: 24`)
  const unions = all.filter((each) => Array.isArray(each['type']) || each['anyOf'] !== undefined).length
  if (unions > 16) refuse(`Schemas contains too many parameters with union types (${unions}), limit: 16`)
}

const googleFields =
  'type format title description nullable enum maxItems minItems properties required minProperties maxProperties minLength maxLength pattern example anyOf propertyOrdering default items minimum maximum'.split(
    ' ',
  )

/** Google's own subset: https://ai.google.dev/api/caching#Schema; a list of values is one of texts. */
export function checkGoogleSchema(schema: unknown, place: string): void {
  const given = camelled(schema)
  checkFields(given, googleFields, `${place}.`)
  if (given['enum'] !== undefined && asText(given['type']).toLowerCase() !== 'string')
    refuse(`${place}.enum: only allowed for STRING type`)
  // "parameters.properties: should be non-empty for OBJECT type": https://github.com/langchain-ai/langchain-google/pull/416
  const known = Object.keys(asObject(given['properties']))
  if (place === 'parameters' && asText(given['type']).toLowerCase() === 'object' && known.length === 0)
    refuse(`* GenerateContentRequest.${place}.properties: should be non-empty for OBJECT type`)
  // "parameters.required[0]: property is not defined", "items: missing field", "enum[0]: cannot be empty":
  // https://github.com/anomalyco/opencode/issues/3140, https://github.com/DEEIX-AI/DEEIX-Chat/issues/546
  if (asList(given['required']).some((name) => !known.includes(asText(name))))
    refuse(`* GenerateContentRequest.${place}.required[0]: property is not defined`)
  if (asText(given['type']).toLowerCase() === 'array' && given['items'] === undefined)
    refuse(`* GenerateContentRequest.${place}.items: missing field.`)
  if (asList(given['enum']).includes('')) refuse(`* GenerateContentRequest.${place}.enum[0]: cannot be empty`)
  for (const child of Object.values(asObject(given['properties']))) checkGoogleSchema(child, `${place}.`)
  for (const child of asObjects(given['anyOf'])) checkGoogleSchema(child, `${place}.`)
  if (given['items'] !== undefined) checkGoogleSchema(given['items'], `${place}.`)
}
