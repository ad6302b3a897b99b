import { parseJson } from './exact-json.ts'

/** JSON text of an object; undefined for anything else. */
export function readObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = parseJson(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined
  } catch {
    return undefined
  }
}
