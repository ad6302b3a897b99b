import { decodeText, encodeValue } from './codec.ts'
import {
  defaultOptions,
  isOptionKey,
  type OptionKey,
  optionKeys,
  type OptionsReader,
  type OptionValues,
  readerOf,
} from './registry/index.ts'

/** All options at one moment. */
export type OptionsSnapshot = OptionsReader & {
  readonly values: Readonly<OptionValues>
  /** Text of every known option, stored or default, and of stored keys that are not known. */
  readonly texts: ReadonlyMap<string, string>
  /** Known keys that have a row; the others stand at their default. */
  readonly stored: ReadonlySet<OptionKey>
  /** Known keys whose stored text could not be read; they stand at their default. */
  readonly unreadable: readonly OptionKey[]
}

/** Stored text → a snapshot. Nothing stored can make it fail: what cannot be read stands at its default. */
export function snapshotOf(rows: Iterable<{ key: string; value: string }>): OptionsSnapshot {
  const values = defaultOptions()
  const unknown = new Map<string, string>()
  const stored = new Set<OptionKey>()
  const unreadable: OptionKey[] = []
  for (const row of rows) {
    if (!isOptionKey(row.key)) {
      unknown.set(row.key, row.value)
      continue
    }
    const judged = decodeText(row.key, row.value)
    if (judged.problem) unreadable.push(row.key)
    else {
      stored.add(row.key)
      Object.assign(values, { [row.key]: judged.value })
    }
  }
  for (const value of Object.values(values)) freeze(value)
  const texts = new Map([
    ...optionKeys.map((key): [string, string] => [key, encodeValue(key, values[key])]),
    ...unknown,
  ])
  return { ...readerOf(values), values, texts, stored, unreadable }
}

/** Every reader shares the same objects, so none may change them. */
function freeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return
  Object.freeze(value)
  for (const inner of Object.values(value)) freeze(inner)
}
