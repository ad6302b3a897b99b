import { isObject } from '#relay/chat/json.ts'
import type { JsonSchema } from '#relay/chat/request.ts'
import { resolveLocal } from '#relay/chat/fit/schema-root.ts'
import { type Json, listOf, numberOf, recordOf, recordsOf, withoutAbsent } from '../shared/json.ts'

/*
 * What Kimi refuses of the schemas of tools though they are right, by https://github.com/MoonshotAI/walle: `type` beside `anyOf`, words that
 * stand beside `anyOf` and inside it, names that alternatives require and only the schema around them describes, lists by place in
 * `items`. Names that nothing describes stay, and are refused.
 */

/** Where schemas stand inside a schema: by names of their own, or alone or in a list. */
const byName = new Set(['properties', '$defs', 'definitions', 'patternProperties'])
const alone = new Set(['items', 'prefixItems', 'additionalProperties', 'anyOf', 'oneOf', 'allOf', 'not'])

/** What stays beside alternatives: it holds nobody to anything. */
const silent = new Set([
  'title',
  'description',
  'default',
  'examples',
  '$comment',
  '$schema',
  '$id',
  '$defs',
  'definitions',
])

/** Words that mean the same wherever they stand, and beside those of any alternative that does not say `dependent` ones. */
const independent = new Set(
  (
    'type enum const format pattern minLength maxLength minimum maximum exclusiveMinimum exclusiveMaximum multipleOf ' +
    'minItems maxItems uniqueItems minProperties maxProperties required properties additionalProperties'
  ).split(' '),
)
const dependent = ['patternProperties', 'unevaluatedProperties', '$ref']

/** Alternatives repeat what stood beside them: at most so many characters in one call. */
const mostRepeated = 100_000

type Room = { left: number; root: JsonSchema }

const typesOf = (schema: JsonSchema): unknown[] => [schema['type'] ?? []].flat()

const isWithin = (types: readonly unknown[], others: readonly unknown[]): boolean =>
  types.every((type) => others.includes(type) || (type === 'integer' && others.includes('number')))

/** The type that both allow; nothing where neither is within the other. */
function commonType(left: JsonSchema, right: JsonSchema): unknown {
  const [types, others] = [typesOf(left), typesOf(right)]
  if (types.length === 0 || (others.length > 0 && isWithin(others, types))) return right['type']
  return others.length === 0 || isWithin(types, others) ? left['type'] : undefined
}

const propertiesOf = (schema: JsonSchema): Json => recordOf(schema['properties']) ?? {}

/** Whether a schema says something of properties that it does not know, of which the other has some. */
function excludes(schema: JsonSchema, other: JsonSchema): boolean {
  if ((schema['additionalProperties'] ?? true) === true) return false
  return !Object.keys(propertiesOf(other)).every((name) => Object.hasOwn(propertiesOf(schema), name))
}

function bothProperties(left: Json, right: Json): Json | undefined {
  const entries = Object.entries(right).map(([name, schema]): [string, unknown] => {
    if (!Object.hasOwn(left, name)) return [name, schema]
    const known = left[name]
    return [name, isObject(known) && isObject(schema) ? both(known, schema) : undefined]
  })
  return entries.some(([, schema]) => schema === undefined) ? undefined : { ...left, ...Object.fromEntries(entries) }
}

/** One schema that says what both say; nothing where words of theirs differ or depend on one another. */
function both(shared: JsonSchema, given: JsonSchema): JsonSchema | undefined {
  const words = Object.keys(shared).filter((name) => !silent.has(name))
  const isTypeAlone = words.every((name) => name === 'type')
  const obstacles = isTypeAlone ? ['$ref'] : dependent
  if (!words.every((name) => independent.has(name)) || obstacles.some((name) => given[name] !== undefined))
    return undefined
  if (excludes(shared, given) || excludes(given, shared)) return undefined
  const merged = new Set(['type', 'properties', 'required'])
  const differs = (name: string): boolean =>
    !merged.has(name) && given[name] !== undefined && JSON.stringify(given[name]) !== JSON.stringify(shared[name])
  const type = commonType(shared, given)
  const properties = bothProperties(propertiesOf(shared), propertiesOf(given))
  if (words.some(differs) || !properties || (type === undefined && (shared['type'] ?? given['type']) !== undefined))
    return undefined
  const required = [...new Set([...listOf(shared['required']), ...listOf(given['required'])])]
  return withoutAbsent({
    ...shared,
    ...given,
    type,
    properties: Object.keys(properties).length > 0 ? properties : (given['properties'] ?? shared['properties']),
    required: required.length > 0 ? required : undefined,
  })
}

/** A list by place in the words of today's standard. `additionalItems` of none is a greatest length. */
function listByPlace(schema: JsonSchema): JsonSchema {
  const { items, additionalItems, ...rest } = schema
  if (!Array.isArray(items)) return schema
  const most =
    additionalItems === false ? Math.min(items.length, numberOf(rest['maxItems']) ?? items.length) : undefined
  return {
    ...rest,
    prefixItems: items,
    ...(isObject(additionalItems) ? { items: additionalItems } : {}),
    ...(most === undefined ? {} : { maxItems: most }),
  }
}

