import type { JsonSchema } from '#relay/chat/request.ts'
import { type Json, listOf, recordOf, textOf } from '../shared/json.ts'

/** The words of JSON Schema that this vendor's subset knows. */
const supportedFields = [
  'description',
  'nullable',
  'minimum',
  'maximum',
  'minItems',
  'maxItems',
  'minLength',
  'maxLength',
  'pattern',
  'minProperties',
  'maxProperties',
  'propertyOrdering',
] as const

const formats: Readonly<Record<string, readonly string[]>> = {
  string: ['enum', 'date-time'],
  integer: ['int32', 'int64'],
  number: ['float', 'double'],
}

/**
 * Where references point, and those being followed on the way here, so that a circle ends. A schema whose references
 * multiply ends when its nodes are used up, or the names that may be copied for references and for parts of one object.
 */
/** References that follow from one another; no schema that people write has a tenth of it. */
const longestChain = 200

type Scope = { root: Json; open: readonly string[]; nodes: { left: number }; copies: { left: number } }

const mostNodes = 10_000
const mostCopies = 1_000_000

function resolve(reference: string, root: Json): Json | undefined {
  const path = reference.startsWith('#') ? reference.slice(1).split('/').filter(Boolean) : undefined
  if (!path) return undefined
  let value: unknown = root
  for (const step of path) {
    const holder = recordOf(value)
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~')
    if (!holder || !Object.hasOwn(holder, name)) return undefined
    value = holder[name]
  }
  return recordOf(value)
}

/** `null` among the types or branches becomes `nullable`. */
function splitNull(branches: readonly unknown[]): { real: unknown[]; nullable: boolean } {
  const isNull = (branch: unknown): boolean =>
    branch === 'null' || (recordOf(branch)?.['type'] === 'null' && recordOf(branch)?.['enum'] === undefined)
  const real = branches.filter((branch) => !isNull(branch))
  return { real, nullable: real.length < branches.length }
}

function cleanBranches(schema: Json, branches: readonly unknown[], scope: Scope): Json {
  const { real, nullable } = splitNull(branches)
  const cleaned = real.map((branch) => clean(branch, scope))
  const description = textOf(schema['description'])
  const about = {
    ...(description === undefined ? {} : { description }),
    ...(nullable || schema['nullable'] === true ? { nullable: true } : {}),
  }
  const [only] = cleaned
  if (!only) return { type: 'string', ...about }
  return cleaned.length === 1 ? { ...only, ...about } : { anyOf: cleaned, ...about }
}

function mergeAll(schema: Json, parts: readonly unknown[], scope: Scope): Json {
  const { allOf: _, ...rest } = schema
  // Maps, because a property may be called `__proto__`.
  const fields = new Map<string, unknown>()
  const properties = new Map<string, unknown>()
  const required = new Set<unknown>()
  const add = (next: Json): void => {
    const own = Object.entries(next)
    const known = Object.entries(recordOf(next['properties']) ?? {})
    const names = listOf(next['required'])
    scope.copies.left -= own.length + known.length + names.length
    for (const [name, value] of own) fields.set(name, value)
    for (const [name, value] of known) properties.set(name, value)
    for (const name of names) required.add(name)
  }
  add(rest)
  for (const part of parts) {
    scope.nodes.left -= 1
    if (scope.nodes.left < 0 || scope.copies.left < 0) break
    add(dereference(recordOf(part) ?? {}, scope).schema)
  }
  fields.delete('properties')
  if (properties.size > 0) fields.set('properties', Object.fromEntries(properties))
  fields.set('required', [...required])
  return Object.fromEntries(fields)
}

/** Alternatives that name no field of their own, only which of the object's own fields have to be there. */
const onlyRequire = (branches: readonly unknown[]): boolean =>
  branches.length > 0 &&
  branches.every((branch) => {
    const names = Object.keys(recordOf(branch) ?? { none: true })
    return names.includes('required') && names.every((name) => name === 'required' || name === 'type')
  })

