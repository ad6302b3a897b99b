import { listOf } from './json.ts'

const partsOf = (content: unknown): unknown[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content)

const isEmpty = (content: unknown): boolean => partsOf(content).length === 0 || content === ''

/** The contents of two messages as that of one. */
export function joinContent(first: unknown, second: unknown): unknown {
  if (isEmpty(first)) return second
  if (isEmpty(second)) return first
  if (typeof first === 'string' && typeof second === 'string') return `${first}\n\n${second}`
  return [...partsOf(first), ...partsOf(second)]
}
