import { isObject } from '#relay/chat/json.ts'
import type { JsonSchema } from '#relay/chat/request.ts'

/** Where schemas stand inside a schema: by names of their own, or alone or in a list. */
const byName = new Set(['properties', '$defs', 'definitions'])
const alone = new Set(['items', 'additionalProperties', 'anyOf', 'oneOf', 'allOf'])

const lacksItems = (schema: JsonSchema): boolean =>
  [schema['type']].flat().includes('array') && schema['items'] === undefined

/**
 * A tool's parameters with what the original wants to be said, and other vendors do not: "object schema missing properties"
 * (https://github.com/spring-projects/spring-ai/issues/4776), "array schema missing items" (https://github.com/sigoden/aichat/pull/1049). What is
 * added allows what was allowed before. A schema that lacks nothing stays the very same object.
 */
export function completeParameters(schema: JsonSchema): JsonSchema {
  let lacks = false
  const complete = (given: unknown): unknown => {
    if (Array.isArray(given)) return given.map(complete)
    if (!isObject(given)) return given
    const inner = Object.entries(given).map(([name, value]): [string, unknown] => {
      if (!byName.has(name) || !isObject(value)) return [name, alone.has(name) ? complete(value) : value]
      return [name, Object.fromEntries(Object.entries(value).map(([key, child]) => [key, complete(child)]))]
    })
    if (!lacksItems(given)) return Object.fromEntries(inner)
    lacks = true
    return Object.fromEntries([...inner, ['items', {}]])
  }
  const completed = complete(schema) as JsonSchema
  const root = lacks ? completed : schema
  if (Object.keys(root).length === 0) return { type: 'object', properties: {} }
  return root['type'] === 'object' && root['properties'] === undefined ? { ...root, properties: {} } : root
}
