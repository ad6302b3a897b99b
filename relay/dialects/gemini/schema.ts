import { type Fields, isObject } from '#relay/chat/json.ts'
import type { JsonSchema } from '#relay/chat/request.ts'
import { enumWord } from './fields.ts'

const types = ['TYPE_UNSPECIFIED', 'STRING', 'NUMBER', 'INTEGER', 'BOOLEAN', 'ARRAY', 'OBJECT', 'NULL']
const numeric = new Set(['minItems', 'maxItems', 'minLength', 'maxLength', 'minProperties', 'maxProperties'])
const listsOfSchemas = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems'])
const mapsOfSchemas = new Set(['properties', '$defs', 'definitions'])

/** Google's library for Python writes `any_of`. */
const camelCase = (name: string): string => name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

/**
 * A schema in Gemini's own form → JSON Schema: keywords in camelCase, types in lower case, `nullable` as a type, counts as
 * numbers. Only places where a schema stands are rewritten, so a property that happens to be called `type` stays. The depth
 * of callers' bodies is bounded before.
 */
export function toJsonSchema(schema: Fields): JsonSchema {
  const { nullable, ...rest } = schema
  const entries = Object.entries(rest).map(([key, value]) => {
    const name = camelCase(key)
    return [name, convert(name, value)] as const
  })
  const converted: JsonSchema = Object.fromEntries(entries.filter(([name]) => name !== 'propertyOrdering'))
  return nullable === true ? orNull(converted) : converted
}

/** Null is allowed wherever something else is asked for; a schema that asks for nothing allows it already. */
function orNull(schema: JsonSchema): JsonSchema {
  const { type, enum: values, anyOf } = schema
  return {
    ...schema,
    ...(typeof type === 'string' ? { type: [type, 'null'] } : {}),
    ...(Array.isArray(values) ? { enum: [...new Set([...values, null])] } : {}),
    ...(Array.isArray(anyOf) ? { anyOf: [...anyOf, { type: 'null' }] } : {}),
  }
}

const convertAll = (values: unknown[]): unknown[] =>
  values.map((value) => (isObject(value) ? toJsonSchema(value) : value))

function convert(name: string, value: unknown): unknown {
  if (name === 'type') {
    const type = enumWord(value, types)
    return typeof type === 'string' ? type.toLowerCase() : type
  }
  if (numeric.has(name)) return typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value
  if (listsOfSchemas.has(name)) return Array.isArray(value) ? convertAll(value) : value
  if (name === 'items') return Array.isArray(value) ? convertAll(value) : isObject(value) ? toJsonSchema(value) : value
  if (mapsOfSchemas.has(name) && isObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [key, isObject(inner) ? toJsonSchema(inner) : inner]),
    )
  }
  return name === 'additionalProperties' && isObject(value) ? toJsonSchema(value) : value
}
