import { DomainError, type Problem, toDomainError } from '#core/errors.ts'
import { decodeText, encodeValue, validateValue } from '#core/options/codec.ts'
import type { ReadOption } from '#core/options/define.ts'
import { isOptionKey, type OptionKey, optionKeys, optionOf } from '#core/options/registry/index.ts'
import { checkForm, checkPrerequisites, inSavingOrder, strandedSecrets } from '#core/options/rules.ts'
import type { OptionsSnapshot } from '#core/options/snapshot.ts'
import type { Deps } from '#features/deps.ts'
import { withPriceTables } from '#features/prices/changeover.ts'
import { lockingOut } from './lock-out.ts'
import { changeOptionRows, checkRow, defaultText, type OptionActs } from './rows.ts'
import type { ResetOptions, SaveOptions, UpdateOption } from './schema.ts'
import type { OptionRow } from './store.ts'
import { type FailedChange, type OptionView, toFailedChange, toOptionTexts, toOptionViews } from './view.ts'

export { loadOptionRows, readWithin } from './rows.ts'

export type OptionsDeps = Pick<Deps, 'em' | 'options' | 'secrets' | 'ambient' | 'actor' | 'client'>

export const listOptions = (deps: OptionsDeps): OptionView[] => toOptionViews(deps.options.snapshot())

/** As the documented interface lists them: text, without hidden keys. */
export const listOptionTexts = (deps: OptionsDeps): { key: string; value: string }[] =>
  toOptionTexts(deps.options.snapshot())

/** Secrets that were removed because they would have followed to another address. */
export type Cleared = { cleared: OptionKey[] }

/** One option by its text, live at once. A key that is not known is kept as it came. */
export async function updateOption(deps: OptionsDeps, input: UpdateOption): Promise<Cleared> {
  const { cleared } = await write(deps, [await validateUpdate(deps, input)])
  return { cleared }
}

/** The same of an option that nobody may have changed since it was this text. */
export async function replaceOption(
  deps: OptionsDeps,
  { expected, ...input }: UpdateOption & { expected: string },
): Promise<boolean> {
  const { overtaken } = await write(deps, [await validateUpdate(deps, input)], new Map([[input.key, expected]]))
  return overtaken.length === 0
}

async function validateUpdate(deps: OptionsDeps, input: UpdateOption): Promise<OptionRow> {
  const { key } = input
  if (!isOptionKey(key)) return fitting(input)
  const validated = decodeText(key, input.value)
  if (validated.problem) throw toDomainError(validated.problem)
  if (validated.value === true) {
    // What the switch needs may have been saved through another process a moment ago.
    await deps.options.reload()
    const problem = checkPrerequisites(key, readingWith(deps.options.snapshot(), new Map([[key, validated.value]])))
    if (problem) throw toDomainError(problem)
  }
  return fitting({ key, value: encodeValue(key, validated.value) })
}

function fitting(row: OptionRow): OptionRow {
  const refusal = checkRow(row)
  if (refusal) throw refusal
  return row
}

type SaveResult = Cleared & { saved: string[]; failed: FailedChange[] }

/**
 * A whole form, switches first. Changes are validated by how everything would stand afterwards, so a switch and what it needs
 * may come together; what is refused is left out and reported by key, the rest is saved in one transaction.
 */
export async function saveOptions(deps: OptionsDeps, input: SaveOptions): Promise<SaveResult> {
  const changes = inSavingOrder(input.changes)
  const failed = new Map<string, Problem>()
  const accepted = new Map<string, unknown>()
  const texts = new Map<string, string>()
  for (const { key, value } of changes) {
    const validated = validateChange(key, value)
    if ('problem' in validated) failed.set(key, validated.problem)
    else {
      accepted.set(key, validated.value)
      texts.set(key, validated.text)
    }
  }
  await deps.options.reload()
  for (const [key, problem] of refusedTogether(deps.options.snapshot(), accepted)) failed.set(key, problem)
  for (const key of failed.keys()) accepted.delete(key)
  for (const [key, problem] of await lockingOut(deps, accepted)) failed.set(key, problem)
  for (const key of failed.keys()) texts.delete(key)
  const { cleared, overtaken } = await write(
    deps,
    [...texts].map(([key, value]) => ({ key, value })),
    expectedTexts(changes),
  )
  for (const key of overtaken)
    failed.set(key, { code: 'option.changed_meanwhile', params: { key, label: labelOf(key) } })
  return {
    cleared,
    saved: [...texts.keys()].filter((key) => !failed.has(key)),
    failed: [...failed].map(([key, problem]) => toFailedChange(key, problem)),
  }
}

const labelOf = (key: string): string => (isOptionKey(key) ? optionOf(key).label : key)

