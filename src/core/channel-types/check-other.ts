import type { Problem } from '../errors.ts'

/** What the extra field of a type has to look like; a type that is not here takes any text, or ignores it. */
const rules = new Map<number, { pattern: RegExp; format: string }>([
  // A date with an optional stage, or the surface without dates.
  [3, { pattern: /^(\d{4}-\d{2}-\d{2}(-preview)?|v1|latest|preview)?$/, format: '2025-04-01-preview, v1' }],
  [18, { pattern: /^(v\d+\.\d+)?$/, format: 'v3.5' }],
  // Part of the path.
  [24, { pattern: /^(v\d+((alpha|beta)\d*)?)?$/, format: 'v1beta, v1' }],
  [37, { pattern: /^(chat|chatflow|agent|workflow|completion)?$/, format: 'chat, workflow, completion' }],
  // Part of the path; it may stand before the token in the key instead.
  [39, { pattern: /^[a-zA-Z0-9]*$/, format: '0123456789abcdef' }],
])

/** Types that cannot be called without it: the library and the bot to ask. */
const required = new Map<number, string>([
  [21, 'library id'],
  [49, 'bot id'],
])

/** What is wrong with the extra field of a channel, if anything is. */
export function checkOther(type: number, other: string): Problem | undefined {
  const what = required.get(type)
  if (what !== undefined && other === '') return { code: 'channel.other_required', params: { what } }
  const rule = rules.get(type)
  if (!rule || rule.pattern.test(other)) return undefined
  return { code: 'channel.other_invalid', params: { format: rule.format } }
}
