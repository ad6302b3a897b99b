import { isOptionKey, optionOf } from '#core/options/registry/index.ts'

/** Who may sign in, where secrets are sent, what runs in every reader's browser. */
const guardedGroups = new Set(['login', 'payment', 'mail', 'addresses'])
const guardedKeys = new Set(['custom_head_html', 'global_js', 'global_css'])

/** Whether a change of this option wants the second factor again. */
export const isGuardedOption = (key: unknown): boolean =>
  typeof key === 'string' &&
  isOptionKey(key) &&
  (guardedKeys.has(key) || guardedGroups.has(optionOf(key).group) || optionOf(key).visibility === 'secret')

/** The same of an input that saves several. */
export function savesGuardedOption(input: unknown): boolean {
  const changes: unknown = typeof input === 'object' && input !== null && 'changes' in input ? input.changes : []
  return Array.isArray(changes) && changes.some((change: { key?: unknown } | null) => isGuardedOption(change?.key))
}
