import { useCallback } from 'react'
import { isUnauthenticated } from '../../lib/errors.ts'
import { leaveSignedOut } from '../../lib/query.ts'
import { trpc } from '../../lib/trpc.ts'

type Utils = Pick<ReturnType<typeof trpc.useUtils>, 'auth'>

/** A refused call may mean that the session has ended, or only that an upstream refuses its key: the server knows which. */
export async function leaveIfEnded({ auth }: Utils, error: unknown): Promise<void> {
  if (!isUnauthenticated(error)) return
  // No answer says nothing. It is called off where another refused call has led to the login meanwhile.
  const user = await auth.whoami.fetch(undefined, { staleTime: 0 }).catch(() => undefined)
  if (user === null) leaveSignedOut()
}

export function useSessionCheck() {
  const utils = trpc.useUtils()
  return useCallback((error: unknown) => leaveIfEnded(utils, error), [utils])
}
