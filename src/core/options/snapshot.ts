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
  /** The texts it was made of. */
  readonly rows: ReadonlyMap<string, string>
}

/**
 * Stored text → a snapshot. Nothing stored can make it fail: what cannot be read stands at its default. Values whose text is
 * the same as `before` are taken over, so that a large table is read when it changes and not with every other option.
 */
export function snapshotOf(given: Iterable<{ key: string; value: string }>, before?: OptionsSnapshot): OptionsSnapshot {
  const rows = new Map([...given].map(({ key, value }) => [key, value]))
  const values = defaultOptions()
  const texts = new Map<string, string>()
  const stored = new Set<OptionKey>()
  const unreadable: OptionKey[] = []
  for (const key of optionKeys) {
    const text = rows.get(key)
    const same = before !== undefined && before.rows.get(key) === text
    const validated = same || text === undefined ? undefined : decodeText(key, text)
    if (same ? before.unreadable.includes(key) : validated?.problem) unreadable.push(key)
    else if (text !== undefined) stored.add(key)
    if (same) Object.assign(values, { [key]: before.values[key] })
    else if (validated && !validated.problem) Object.assign(values, { [key]: validated.value })
    freeze(values[key])
    texts.set(key, same ? (before.texts.get(key) ?? '') : encodeValue(key, values[key]))
  }
  for (const [key, text] of rows) if (!isOptionKey(key)) texts.set(key, text)
  return { ...readerOf(values), values, texts, stored, unreadable, rows }
}

/** Every reader shares the same objects, so none may change them. */
function freeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return
  Object.freeze(value)
  for (const inner of Object.values(value)) freeze(inner)
}
