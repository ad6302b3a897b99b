import { roles } from '#core/roles.ts'
import type { RouterOutputs } from '#server/app-router.ts'
import { createStore, useStore } from './store.ts'
import { createStoredJson } from './stored.ts'

/** What is remembered of the person who is signed in; the session itself is a cookie that scripts cannot read. */
export type SessionUser = NonNullable<RouterOutputs['auth']['whoami']>

const isUser = (value: SessionUser | null): value is SessionUser => typeof value?.id === 'number'

const stored = createStoredJson<SessionUser | null>('user', null)

const storedUser = (): SessionUser | undefined => {
  const user = stored.get()
  return isUser(user) ? user : undefined
}

/** Of whom this tab is. Another tab that signs out, or in as somebody else, takes nothing away that was typed here. */
type Tab = {
  user: SessionUser | undefined
  /** The session of `user` ended, in another tab or while something typed stood here. */
  isLeftElsewhere: boolean
}

const tab = createStore<Tab>({ user: storedUser(), isLeftElsewhere: false })

stored.subscribe(() => {
  const user = storedUser()
  const before = tab.get().user
  if (before === undefined || before.id === user?.id) tab.set({ user, isLeftElsewhere: false })
  else tab.set({ user: before, isLeftElsewhere: true })
})

const setUser = (user: SessionUser | undefined): void => {
  tab.set({ user, isLeftElsewhere: false })
  stored.set(user ?? null)
}

/** As if another tab had signed out: the others of this browser have the same session. */
export const stayAfterSession = (): void => stored.set(null)

export const currentUser = (): SessionUser | undefined => tab.get().user
export const isLeftElsewhere = (): boolean => tab.get().isLeftElsewhere

export const rememberUser = (user: SessionUser): void => setUser(user)
export const forgetUser = (): void => setUser(undefined)
/** This tab does as the other did: nothing here needs who was signed in. */
export const followOtherTab = (): void => tab.set({ user: storedUser(), isLeftElsewhere: false })

export type Session = Tab & { role: number; isAdmin: boolean; isRoot: boolean }

export function useSession(): Session {
  const current = useStore(tab)
  const role = current.user?.role ?? roles.guest
  return { ...current, role, isAdmin: role >= roles.admin, isRoot: role >= roles.root }
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
