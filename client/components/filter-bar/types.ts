import { parseRange } from '../../lib/time-range.ts'
import type { Choice } from '../picker.tsx'

export type Facet = { id: string; label: string; hidden?: boolean } &
  /** `fixed`: there are no others, so that an address with another one cannot be read. */
  (
    | { kind: 'choice' | 'choices'; choices: readonly Choice[]; fixed?: boolean }
    | { kind: 'text'; placeholder?: string }
    /** Several values, typed or taken from what is suggested for the text. */
    | { kind: 'suggest'; placeholder?: string; useSuggestions: (text: string) => readonly Choice[] | undefined }
    /** Two bounds as `parseBounds` reads them, in `unit`. */
    | { kind: 'bounds'; unit: string }
    /** A preset or two times, as `parseRange` reads it. */
    | { kind: 'range' }
  )

/** Texts for `choice`, `text`, `bounds` and `range`, lists for `choices` and `suggest`, by the facets' ids: as `useUrlState` gives them. */
export type FilterValues = Readonly<Record<string, string | number | boolean | readonly string[]>>
export type FilterPatch = Record<string, string | readonly string[]>

export const isSet = (value: FilterValues[string] | undefined): boolean =>
  Array.isArray(value) ? value.length > 0 : value !== undefined && value !== '' && value !== false && value !== 0

export const asText = (value: FilterValues[string] | undefined): string =>
  value === undefined || typeof value === 'object' ? '' : String(value)

export const asList = (value: FilterValues[string] | undefined): readonly string[] =>
  typeof value === 'object' ? value : []

export type Bounds = { from?: number; to?: number }

/** `100..500`, `100..` and `..500`; undefined where it says nothing that can be read. */
export function parseBounds(text: string): Bounds | undefined {
  const [, from = '', to = ''] = /^(\d{0,12}(?:\.\d{1,9})?)\.\.(\d{0,12}(?:\.\d{1,9})?)$/.exec(text) ?? []
  if (from === '' && to === '') return undefined
  const bounds = { ...(from !== '' && { from: Number(from) }), ...(to !== '' && { to: Number(to) }) }
  return bounds.from !== undefined && bounds.to !== undefined && bounds.from > bounds.to ? undefined : bounds
}

/** Choices, ranges and bounds that say nothing that can be read, as a hand-written address may. */
export const isUnreadable = (facet: Facet, values: FilterValues): boolean => {
  const { id, kind } = facet
  const text = asText(values[id])
  if (kind === 'choice' || kind === 'choices') {
    const chosen = kind === 'choices' ? asList(values[id]) : [text].filter(Boolean)
    return facet.fixed === true && chosen.some((one) => !facet.choices.some(({ value }) => value === one))
  }
  if (text === '') return false
  if (kind === 'range') return parseRange(text, new Date()) === undefined
  return kind === 'bounds' && parseBounds(text) === undefined
}
