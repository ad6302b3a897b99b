import { parseJson } from '../exact-json.ts'

export type Drift = { added: string[]; gone: string[] }

/** How the upstream's list differs from what a channel has. Names that the channel renames are its own affair. */
export function driftOf(own: readonly string[], upstream: readonly string[], mapped: readonly string[] = []): Drift {
  const has = new Set(own)
  const offered = new Set(upstream)
  const renamed = new Set(mapped)
  return {
    added: upstream.filter((model) => !has.has(model)),
    gone: own.filter((model) => !offered.has(model) && !renamed.has(model)),
  }
}

/** The names that a mapping translates. */
export function mappedNames(modelMapping: string): string[] {
  try {
    const value: unknown = parseJson(modelMapping)
    return typeof value === 'object' && value !== null ? Object.keys(value) : []
  } catch {
    return []
  }
}