/** What changes began with, as it would be written; a secret is never shown, so that nobody begins with it. */
function expectedTexts(changes: SaveOptions['changes']): Map<string, string> {
  return new Map(
    changes.flatMap(({ key, expected }): [string, string][] => {
      if (expected === undefined || !isOptionKey(key) || optionOf(key).visibility === 'secret') return []
      const validated = validateValue(key, expected)
      return validated.problem ? [] : [[key, encodeValue(key, validated.value)]]
    }),
  )
}

function validateChange(key: string, value: unknown): { value: unknown; text: string } | { problem: Problem } {
  if (!isOptionKey(key)) return validateText(key, typeof value === 'string' ? value : JSON.stringify(value))
  const validated = validateValue(key, value)
  if (validated.problem) return { problem: validated.problem }
  const row = validateText(key, encodeValue(key, validated.value))
  return 'problem' in row ? row : { value: validated.value, text: row.text }
}

function validateText(key: string, text: string): { value: unknown; text: string } | { problem: Problem } {
  const refusal = checkRow({ key, value: text })
  return refusal ? { problem: { code: refusal.code, params: refusal.params } } : { value: text, text }
}

/** Taking one change out may break another that leaned on it, so this goes on until nothing more falls. */
function refusedTogether(snapshot: OptionsSnapshot, accepted: ReadonlyMap<string, unknown>): Map<OptionKey, Problem> {
  const refused = new Map<OptionKey, Problem>()
  const remaining = new Map(accepted)
  for (let before = -1; before !== refused.size;) {
    before = refused.size
    const read = readingWith(snapshot, remaining)
    const broken = [...remaining.keys()].filter(isOptionKey).flatMap((key) => {
      const problem = checkForm(key, read)
      return problem ? [[key, problem] as const] : []
    })
    for (const [key, problem] of broken) {
      refused.set(key, problem)
      remaining.delete(key)
    }
  }
  return refused
}

const readingWith =
  (snapshot: OptionsSnapshot, changes: ReadonlyMap<string, unknown>): ReadOption =>
  (key) =>
    changes.has(key) ? changes.get(key) : isOptionKey(key) ? snapshot.values[key] : undefined

/** Every option that says where some secret is sent. */
const addressesOfSecrets = new Set(optionKeys.flatMap((key) => optionOf(key).boundTo ?? []))

async function write(
  deps: OptionsDeps,
  rows: OptionRow[],
  expected?: ReadonlyMap<string, string>,
): Promise<Cleared & { overtaken: string[] }> {
  const cleared = await strandedBy(deps, new Map(rows.map(({ key, value }) => [key, value])))
  const changed = [...rows, ...cleared.map((key) => ({ key, value: '' }))]
  const overtaken = await withPriceTables(deps, (em) =>
    changeOptionRows({ ...deps, em }, { rows: changed, ...(expected && { expected }) }),
  )
  await deps.options.reload()
  return { cleared, overtaken }
}

async function strandedBy(deps: OptionsDeps, texts: ReadonlyMap<string, string>): Promise<OptionKey[]> {
  if (![...texts.keys()].some((key) => addressesOfSecrets.has(key))) return []
  // The secret may have been saved through another process a moment ago.
  await deps.options.reload()
  const before = deps.options.snapshot().texts
  return strandedSecrets(
    { before: (key) => before.get(key), after: (key) => texts.get(key) ?? before.get(key) },
    new Set(texts.keys()),
  )
}

/**
 * Puts options back to their defaults, whatever those are in this version.
 * @throws {DomainError} option.requires_server_address, option.no_way_in, option.no_second_factor
 */
export async function resetOptions(deps: OptionsDeps, input: ResetOptions): Promise<Cleared> {
  const known = input.keys.filter(isOptionKey)
  await deps.options.reload()
  const changes = new Map(known.map((key) => [key, optionOf(key).default]))
  const refused = [...refusedTogether(deps.options.snapshot(), changes), ...(await lockingOut(deps, changes))]
  for (const [, problem] of refused) throw toDomainError(problem)
  const defaults = known.map((key): [string, string] => [key, defaultText(key) ?? ''])
  const cleared = await strandedBy(deps, new Map(defaults))
  const removed = [...new Set([...input.keys, ...cleared])]
  await withPriceTables(deps, (em) => changeOptionRows({ ...deps, em }, { removed }))
  await deps.options.reload()
  return { cleared }
}

export async function resetModelRatio(deps: OptionsDeps): Promise<void> {
  await resetOptions(deps, { keys: ['ModelRatio'] })
}

/**
 * For other services that set options inside a transaction of their own; they reload the store after its commit.
 * @throws {DomainError} option.key_required
 */
export async function setOptionsWithin(deps: OptionActs, texts: Partial<Record<OptionKey, string>>): Promise<void> {
  const rows = Object.entries(texts).map(([key, value]) => {
    if (!isOptionKey(key)) throw new DomainError('option.key_required')
    const validated = decodeText(key, value)
    if (validated.problem) throw toDomainError(validated.problem)
    return fitting({ key, value: encodeValue(key, validated.value) })
  })
  await changeOptionRows(deps, { rows })
}