/** A reference beside which nothing may stand: it will do where it leads to what is of that type anyway. */
function isTyped({ $ref: reference }: JsonSchema, shared: JsonSchema, { root }: Room): boolean {
  const target = typeof reference === 'string' ? resolveLocal(reference, root) : undefined
  if (!target || Object.keys(shared).length > 1) return false
  return typesOf(target).length > 0 && isWithin(typesOf(target), typesOf(shared))
}

function withAlternativesAlone(schema: JsonSchema, room: Room): JsonSchema {
  const { anyOf } = schema
  if (schema['type'] === undefined || !Array.isArray(anyOf) || room.left <= 0) return schema
  const entries = Object.entries(schema).filter(([name]) => name !== 'anyOf')
  const shared = Object.fromEntries(entries.filter(([name]) => !silent.has(name)))
  room.left -= JSON.stringify(shared).length * anyOf.length
  if (room.left <= 0) return schema
  const branches = anyOf.map((branch: unknown) => {
    if (!isObject(branch)) return undefined
    if (isTyped(branch, shared, room)) return branch
    const united = both(shared, branch)
    return united && withAlternativesAlone(united, room)
  })
  if (branches.includes(undefined)) return schema
  return { ...Object.fromEntries(entries.filter(([name]) => silent.has(name))), anyOf: branches }
}

/** The same schema where it says nothing that is refused, else an equal one; what cannot be said equally stays. */
function rewrite(given: unknown, room: Room): unknown {
  if (Array.isArray(given)) {
    const list = given.map((each) => rewrite(each, room))
    return list.some((each, index) => each !== given[index]) ? list : given
  }
  return isObject(given) ? withAlternativesAlone(rewriteInside(given, room), room) : given
}

function rewriteInside(given: JsonSchema, room: Room): JsonSchema {
  let schema = given
  for (const [name, value] of Object.entries(given)) {
    const inner =
      byName.has(name) && isObject(value) ? rewriteAll(value, room) : alone.has(name) ? rewrite(value, room) : value
    if (inner !== value) schema = { ...schema, [name]: inner }
  }
  return listByPlace(schema)
}

function rewriteAll(schemas: JsonSchema, room: Room): JsonSchema {
  const entries = Object.entries(schemas)
  const rewritten = entries.map(([name, schema]) => [name, rewrite(schema, room)] as const)
  return rewritten.some(([, schema], index) => schema !== entries[index]?.[1]) ? Object.fromEntries(rewritten) : schemas
}

/**
 * 'tools.function.parameters.type is required and must be "object"', which is what a tool is called with in any case. Its alternatives
 * may not stand beside it, but within `allOf`: https://github.com/lidge-jun/opencodex/issues/228, https://github.com/wecode-ai/Wegent/pull/2445.
 */
function rewriteRoot(given: JsonSchema, room: Room): JsonSchema {
  const isUntyped = given['type'] === undefined && given['$ref'] === undefined
  const schema = rewriteInside(isUntyped ? { ...given, type: 'object' } : given, room)
  const { anyOf, ...own } = schema
  if (!Array.isArray(anyOf)) return schema
  const alternatives = { anyOf: withAlternativesAlone(schema, room)['anyOf'] }
  return { ...own, allOf: [...listOf(own['allOf']), alternatives] }
}

function referencesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(referencesIn)
  if (!isObject(value)) return []
  const { $ref: reference } = value
  return [...(typeof reference === 'string' ? [reference] : []), ...Object.values(value).flatMap(referencesIn)]
}

/** Whether each reference that led somewhere still does, where alternatives and lists stand in other places. */
const keepsReferences = (schema: JsonSchema, given: JsonSchema): boolean =>
  referencesIn(given).every((each) => !resolveLocal(each, given) || resolveLocal(each, schema) !== undefined)

function fitTool(tool: Json, room: Room): Json {
  const own = recordOf(tool['function'])
  const [holder, name] = own ? [own, 'parameters'] : [tool, 'input_schema']
  const given = recordOf(holder[name])
  if (!given) return tool
  room.root = given
  const schema = rewriteRoot(given, room)
  if (schema === given || !keepsReferences(schema, given)) return tool
  const fitted = { ...holder, [name]: schema }
  return own ? { ...tool, function: fitted } : fitted
}

/** Puts the schemas of tools into words that Kimi takes, in either form. */
export function fitToolSchemas(body: Json): void {
  const tools = recordsOf(body['tools'])
  const room: Room = { left: mostRepeated, root: {} }
  const fitted = tools.map((tool) => fitTool(tool, room))
  if (fitted.some((tool, index) => tool !== tools[index])) body['tools'] = fitted
}
