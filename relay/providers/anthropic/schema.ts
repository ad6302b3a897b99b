import { isObject } from '#relay/chat/json.ts'
import { resolveLocal } from '#relay/chat/fit/schema-root.ts'
import type { JsonSchema } from '#relay/chat/request.ts'
import { textOf } from '../shared/json.ts'

/*
 * What a schema may say that the model is held to: https://platform.claude.com/docs/en/build-with-claude/structured-outputs,
 * "JSON Schema limitations"; the vendor's own library rewrites by the same rules (@anthropic-ai/sdk, lib/transform-json-schema).
 */
const formats = new Set(['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid'])
const annotations = ['title', 'description', 'default']
/** Words about a schema that hold nobody to anything. */
const silent = new Set([
  '$schema',
  '$id',
  '$comment',
  'examples',
  'example',
  'deprecated',
  'readOnly',
  'writeOnly',
  'nullable',
])

/**
 * The whole schema, references being followed on the way here, whether anything had to be turned into words, and how much
 * more may be written out for references.
 */
type Scope = {
  root: JsonSchema
  open: readonly string[]
  state: { lost: boolean; left: number }
  sizes: Map<object, number>
}

/** Characters that references may stand for in all. */
const mostExpanded = 1_000_000
/** References that follow from one another; no schema that people write has a tenth of it. */
const longestChain = 200

class Unsupported extends Error {
  override name = 'Unsupported'
}

const isPlain = (value: unknown): boolean => value === null || typeof value !== 'object'

const lists = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

/** Patterns without a look around and without references back. */
const isSimplePattern = (value: unknown): boolean => typeof value === 'string' && !/\(\?[^:]|\\[1-9bB]/.test(value)

function objectFields(schema: JsonSchema, scope: Scope): JsonSchema {
  const { properties, required, additionalProperties: others } = schema
  // Any other name with any value cannot be held to, and an object of no known names would have to stay empty.
  const isOpen = (others !== undefined && others !== false) || (!isObject(properties) && others !== false)
  if (isOpen) throw new Unsupported()
  const known = isObject(properties) ? properties : {}
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries(known).map(([name, child]) => [name, narrow(child, scope)])),
    ...(required === undefined ? {} : { required }),
    additionalProperties: false,
  }
}

/** What is left of a schema of one type: the fields the model is held to. */
function typedFields(schema: JsonSchema, scope: Scope): JsonSchema {
  const { type, format, items, minItems, pattern } = schema
  switch (type) {
    case 'object':
      return objectFields(schema, scope)
    case 'array':
      if (items === undefined || items === true || Array.isArray(items)) throw new Unsupported()
      return { type, items: narrow(items, scope), ...(minItems === 0 || minItems === 1 ? { minItems } : {}) }
    case 'string':
      return {
        type,
        ...(typeof format === 'string' && formats.has(format) ? { format } : {}),
        ...(isSimplePattern(pattern) ? { pattern } : {}),
      }
    case 'integer':
    case 'number':
    case 'boolean':
    case 'null':
      return { type }
    default:
      throw new Unsupported()
  }
}

/** The words of a schema that the result does not have any more, said to the model in its description. */
function describeRest(schema: JsonSchema, result: JsonSchema, scope: Scope): JsonSchema {
  const split = Array.isArray(schema['type']) ? schema['type'].flatMap(wordsFor) : []
  const rest = Object.entries(schema).filter(
    ([name, value]) =>
      !Object.hasOwn(result, name) &&
      !silent.has(name) &&
      !split.includes(name) &&
      !['type', 'anyOf', 'oneOf', 'allOf', '$defs', 'definitions', 'additionalProperties'].includes(name) &&
      !(name === 'uniqueItems' && value === false),
  )
  if (rest.length === 0) return result
  scope.state.lost = true
  const words = rest.map(([name, value]) => `${name}: ${JSON.stringify(value)}`).join(', ')
  const description = typeof result['description'] === 'string' ? `${result['description']}\n\n` : ''
  return { ...result, description: `${description}{${words}}` }
}