function enumFields(schema: Json, type: unknown): Json {
  const values = schema['const'] === undefined ? schema['enum'] : [schema['const']]
  if (!Array.isArray(values) || type === 'boolean') return {}
  // A list of values is one of texts here: numbers stay numbers, and the description says which.
  if (values.length > 0 && values.every((value) => typeof value === 'number')) {
    const about = textOf(schema['description'])
    const own = type === undefined ? { type: values.every(Number.isInteger) ? 'integer' : 'number' } : {}
    return { ...own, description: `${about === undefined ? '' : `${about} `}One of: ${values.join(', ')}.` }
  }
  const texts = values
    .filter((value) => value !== null && value !== '')
    .map((value) => (typeof value === 'string' ? value : JSON.stringify(value)))
  return texts.length > 0 ? { type: 'string', enum: texts } : {}
}

function objectFields(schema: Json, scope: Scope): Json {
  const properties = Object.entries(recordOf(schema['properties']) ?? {})
  if (properties.length === 0) return { type: 'object' }
  const known = new Set<unknown>(properties.map(([name]) => name))
  const required = listOf(schema['required']).filter((name) => known.has(name))
  return {
    type: 'object',
    properties: Object.fromEntries(properties.map(([name, child]) => [name, clean(child, scope)])),
    ...(required.length > 0 ? { required: [...new Set(required)] } : {}),
  }
}

function itemsOf(items: unknown, scope: Scope): Json {
  if (items === undefined || items === true) return { type: 'string' }
  if (!Array.isArray(items)) return clean(items, scope)
  return items.length > 1 ? cleanBranches({}, items, scope) : clean(items[0], scope)
}

function typedFields(schema: Json, type: string | undefined, scope: Scope): Json {
  if (type === 'array') return { type, items: itemsOf(schema['items'] ?? schema['prefixItems'], scope) }
  if (type === 'object' || (type === undefined && recordOf(schema['properties']))) return objectFields(schema, scope)
  const format = textOf(schema['format'])
  const keepsFormat = type !== undefined && format !== undefined && formats[type]?.includes(format) === true
  return { ...(type === undefined ? {} : { type }), ...(keepsFormat ? { format } : {}) }
}

/** The schema a reference stands for, with what is said beside the reference; a circle or a loose end is any object. */
function dereference(schema: Json, scope: Scope): { schema: Json; scope: Scope } {
  const reference = textOf(schema['$ref'])
  if (reference === undefined) return { schema, scope }
  const isFollowed = scope.open.length < longestChain && !scope.open.includes(reference) && scope.copies.left >= 0
  const target = isFollowed ? resolve(reference, scope.root) : undefined
  const { $ref: _, ...beside } = schema
  if (!target) return { schema: { ...beside, type: 'object' }, scope }
  const inner = { ...scope, open: [...scope.open, reference] }
  const merged = { ...target, ...beside }
  scope.copies.left -= Object.keys(merged).length
  return dereference(merged, inner)
}

function clean(value: unknown, outer: Scope): Json {
  const given = recordOf(value)
  outer.nodes.left -= 1
  if (!given || outer.nodes.left < 0) return { type: 'object' }
  const { schema: resolved, scope } = dereference(given, outer)
  const schema = Array.isArray(resolved['allOf']) ? mergeAll(resolved, resolved['allOf'], scope) : resolved
  const branches = schema['anyOf'] ?? schema['oneOf']
  if (Array.isArray(branches) && !onlyRequire(branches)) return cleanBranches(schema, branches, scope)
  const { real, nullable } = splitNull(Array.isArray(schema['type']) ? schema['type'] : [schema['type']])
  if (real.length > 1) {
    const { description: _, ...shared } = schema
    return cleanBranches(
      { ...schema, nullable },
      real.map((type) => ({ ...shared, type })),
      scope,
    )
  }
  const type = textOf(real[0])?.toLowerCase()
  const cleaned: Json = typedFields(schema, type, scope)
  for (const name of supportedFields) if (schema[name] !== undefined) cleaned[name] = schema[name]
  Object.assign(cleaned, enumFields(schema, type))
  return nullable ? { ...cleaned, nullable: true } : cleaned
}

/** JSON Schema → the OpenAPI subset of this vendor. */
export const toGeminiSchema = (schema: JsonSchema): Json =>
  clean(schema, { root: schema, open: [], nodes: { left: mostNodes }, copies: { left: mostCopies } })

/** The parameters of a function; nothing for one that takes none. */
export function toParameters(schema: JsonSchema | undefined): Json | undefined {
  if (!schema) return undefined
  const cleaned = toGeminiSchema(schema)
  return cleaned['type'] === 'object' && cleaned['properties'] === undefined ? undefined : cleaned
}
