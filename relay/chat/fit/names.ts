import { createHash } from 'node:crypto'
import { parseJson } from '#core/exact-json.ts'
import type { NameRule } from './profile.ts'

/** So many letters tell a shortened name from all others: 48 bits. */
const hashLength = 12

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, hashLength)

export const fitsRule = (name: string, { shortest, longest, pattern }: NameRule): boolean =>
  name.length <= longest && name.length >= (shortest ?? 1) && pattern.test(name)

/**
 * The name as a target takes it: its own beginning, for the model to read, and a hash of all of it. It follows from the name
 * alone, so that every turn of a conversation and every process comes to the same one.
 */
export function fitName(name: string, rule: NameRule): string {
  if (fitsRule(name, rule)) return name
  const clean = name.replaceAll(/[^a-zA-Z0-9_-]/g, '_')
  const word = /^[a-zA-Z_]/.test(clean) ? clean : `_${clean}`
  // Some take a letter alone at the beginning.
  const begun = rule.pattern.test(word) ? word : `x${word}`
  return `${begun.slice(0, rule.longest - hashLength - 1)}_${hashOf(name)}`
}

/** The part of an agent's identity that stays the same from session to session. */
function steadyPart(user: string): string {
  if (!user.startsWith('{')) return user.replace(/_session_[0-9a-f-]+$/, '')
  try {
    const { session_id: _, ...identity } = Object(parseJson(user)) as Record<string, unknown>
    return JSON.stringify(identity)
  } catch {
    return user
  }
}

/** An id of an end user, which only has to be the same for the same one: what a target does not take becomes a hash. */
export const fitUser = (user: string, rule: NameRule): string =>
  fitsRule(user, rule) ? user : `user_${createHash('sha256').update(steadyPart(user)).digest('hex').slice(0, 48)}`
