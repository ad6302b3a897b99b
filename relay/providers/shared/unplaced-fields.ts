import type { Json } from './json.ts'

/** Names of what a body says and the vendor has no field for. */
export const unplacedFields = (json: Json, placed: readonly string[]): string[] =>
  Object.entries(json).flatMap(([name, value]) => (placed.includes(name) || (value ?? null) === null ? [] : [name]))
