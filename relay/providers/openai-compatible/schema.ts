import { isObject } from '#relay/chat/json.ts'
import type { JsonSchema } from '#relay/chat/request.ts'

/*
 * What a schema may say that is strict: https://platform.openai.com/docs/guides/structured-outputs,
 * "Supported schemas": every object closed, all its fields required, no allOf, not, dependentRequired, if, patternProperties.
 */
const supported = new Set([
  'type',
  'title',
  'description',
  'enum',
  'const',
  'anyOf',
  '$ref',
  '$defs',
  'definitions',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'minItems',
  'maxItems',
  'pattern',
  'format',
  'multipleOf',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
])
/** Words that hold nobody to anything; the vendor refuses some of them. */
const silent = new Set([
  '$schema',
  '$id',
  '$comment',
  'default',
  'examples',
  'example',
  'deprecated',
  'readOnly',
  'writeOnly',
])
const formats = new Set(['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid'])

const entriesOf = (value: unknown): [string, unknown][] => (isObject(value) ? Object.entries(value) : [])

/** The same schema in the words of the vendor; nothing where it has none. */
function reword(given: unknown): JsonSchema | undefined {
  if (!isObject(given)) return undefined
  const { oneOf, ...rest } = given
  const schema = oneOf !== undefined && rest['anyOf'] === undefined ? { ...rest, anyOf: oneOf } : given
  const names = Object.keys(schema).filter((name) => !silent.has(name))
  if (!names.every((name) => supported.has(name))) return undefined
  if (schema['format'] !== undefined && !formats.has(String(schema['format']))) return undefined
  if (!isClosedAndRequired(schema)) return undefined
  const result: JsonSchema = {}
  for (const name of names) {
    const value = schema[name]
    if (name === 'properties' || name === '$defs' || name === 'definitions') {
      const children = entriesOf(value).map(([key, child]) => [key, reword(child)] as const)
      if (children.some(([, child]) => child === undefined)) return undefined
      result[name] = Object.fromEntries(children)
    } else if (name === 'items') {
      const items = reword(value)
      if (!items) return undefined
      result[name] = items
    } else if (name === 'anyOf') {
      const branches = Array.isArray(value) ? value.map(reword) : [undefined]
      if (branches.includes(undefined)) return undefined
      result[name] = branches
    } else result[name] = value
  }
  return result
}

/** Objects are closed and require all they know; a schema says of what type it is. */
function isClosedAndRequired(schema: JsonSchema): boolean {
  const types = [schema['type']].flat()
  const isObjectType = types.includes('object') || schema['properties'] !== undefined
  if (!isObjectType) return ['type', 'enum', 'const', 'anyOf', '$ref'].some((name) => schema[name] !== undefined)
  if (schema['additionalProperties'] !== false) return false
  const required = Array.isArray(schema['required']) ? schema['required'] : []
  return entriesOf(schema['properties']).every(([name]) => required.includes(name))
}

/** A schema for an answer or for arguments that the vendor is to follow strictly. Its root is one object. */
export function toStrictSchema(schema: JsonSchema): JsonSchema | undefined {
  if (schema['type'] !== 'object' || schema['anyOf'] !== undefined || schema['oneOf'] !== undefined) return undefined
  return reword(schema)
}
