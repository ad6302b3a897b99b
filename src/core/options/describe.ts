import { z } from 'zod'
import type { Visibility, Widget } from './define.ts'
import { optionGroups, type OptionGroup, type SettingsTab } from './groups.ts'
import { type OptionKey, optionKeys, optionOf } from './registry/index.ts'

/** What the settings page needs to draw one option. */
export type OptionField = {
  key: OptionKey
  group: OptionGroup
  visibility: Visibility
  label: string
  help: string | null
  unit: string | null
  widget: Widget | null
  default: unknown
  /** JSON Schema of the value. */
  schema: z.core.JSONSchema.BaseSchema
  /** Keys that must be filled in before this switch is turned on. */
  requires: readonly string[]
}

export function describeOption(key: OptionKey): OptionField {
  const option = optionOf(key)
  return {
    key,
    group: option.group,
    visibility: option.visibility,
    label: option.label,
    help: option.help ?? null,
    unit: option.unit ?? null,
    widget: option.widget ?? null,
    default: option.default,
    schema: z.toJSONSchema(option.schema),
    requires: option.requires ?? [],
  }
}

/** The settings page: tabs, their sections, their fields. */
export function settingsSections(tab: SettingsTab): { group: OptionGroup; label: string; fields: OptionField[] }[] {
  const groups = Object.entries(optionGroups) as [OptionGroup, (typeof optionGroups)[OptionGroup]][]
  return groups
    .filter(([, group]) => group.tab === tab)
    .map(([group, { label }]) => ({
      group,
      label,
      fields: optionKeys.filter((key) => optionOf(key).group === group).map(describeOption),
    }))
}
