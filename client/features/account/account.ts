import type { RouterOutputs } from '#server/app-router.ts'
import { trpc } from '../../lib/trpc.ts'

export type Account = RouterOutputs['user']['account']['get']
export type AccountProps = { account: Account }

/** After a change: the page, the name in the bar, and the wallet, whose balance a check-in or a transfer adds to. */
export function useRefreshAccount() {
  const utils = trpc.useUtils()
  return () =>
    Promise.all([utils.user.account.invalidate(), utils.auth.whoami.invalidate(), utils.user.wallet.invalidate()])
}
