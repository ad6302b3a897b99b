import { jsonInstruction } from '#relay/chat/json-instruction.ts'
import type { JsonSchema, ResponseFormat } from '#relay/chat/request.ts'
import { type Json, recordOf } from '../shared/json.ts'

/** Objects of an enforced schema must say that they take no further fields. */
function closeObjects(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closeObjects)
  const schema = recordOf(value)
  if (!schema) return value
  const closed = Object.fromEntries(Object.entries(schema).map(([name, child]) => [name, closeObjects(child)]))
  const isObject = closed['type'] === 'object' && recordOf(closed['properties']) !== undefined
  return isObject && closed['additionalProperties'] === undefined ? { ...closed, additionalProperties: false } : closed
}

export const formatOf = (schema: JsonSchema): Json => ({ type: 'json_schema', schema: closeObjects(schema) })

/** What is said to a model that cannot be held to a format. */
export function formatInstruction(format: ResponseFormat | undefined, enforced: boolean): string | undefined {
  const isEnforced = format?.type === 'json-schema' && enforced && format.instructed !== true
  if (!format || format.type === 'text' || isEnforced) return undefined
  if (format.type === 'json') return jsonInstruction
  return `Answer with one valid JSON object that follows this JSON schema, and nothing else:\n${JSON.stringify(format.schema)}`
}
