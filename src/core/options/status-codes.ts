import type { Problem } from '#core/errors.ts'

/** A set of statuses as inclusive ranges; no range at all means every failing status. */
export type StatusCodes = { from: number; to: number }[]

function readEntry(entry: string): { from: number; to: number } | undefined {
  const family = /^([1-5])xx$/i.exec(entry)
  if (family) return { from: Number(family[1]) * 100, to: Number(family[1]) * 100 + 99 }
  const range = /^([1-5]\d\d)(?:\s*-\s*([1-5]\d\d))?$/.exec(entry)
  if (!range) return undefined
  const from = Number(range[1])
  const to = Number(range[2] ?? range[1])
  return from <= to ? { from, to } : undefined
}

const entriesOf = (text: string): string[] =>
  text
    .split(/[,，\n]/)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')

/** `429,5xx,500-503` → ranges. What cannot be read is left out. */
export const parseStatusCodes = (text: string): StatusCodes =>
  entriesOf(text)
    .map(readEntry)
    .filter((range) => range !== undefined)

export function checkStatusCodes(text: string): Problem | undefined {
  const unreadable = entriesOf(text).find((entry) => readEntry(entry) === undefined)
  return unreadable === undefined ? undefined : { code: 'option.status_codes_invalid', params: { entry: unreadable } }
}

export const includesStatus = (codes: StatusCodes, status: number): boolean =>
  codes.length === 0 || codes.some((range) => range.from <= status && status <= range.to)
