import { type Json, listOf, recordOf } from '../shared/json.ts'

const most = 4

function countIn(value: unknown): number {
  const own = recordOf(value)?.['cache_control'] === undefined ? 0 : 1
  return own + listOf(recordOf(value)?.['content']).reduce<number>((sum, child) => sum + countIn(child), 0)
}

function without(value: unknown, state: { surplus: number }): unknown {
  const block = recordOf(value)
  if (!block || state.surplus === 0) return value
  let copy = block
  if (block['cache_control'] !== undefined) {
    const { cache_control: _, ...rest } = block
    copy = rest
    state.surplus -= 1
  }
  return Array.isArray(copy['content'])
    ? { ...copy, content: copy['content'].map((child) => without(child, state)) }
    : copy
}

/**
 * Keeps the last four cache marks: a later one covers what stands before it. The parts are given in the order in which the
 * upstream reads them.
 */
export function limitCacheMarks(parts: { tools: unknown; system: unknown; messages: unknown }): {
  parts: Json
  cut: boolean
} {
  const count = [parts.tools, parts.system, parts.messages]
    .flatMap(listOf)
    .reduce<number>((sum, part) => sum + countIn(part), 0)
  const state = { surplus: Math.max(0, count - most) }
  if (state.surplus === 0) return { parts, cut: false }
  const reduce = (value: unknown): unknown =>
    Array.isArray(value) ? value.map((part: unknown) => without(part, state)) : value
  return {
    parts: { tools: reduce(parts.tools), system: reduce(parts.system), messages: reduce(parts.messages) },
    cut: true,
  }
}
