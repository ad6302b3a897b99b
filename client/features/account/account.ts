import type { RouterOutputs } from '#server/app-router.ts'
import { trpc } from '../../lib/trpc.ts'

export type Account = RouterOutputs['user']['account']['get']
export type AccountProps = { account: Account }

/** After a change: the page, and the name in the bar. */
export function useRefreshAccount() {
  const utils = trpc.useUtils()
  return () => Promise.all([utils.user.account.invalidate(), utils.auth.whoami.invalidate()])
}