function bodyOf(schema: JsonSchema, scope: Scope): JsonSchema {
  const { enum: values, const: single, type } = schema
  if (values !== undefined) {
    if (!lists(values).every(isPlain)) throw new Unsupported()
    return { enum: values }
  }
  if (single !== undefined) {
    if (!isPlain(single)) throw new Unsupported()
    return { const: single }
  }
  const branches = schema['anyOf'] ?? schema['oneOf']
  if (Array.isArray(branches)) return { anyOf: branches.map((branch: unknown) => narrow(branch, scope)) }
  if (Array.isArray(schema['allOf'])) {
    if (schema['allOf'].some((part: unknown) => isObject(part) && part['$ref'] !== undefined)) throw new Unsupported()
    return { allOf: schema['allOf'].map((part: unknown) => narrow(part, scope)) }
  }
  if (Array.isArray(type)) {
    const { title: _, description: __, default: ___, ...shared } = schema
    // A type named twice would write out all that is below it twice, on every level.
    return { anyOf: [...new Set<unknown>(type)].map((each) => narrow(ofType(shared, each), scope)) }
  }
  return typedFields(schema, scope)
}

const wordsOf: Readonly<Record<string, readonly string[]>> = {
  object: ['properties', 'required', 'additionalProperties', 'minProperties', 'maxProperties', 'patternProperties'],
  array: ['items', 'minItems', 'maxItems', 'uniqueItems', 'prefixItems', 'contains'],
  string: ['minLength', 'maxLength', 'pattern', 'format'],
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
}

const wordsFor = (type: unknown): readonly string[] =>
  wordsOf[type === 'integer' ? 'number' : (textOf(type) ?? '')] ?? []

/** The part of a schema of several types that speaks of one of them. */
function ofType(schema: JsonSchema, type: unknown): JsonSchema {
  const own = wordsFor(type)
  return { type, ...Object.fromEntries(Object.entries(schema).filter(([name]) => own.includes(name))) }
}

/** References without a circle may multiply all the same, so each pays for what it stands for. */
function charge(target: JsonSchema, { state, sizes }: Scope): void {
  const size = sizes.get(target) ?? JSON.stringify(target).length
  sizes.set(target, size)
  state.left -= size
  if (state.left < 0) throw new Unsupported()
}

function narrow(given: unknown, scope: Scope): JsonSchema {
  if (!isObject(given)) throw new Unsupported()
  const reference = given['$ref']
  if (typeof reference === 'string') {
    const target =
      scope.open.length >= longestChain || scope.open.includes(reference)
        ? undefined
        : resolveLocal(reference, scope.root)
    // A circle, a chain without end and a reference elsewhere are refused.
    if (!target) throw new Unsupported()
    charge(target, scope)
    const { $ref: _, ...beside } = given
    return narrow({ ...target, ...beside }, { ...scope, open: [...scope.open, reference] })
  }
  if (given['not'] !== undefined || given['if'] !== undefined) scope.state.lost = true
  const about = Object.fromEntries(
    annotations.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]]])),
  )
  return describeRest(given, { ...about, ...bodyOf(given, scope) }, scope)
}

/**
 * A schema that the model can be held to. `lost` where a limit (of numbers, lengths, counts) could only be put into words;
 * nothing for one that leaves names open, runs in circles or says nothing.
 */
export function toClaudeSchema(schema: JsonSchema): { schema: JsonSchema; lost: boolean } | undefined {
  const scope: Scope = { root: schema, open: [], state: { lost: false, left: mostExpanded }, sizes: new Map() }
  try {
    const narrowed = narrow(schema, scope)
    return { schema: narrowed, lost: scope.state.lost }
  } catch (error) {
    if (error instanceof Unsupported) return undefined
    throw error
  }
}
