import { validateValue } from '#core/options/codec.ts'
import type { OptionField } from '#core/options/describe.ts'
import { settingsSections } from '#core/options/describe.ts'
import { settingsTabs, type OptionGroup, type SettingsTab } from '#core/options/groups.ts'
import { type OptionKey, optionOf } from '#core/options/registry/index.ts'
import type { Problem } from '#core/errors.ts'

/** What a field of the page holds: JSON as its text, a blank number as null, a secret only while it is being replaced. */
export type FieldValue = string | number | boolean | null | string[]
export type FormValues = Record<string, FieldValue>

export type FieldKind = 'switch' | 'number' | 'quota' | 'choice' | 'list' | 'json' | 'secret' | 'prose' | 'line'

export type SettingsSection = { tab: SettingsTab; group: OptionGroup; label: string; fields: OptionField[] }

export const tabKeys = Object.keys(settingsTabs) as SettingsTab[]

export const sections: readonly SettingsSection[] = tabKeys.flatMap((tab) =>
  settingsSections(tab).map((section) => ({ tab, ...section })),
)

/** The mapping has a table of its own, which saves by itself. */
export const fields: readonly OptionField[] = sections
  .flatMap((section) => section.fields)
  .filter((field) => field.widget !== 'model-mapping')

const fieldsByKey = new Map(fields.map((field) => [field.key, field]))
const tabsByKey = new Map(sections.flatMap(({ tab, fields: own }) => own.map(({ key }) => [key, tab] as const)))

export const tabOf = (key: OptionKey): SettingsTab => tabsByKey.get(key) ?? 'operation'

/** A dot in a field's name would mean a value inside another. */
export const nameOf = (key: string): string => key.replaceAll('.', '/')
export const keyOf = (name: string): OptionKey => name.replaceAll('/', '.') as OptionKey

type Schema = { type?: unknown; enum?: unknown; items?: { type?: unknown } }
const proseWidgets = new Set(['textarea', 'markdown', 'html', 'css', 'javascript', 'lines'])

export function kindOf(field: OptionField): FieldKind {
  const schema = field.schema as Schema
  if (field.visibility === 'secret') return 'secret'
  if (Array.isArray(schema.enum)) return 'choice'
  if (schema.type === 'boolean') return 'switch'
  if (schema.type === 'number' || schema.type === 'integer') return field.widget === 'quota' ? 'quota' : 'number'
  if (schema.type === 'array' && schema.items?.type === 'string') return 'list'
  if (schema.type === 'string') return field.widget !== null && proseWidgets.has(field.widget) ? 'prose' : 'line'
  return 'json'
}

export const choicesOf = (field: OptionField): string[] => ((field.schema as Schema).enum as unknown[]).map(String)

/** A number that is stored as empty text may be left blank. */
export const mayBeBlank = (field: OptionField): boolean => optionOf(field.key).blank !== undefined

export function toFieldValue(field: OptionField, value: unknown): FieldValue {
  const kind = kindOf(field)
  if (kind === 'secret') return ''
  if (kind === 'json') return JSON.stringify(value, null, 2)
  if (kind === 'number' && mayBeBlank(field) && value === optionOf(field.key).blank) return null
  return value as FieldValue
}

const notJson = Symbol('not JSON')

function toValue(field: OptionField, value: FieldValue | undefined): unknown {
  if (kindOf(field) === 'secret') return value ?? ''
  if (kindOf(field) === 'json') {
    try {
      return JSON.parse(String(value)) as unknown
    } catch {
      return notJson
    }
  }
  return value === null ? optionOf(field.key).blank : value
}

/** The field's own rules; `undefined` where it keeps to them. */
export function problemIn(key: OptionKey, value: FieldValue | undefined): Problem | undefined {
  const field = fieldsByKey.get(key)
  if (!field) return undefined
  const plain = toValue(field, value)
  if (plain !== notJson) return validateValue(key, plain).problem
  const { label, refusal } = optionOf(key)
  return { code: refusal ?? 'option.not_json', params: { key, label } }
}

function isSame(field: OptionField, one: FieldValue | undefined, other: FieldValue | undefined): boolean {
  if (one === other) return true
  const [left, right] = [toValue(field, one), toValue(field, other)]
  return left !== notJson && right !== notJson && JSON.stringify(left) === JSON.stringify(right)
}

/** A secret stands unchanged while its field is empty; null takes it away. */
const isUnchanged = (field: OptionField, value: FieldValue | undefined, stored: FieldValue | undefined): boolean =>
  kindOf(field) === 'secret' ? value === '' : isSame(field, value, stored)

export const isAtDefault = (field: OptionField, value: FieldValue | undefined): boolean =>
  kindOf(field) === 'secret' || isSame(field, value, toFieldValue(field, field.default))

export const isChanged = (field: OptionField, value: FieldValue | undefined, stored: FormValues): boolean =>
  !isUnchanged(field, value, stored[nameOf(field.key)])

/** A value that has no effect until another option is switched on: until then its field is disabled, and nothing of it is saved. */
export const neededSwitch: Partial<Record<OptionKey, OptionKey>> = { RebatePercentage: 'RebateEnabled' }

const isInEffect = ({ key }: OptionField, values: FormValues): boolean => {
  const needed = neededSwitch[key]
  return needed === undefined || values[nameOf(needed)] === true
}

export const changedFields = (values: FormValues, stored: FormValues): OptionField[] =>
  fields.filter((field) => isInEffect(field, values) && isChanged(field, values[nameOf(field.key)], stored))

export const changeOf = (field: OptionField, values: FormValues) => ({
  key: field.key,
  value: toValue(field, values[nameOf(field.key)]) as never,
})

/** What a change replaces, for the server to compare: another's value is not overwritten unseen. */
export function beganWith(field: OptionField, stored: FormValues): { expected?: never } {
  const value = kindOf(field) === 'secret' ? undefined : toValue(field, stored[nameOf(field.key)])
  return value === undefined || value === notJson ? {} : { expected: value as never }
}

export const formValuesOf = (options: readonly { key: string; value: unknown }[]): FormValues => {
  const stored = new Map(options.map(({ key, value }) => [key, value]))
  return Object.fromEntries(
    fields.map((field) => [
      nameOf(field.key),
      toFieldValue(field, stored.has(field.key) ? stored.get(field.key) : field.default),
    ]),
  )
}
