import { isObject } from '#relay/chat/json.ts'
import type { JsonSchema } from '#relay/chat/request.ts'

/** https://platform.claude.com/docs/en/build-with-claude/structured-outputs, "Schema complexity limits": of all of a call together. */
const most = { tools: 20, optional: 24, unions: 16 }

type Size = { optional: number; unions: number }

const valuesOf = (value: unknown): unknown[] => (isObject(value) ? Object.values(value) : [])
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

function measure(schema: unknown, size: Size): void {
  if (!isObject(schema)) return
  const { properties, required, type, anyOf, allOf, items } = schema
  const named = new Set(listOf(required))
  for (const name of isObject(properties) ? Object.keys(properties) : []) if (!named.has(name)) size.optional += 1
  if (Array.isArray(type) || Array.isArray(anyOf)) size.unions += 1
  for (const inner of [...valuesOf(properties), ...listOf(anyOf), ...listOf(allOf), items]) measure(inner, size)
}

/** Whether the vendor refuses to hold the model to all of these schemas, which are in its own words already. */
export function exceedsGrammar(tools: readonly JsonSchema[], format: JsonSchema | undefined): boolean {
  const size: Size = { optional: 0, unions: 0 }
  for (const schema of [...tools, format]) measure(schema, size)
  return tools.length > most.tools || size.optional > most.optional || size.unions > most.unions
}
