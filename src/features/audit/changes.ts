import { parseJson } from '#core/exact-json.ts'

export type Changes = { before: Record<string, unknown>; after: Record<string, unknown> }

/** Texts beyond this are kept by their beginning; an entry is for reading. */
const longestText = 20_000

type Fields = Record<string, unknown>

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)

const same = (left: unknown, right: unknown): boolean => JSON.stringify(left ?? null) === JSON.stringify(right ?? null)

/** Settings that are stored as JSON text are compared by their fields, so that a table of prices shows its changed rows only. */
function asObject(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*\{/.test(value)) return value
  try {
    const parsed: unknown = parseJson(value)
    return isObject(parsed) ? parsed : value
  } catch {
    return value
  }
}

const readable = (value: unknown): unknown =>
  typeof value === 'string' && value.length > longestText ? `${value.slice(0, longestText)}…` : value

/** The fields that differ, as they were and as they are; in tables the rows that differ. */
export function changesOf(before: Fields, after: Fields): Changes {
  const changes: Changes = { before: {}, after: {} }
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [old, now] = [before[name], after[name]]
    if (same(old, now)) continue
    const [oldFields, nowFields] = [asObject(old), asObject(now)]
    const parts = isObject(oldFields) && isObject(nowFields) ? rowsThatDiffer(oldFields, nowFields) : null
    if (parts) {
      setField(changes.before, name, parts.before)
      setField(changes.after, name, parts.after)
      continue
    }
    if (old !== undefined) setField(changes.before, name, readable(old))
    if (now !== undefined) setField(changes.after, name, readable(now))
  }
  return changes
}

function rowsThatDiffer(before: Fields, after: Fields): Changes {
  const rows: Changes = { before: {}, after: {} }
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (same(before[name], after[name])) continue
    if (name in before) setField(rows.before, name, readable(before[name]))
    if (name in after) setField(rows.after, name, readable(after[name]))
  }
  return rows
}

/** Names come from people: as an own field none of them means anything else. */
function setField(fields: Fields, name: string, value: unknown): void {
  Object.defineProperty(fields, name, { value, enumerable: true, configurable: true, writable: true })
}

export const isChanged = ({ before, after }: Changes): boolean =>
  Object.keys(before).length + Object.keys(after).length > 0
