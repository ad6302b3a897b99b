import { useEffect, useRef } from 'react'
import { useLocation } from 'wouter'
import { useLanguage } from '../i18n/language.ts'
import { leaveSignedOut, queryClient } from '../lib/query.ts'
import { currentUser, followOtherTab, forgetUser, isLeftElsewhere, rememberUser, useSession } from '../lib/session.ts'
import { rememberStatus } from '../lib/status.ts'
import { trpc } from '../lib/trpc.ts'
import { routeOf } from './navigation.ts'

const minutes = 60_000

/** The session ended while nobody looked. What is open to everyone stays; elsewhere the login says why it is shown. */
function endSession(): void {
  if (isLeftElsewhere()) return
  if ((routeOf(window.location.pathname)?.role ?? 0) > 0) leaveSignedOut()
  else if (currentUser()) forgetUser()
}

/** A page that is open to everyone follows the other tab; a page of one's own goes on once its owner is back. */
function useFollowingTab(left: boolean): void {
  const wasLeft = useRef(left)
  const [path] = useLocation()
  useEffect(() => {
    if (left && (routeOf(path)?.role ?? 0) === 0) followOtherTab()
    if (wasLeft.current && !left) void queryClient.invalidateQueries()
    wasLeft.current = left
  }, [left, path])
}

/** A page that the browser kept is shown as it was left: meanwhile its reader may have paid elsewhere, or another has signed in. */
function useReadingAgain(): void {
  useEffect(() => {
    const readAgain = ({ persisted }: PageTransitionEvent) => {
      if (persisted) void queryClient.invalidateQueries()
    }
    window.addEventListener('pageshow', readAgain)
    return () => window.removeEventListener('pageshow', readAgain)
  }, [])
}

/** Keeps what is stored of the site and of the reader in step with the server. */
export function SiteSync() {
  const status = trpc.site.status.useQuery(undefined, { staleTime: 5 * minutes, refetchInterval: 5 * minutes })
  const whoami = trpc.auth.whoami.useQuery(undefined, { staleTime: 5 * minutes })
  useEffect(() => {
    if (status.data) rememberStatus(status.data)
  }, [status.data])
  useEffect(() => {
    if (isLeftElsewhere()) return
    if (whoami.data) rememberUser(whoami.data)
    else if (whoami.data === null) endSession()
  }, [whoami.data])
  const { user, isLeftElsewhere: left } = useSession()
  useFollowingTab(left)
  useReadingAgain()
  const language = useLanguage()
  const utils = trpc.useUtils()
  const { mutate: storeLanguage } = trpc.user.account.setLanguage.useMutation({
    onSuccess: (_, stored) => utils.auth.whoami.setData(undefined, (before) => before && { ...before, ...stored }),
  })
  useEffect(() => {
    // Mails and notices follow the console.
    if (whoami.data && whoami.data.language !== language) storeLanguage({ language })
  }, [whoami.data, language, storeLanguage])
  const reader = useRef(user?.id)
  useEffect(() => {
    if (reader.current === user?.id) return
    reader.current = user?.id
    // What the one before could see is not for the next, even when another tab changed them.
    queryClient.removeQueries({ type: 'inactive' })
    void queryClient.invalidateQueries()
  }, [user?.id])
  return null
}
