import { z } from 'zod'
import oldNames from './old-zone-names.json' with { type: 'json' }

/** As the Unicode CLDR lists them, under its licence Unicode-3.0. */
const currentNames: ReadonlyMap<string, string> = new Map(Object.entries(oldNames))

/** Browsers go on reporting names that IANA has replaced (Asia/Calcutta), and the PostgreSQL of many systems no longer has those. */
export const currentZone = (name: string): string => currentNames.get(name) ?? name

/** A zone by the name that a database knows: where its files of zones are old, a former one. Undefined where it knows none. */
export function knownZone(name: string, known: ReadonlySet<string>): string | undefined {
  const current = currentZone(name)
  if (known.has(current)) return current
  const former = [...currentNames].find(([name, of]) => of === current && known.has(name))?.[0]
  // Programs may write it in small letters.
  return former ?? [...known].find((name) => name.toLowerCase() === current.toLowerCase())
}

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

/** A zone by any name that IANA has given it, as the current one. */
export const timeZone = (refusal?: string) => z.string().max(64).refine(isTimeZone, refusal).transform(currentZone)
