import { isObject } from './json.ts'

/** Chat completions alone have an object around the fields of a grammar that a tool of free text follows; the hub and responses do not. */
export function nestGrammar(format: unknown): unknown {
  if (!isObject(format) || format['type'] !== 'grammar') return format
  const { type, ...grammar } = format
  return { type, grammar }
}

export function flattenGrammar(format: unknown): unknown {
  const grammar = isObject(format) ? format['grammar'] : undefined
  return isObject(grammar) ? { type: 'grammar', ...grammar } : format
}
