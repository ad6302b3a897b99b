import type { Ambient } from '#core/ambient.ts'

const knownPrefixes = /^(chatcmpl-|cmpl-|msg_|resp_|gen-)/

/** An upstream's answer id in the caller's form: `msg_123` → `chatcmpl-123`. A missing id is made up. */
export function answerId(id: string, prefix: string, ambient: Ambient): string {
  if (id !== '' && id.startsWith(prefix)) return id
  const bare = id.replace(knownPrefixes, '')
  return `${prefix}${bare === '' ? ambient.newId(24) : bare}`
}

export const unixSeconds = (ambient: Ambient): number => Math.floor(ambient.now().getTime() / 1000)
