import type { OptionGroup } from '#core/options/groups.ts'
import { isOptionKey, optionOf } from '#core/options/registry/index.ts'

/** Who may sign in and whose word is taken for it, where secrets and payments go, what gives money away, what calls cost. */
const guardedGroups = new Set<OptionGroup>([
  ...(['login', 'email-domains', 'oidc', 'github', 'linuxdo', 'wechat', 'telegram', 'turnstile'] as const),
  ...(['mail', 'addresses', 'reverse-proxy', 'worker'] as const),
  ...(['payment', 'stripe', 'quota', 'rebate', 'check-in'] as const),
  ...(['prices', 'groups', 'fallback'] as const),
])
/** What runs in every reader's browser, where their keys go, where they pay, and a price that stands beside no other. */
const guardedKeys = new Set([
  'custom_head_html',
  'global_js',
  'global_css',
  'Chats',
  'TopUpLink',
  'QuotaPerUnit',
  'claude.batch_price_ratio',
])

/** Whether a change of this option wants the second factor again. */
export const isGuardedOption = (key: unknown): boolean =>
  typeof key === 'string' &&
  isOptionKey(key) &&
  (guardedKeys.has(key) || guardedGroups.has(optionOf(key).group) || optionOf(key).visibility === 'secret')

/** The same of an input that saves several. */
export function savesGuardedOption(input: unknown): boolean {
  const changes = listIn(input, 'changes')
  return changes.some((change) => isGuardedOption((change as { key?: unknown } | null)?.key))
}

/** The same of one that puts several back to their defaults. */
export const resetsGuardedOption = (input: unknown): boolean => listIn(input, 'keys').some(isGuardedOption)

function listIn(input: unknown, name: string): unknown[] {
  const list = typeof input === 'object' && input !== null ? (input as Record<string, unknown>)[name] : undefined
  return Array.isArray(list) ? list : []
}
