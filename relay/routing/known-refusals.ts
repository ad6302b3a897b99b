import { LRUCache } from 'lru-cache'
import { entryLimit } from '#core/cache-limit.ts'
import type { ChannelRow } from './channel-row.ts'

const mostOfChannel = 200
/** A server may be brought up to date, and is then better asked in the caller's own form. */
const ttl = 15 * 60_000

/** Names of calls that were refused, and taken in another form. */
export type KnownRefusals = LRUCache<string, true>

/** Of channels as they were read: one that was changed is another one. */
export type RefusedForms = WeakMap<ChannelRow, KnownRefusals>

export function rememberRefusal(forms: RefusedForms, channel: ChannelRow, name: string): void {
  const known: KnownRefusals = forms.get(channel) ?? new LRUCache({ ...entryLimit(mostOfChannel), ttl })
  forms.set(channel, known)
  known.set(name, true)
}
