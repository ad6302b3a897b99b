import { navigate } from 'wouter/use-browser-location'
import { notify } from '../components/notify.ts'
import { t } from '../i18n/t.ts'
import { mayLeaveFor } from '../lib/leave-guard.ts'
import { queryClient } from '../lib/query.ts'
import { forgetReader, forgetsAtSignOut } from '../lib/reader-storage.ts'
import { currentUser, forgetUser } from '../lib/session.ts'
import { trpcClient } from '../lib/trpc.ts'

/** Ends the session here even when the server cannot be reached; it then ends there by its own time. */
export async function signOut(): Promise<void> {
  if (!(await mayLeaveFor('/login'))) return
  await trpcClient.auth.logout.mutate().catch(() => undefined)
  const left = currentUser()?.id
  forgetUser()
  if (left !== undefined && forgetsAtSignOut(left).get()) forgetReader(left)
  queryClient.clear()
  navigate('/login')
  notify.success(t('注销成功！'))
}
