import { safeReturn } from './session.ts'

/** What a tab keeps while its reader is at a provider, which leads back to one address of ours alone. */
const key = 'way-back'

/** Where to go once somebody is back; forgotten when the tab is closed. */
export function rememberWayBack(address: string): void {
  try {
    sessionStorage.setItem(key, address)
  } catch {
    // Where storage is forbidden, the way back is the landing page.
  }
}

/** Returned once; only a path of this site. */
export function takeWayBack(): string | null {
  try {
    const address = sessionStorage.getItem(key)
    sessionStorage.removeItem(key)
    return address === null ? null : safeReturn(address)
  } catch {
    return null
  }
}

/** A visit at Telegram, which brings no state of its own. */
type TelegramVisit = { state: string; binds: boolean; wayBack: string }
const telegramKey = 'telegram-visit'

/** Gives the state that goes along in the address and has to come back to this tab. */
export function beginTelegramVisit(visit: Omit<TelegramVisit, 'state'>): string {
  const state = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('')
  try {
    sessionStorage.setItem(telegramKey, JSON.stringify({ ...visit, state }))
  } catch {
    // Where storage is forbidden nothing can be known again.
  }
  return state
}

/** Null where this tab did not set out with the state: a link of somebody else's must sign nobody in, and bind nothing. */
export function endTelegramVisit(state: string): Omit<TelegramVisit, 'state'> | null {
  try {
    const visit = JSON.parse(sessionStorage.getItem(telegramKey) ?? 'null') as TelegramVisit | null
    sessionStorage.removeItem(telegramKey)
    if (state === '' || visit?.state !== state) return null
    return { binds: visit.binds, wayBack: safeReturn(visit.wayBack) }
  } catch {
    return null
  }
}
