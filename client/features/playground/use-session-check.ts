import { useCallback } from 'react'
import { isUnauthenticated } from '../../lib/errors.ts'
import { leaveSignedOut } from '../../lib/query.ts'
import { trpc } from '../../lib/trpc.ts'

/** A refused call may mean that the session has ended, or only that an upstream refuses its key: the server knows which. */
export function useSessionCheck() {
  const utils = trpc.useUtils()
  return useCallback(
    async (error: unknown) => {
      if (!isUnauthenticated(error)) return
      const user = await utils.auth.whoami.fetch(undefined, { staleTime: 0 })
      if (user === null) leaveSignedOut()
    },
    [utils],
  )
}
