import { isWideNumber, parseExactly } from '#core/exact-json.ts'

export type Fields = Record<string, unknown>

export const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !isWideNumber(value)

/** Of a field: it says nothing. An empty object may switch something on. */
export const isEmptyValue = (value: unknown): boolean =>
  value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)

/**
 * Whether a JSON value nests deeper than `limit`. Walks with a list of its own instead of the call stack, because the
 * value may be nested as deep as its text is long.
 */
export function nestsDeeperThan(value: unknown, limit: number): boolean {
  let level: object[] = typeof value === 'object' && value !== null ? [value] : []
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > limit) return true
    const next: object[] = []
    for (const parent of level) {
      for (const child of Array.isArray(parent) ? parent : Object.values(parent)) {
        if (typeof child === 'object' && child !== null) next.push(child)
      }
    }
    level = next
  }
  return false
}

/** The object a JSON text holds, or undefined when the text is not JSON or holds something else. */
export function parseObject(text: string): Fields | undefined {
  try {
    const value = parseExactly(text)
    return isObject(value) && !nestsDeeperThan(value, deepestNesting) ? value : undefined
  } catch {
    return undefined
  }
}

/** Whether a call's arguments are the beginning of some, or no JSON for another reason. None at all are whole. */
export function areBroken(argumentsText: string): boolean {
  if (argumentsText.trim() === '') return false
  try {
    parseExactly(argumentsText)
    return false
  } catch {
    return true
  }
}

/** Deeper values are refused: serialising them again would overflow the stack. */
export const deepestNesting = 256
