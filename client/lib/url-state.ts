import { useCallback, useMemo } from 'react'
import { useLocation, useSearch } from 'wouter'
import { usePathname } from 'wouter/use-browser-location'
import { stepBack } from './leave-guard.ts'

type Value = string | number | boolean | readonly string[]
export type UrlValues = Record<string, Value>

/** `{ page: 1 }` is a number that may change, not the number one. */
type Widened<Values> = {
  [Name in keyof Values]: Values[Name] extends number
    ? number
    : Values[Name] extends boolean
      ? boolean
      : Values[Name] extends string
        ? string
        : readonly string[]
}

const parse = (texts: string[], fallback: Value): Value => {
  const [text] = texts
  if (Array.isArray(fallback)) return texts.length > 0 ? texts.filter(Boolean) : fallback
  if (text === undefined) return fallback
  if (typeof fallback === 'boolean') return text === 'true'
  if (typeof fallback !== 'number') return text
  const number = Number(text)
  return text.trim() !== '' && Number.isFinite(number) ? number : fallback
}

const asTexts = (value: Value): string[] => (Array.isArray(value) ? [...value] : [String(value)])

const same = (one: Value, other: Value): boolean => asTexts(one).join('\n') === asTexts(other).join('\n')

export const readUrl = <Values extends UrlValues>(search: URLSearchParams, defaults: Values): Widened<Values> =>
  Object.fromEntries(
    Object.entries(defaults).map(([name, fallback]) => [name, parse(search.getAll(name), fallback)]),
  ) as Widened<Values>

/** The address with the given values; what equals its default is left out, so that addresses stay short. */
export function writeUrl(search: URLSearchParams, defaults: UrlValues, patch: Partial<UrlValues>): URLSearchParams {
  const next = new URLSearchParams(search)
  for (const [name, value] of Object.entries(patch)) {
    next.delete(name)
    const fallback = defaults[name]
    if (value === undefined || (fallback !== undefined && same(value, fallback))) continue
    for (const text of asTexts(value)) next.append(name, text)
  }
  return next
}

const addressOf = (path: string, search: URLSearchParams): string =>
  search.size > 0 ? `${path}?${search.toString()}` : path

/** Where the step of the history that stands now was taken from, if it was taken by a change of this state. */
const cameFrom = (): string | undefined => (window.history.state as { from?: string } | null)?.from

/** Whether a change closes what the address says is open, and opens nothing else of the kind. */
function closes(here: URLSearchParams, next: URLSearchParams, opened: readonly string[]): boolean {
  const before = opened.filter((name) => here.has(name))
  const after = opened.filter((name) => next.has(name))
  return after.length < before.length && after.every((name) => before.includes(name))
}

type Options = {
  /** Leaves the address before the change out of the history, as typing should. */
  replace?: boolean
}

/**
 * State that lives in the address, so that every view is a link and back works. The type of each default says how its
 * text is read. A change drops the parameters named in `resets`: filters return to the first page. What the parameters named
 * in `opened` hold open over the page, a form or a panel, leaves the history when it closes: back leads to what was before it.
 */
export function useUrlState<Values extends UrlValues>(
  defaults: Values,
  resets: readonly string[] = [],
  opened: readonly string[] = [],
): [Widened<Values>, (patch: Partial<Widened<Values>>, options?: Options) => void] {
  const path = usePathname()
  const search = useSearch()
  const [, navigate] = useLocation()
  const key = JSON.stringify([defaults, resets, opened])
  const fixed = useMemo(() => JSON.parse(key) as [Values, string[], string[]], [key])
  const values = useMemo(() => readUrl(new URLSearchParams(search), fixed[0]), [search, fixed])
  const set = useCallback(
    (patch: Partial<Widened<Values>>, options: Options = {}) => {
      // A page that was left may still stand while the next one is fetched: a search that it begins then must not lead back to it.
      if (window.location.pathname !== path) return
      // The address itself, not the one that was drawn last: another state may have changed it since.
      const here = new URLSearchParams(window.location.search)
      const next = writeUrl(here, fixed[0], patch as Partial<UrlValues>)
      for (const name of fixed[1]) if (!(name in patch)) next.delete(name)
      const [address, before] = [addressOf(path, next), addressOf(path, here)]
      if (address === before) return
      if (!options.replace && !closes(here, next, fixed[2])) return navigate(address, { state: { from: before } })
      const from = cameFrom()
      navigate(address, { replace: true, state: { from } })
      // Not where somebody is asked first whether it may go.
      const isThere = addressOf(path, new URLSearchParams(window.location.search)) === address
      if (!options.replace && isThere && from === address) stepBack()
    },
    [fixed, path, navigate],
  )
  return [values, set]
}
