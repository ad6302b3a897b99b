import type { Problem } from '#core/errors.ts'
import type { ReadOption } from './define.ts'
import { isOptionKey, type OptionKey, optionOf, optionKeys } from './registry/index.ts'

const isFilledIn = (value: unknown): boolean =>
  typeof value === 'string' ? value.trim() !== '' : Array.isArray(value) ? value.length > 0 : Boolean(value)

const missing = (keys: readonly string[], read: ReadOption): string[] => keys.filter((key) => !isFilledIn(read(key)))

const labelOf = (key: string): string => (isOptionKey(key) ? optionOf(key).label : key)

/** What a switch needs before it may be turned on. */
export function checkPrerequisites(key: OptionKey, read: ReadOption): Problem | undefined {
  const option = optionOf(key)
  if (!option.requires || read(key) !== true) return undefined
  const lacking = missing(option.requires, read)
  if (lacking.length === 0) return undefined
  const required = lacking.map(labelOf).join('、')
  return { code: 'option.requires', params: { key, label: option.label, required, requiredKeys: lacking.join(',') } }
}

/** What must hold when several options are saved together; `read` shows them as they would be afterwards. */
export function checkForm(key: OptionKey, read: ReadOption): Problem | undefined {
  const option = optionOf(key)
  const { formRequires } = option
  if (formRequires && isFilledIn(read(key)) && missing(formRequires.keys, read).length > 0) {
    return { code: formRequires.problem, params: { key, label: option.label } }
  }
  return checkPrerequisites(key, read) ?? option.formCheck?.(read)
}

/** Secrets whose address changes while they themselves are not `typed` again; what was sent nowhere yet may stay. */
export function strandedSecrets(
  { before, after }: { before: ReadOption; after: ReadOption },
  typed: ReadonlySet<string>,
): OptionKey[] {
  return optionKeys.filter((key) => {
    const { boundTo = [] } = optionOf(key)
    const addresses = boundTo.filter(
      (part, index) => index === 0 || (isOptionKey(part) && optionOf(part).widget === 'address'),
    )
    const wasSent = addresses.some((address) => isFilledIn(before(address)))
    if (!wasSent || !isFilledIn(before(key)) || typed.has(key)) return false
    return boundTo.some((part) => before(part) !== after(part))
  })
}

const hiddenSuffix = /(?:Token|Secret|Key|_token|_secret|_key)$/

/** Clients of the documented API never see these, whatever else may show them. */
export const isHiddenInLists = (key: string): boolean =>
  hiddenSuffix.test(key) || (isOptionKey(key) && optionOf(key).visibility === 'secret')

/** Stored encrypted: declared secrets, and unknown keys that are named like one. */
export const isSecretKey = (key: string): boolean =>
  isOptionKey(key) ? optionOf(key).visibility === 'secret' : hiddenSuffix.test(key)

/** Switches first, in the order of the registry; keys that are not known last. */
export function inSavingOrder<Change extends { key: string }>(changes: readonly Change[]): Change[] {
  const position = new Map<string, number>(optionKeys.map((key, index) => [key, index]))
  const rank = (key: string): number => (/[Ee]nabled$/.test(key) ? 0 : 1_000_000) + (position.get(key) ?? 500_000)
  return changes.toSorted((left, right) => rank(left.key) - rank(right.key))
}
