import { roles } from '#core/roles.ts'
import type { RouterOutputs } from '#server/app-router.ts'
import { createStoredJson, useStored } from './stored.ts'

/** What is remembered of the person who is signed in; the session itself is a cookie that scripts cannot read. */
export type SessionUser = NonNullable<RouterOutputs['auth']['whoami']>

const isUser = (value: SessionUser | null): value is SessionUser => typeof value?.id === 'number'

const stored = createStoredJson<SessionUser | null>('user', null)

export const currentUser = (): SessionUser | undefined => {
  const user = stored.get()
  return isUser(user) ? user : undefined
}

export const rememberUser = (user: SessionUser): void => stored.set(user)
export const forgetUser = (): void => stored.set(null)

export type Session = { user: SessionUser | undefined; role: number; isAdmin: boolean; isRoot: boolean }

export function useSession(): Session {
  const value = useStored(stored)
  const user = isUser(value) ? value : undefined
  const role = user?.role ?? roles.guest
  return { user, role, isAdmin: role >= roles.admin, isRoot: role >= roles.root }
}

/** Leads to the login page and back here afterwards. */
export function loginAddress(expired: boolean): string {
  const here = `${window.location.pathname}${window.location.search}`
  const query = new URLSearchParams()
  if (expired) query.set('expired', 'true')
  if (here !== '/') query.set('returnTo', here)
  return `/login${query.size > 0 ? `?${query}` : ''}`
}

/**
 * Only a path of this site is followed, so that a crafted link cannot lead elsewhere after login. Browsers take tabs and
 * line breaks out of an address, and what is left may begin with two slashes.
 */
export const safeReturn = (address: string | null, fallback = '/app/tokens'): string =>
  address && /^\/(?![/\\])\P{Cc}*$/u.test(address) ? address : fallback
