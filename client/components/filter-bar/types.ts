import type { Choice } from '../picker.tsx'

export type Facet = { id: string; label: string; hidden?: boolean } & (
  | { kind: 'choice'; choices: readonly Choice[] }
  | { kind: 'choices'; choices: readonly Choice[] }
  | { kind: 'text'; placeholder?: string }
  /** A preset or two times, as `parseRange` reads it. */
  | { kind: 'range' }
)

/** Texts for `choice`, `text` and `range`, lists for `choices`, by the facets' ids: as `useUrlState` gives them. */
export type FilterValues = Readonly<Record<string, string | number | boolean | readonly string[]>>
export type FilterPatch = Record<string, string | readonly string[]>

export const isSet = (value: FilterValues[string] | undefined): boolean =>
  Array.isArray(value) ? value.length > 0 : value !== undefined && value !== '' && value !== false && value !== 0

export const asText = (value: FilterValues[string] | undefined): string =>
  value === undefined || typeof value === 'object' ? '' : String(value)

export const asList = (value: FilterValues[string] | undefined): readonly string[] =>
  typeof value === 'object' ? value : []
