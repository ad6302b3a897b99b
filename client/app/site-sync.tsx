import { useEffect } from 'react'
import { currentUser, forgetUser, rememberUser } from '../lib/session.ts'
import { rememberStatus } from '../lib/status.ts'
import { trpc } from '../lib/trpc.ts'

const minutes = 60_000

/** Keeps what is stored of the site and of the reader in step with the server. */
export function SiteSync() {
  const status = trpc.site.status.useQuery(undefined, { staleTime: 5 * minutes, refetchInterval: 5 * minutes })
  const whoami = trpc.auth.whoami.useQuery(undefined, { staleTime: 5 * minutes })
  useEffect(() => {
    if (status.data) rememberStatus(status.data)
  }, [status.data])
  useEffect(() => {
    if (whoami.data) rememberUser(whoami.data)
    else if (whoami.data === null && currentUser()) forgetUser()
  }, [whoami.data])
  return null
}
