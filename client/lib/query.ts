import { MutationCache, QueryCache, QueryClient, keepPreviousData } from '@tanstack/react-query'
import { isUnauthenticated, mayRetry } from './errors.ts'
import { holdsTyped } from './leave-guard.ts'
import { currentUser, forgetUser, isLeftElsewhere, loginAddress, stayAfterSession } from './session.ts'

/**
 * To the login page and back here afterwards. Whoever notices second finds nobody signed in, and the address as it should be.
 * A tab stays where its session ended in another one, or something was typed in it: that is there when the same account is back.
 */
export const leaveSignedOut = (): void => {
  if (currentUser() === undefined || isLeftElsewhere()) return
  if (holdsTyped()) return stayAfterSession()
  forgetUser()
  const address = loginAddress(true)
  queryClient.clear()
  window.history.pushState(null, '', address)
}

/** A session that ended elsewhere is noticed by the first call that is refused. */
const leaveWhenSignedOut = (error: unknown): void => {
  if (isUnauthenticated(error)) leaveSignedOut()
}

/**
 * Options of a list: the rows before stay, which its table dims, while those of another page or other filters come. No type admits it
 * of one record, under whose name another's would stand.
 */
export const keepsRows = {
  placeholderData: <Rows extends readonly unknown[] | { items: readonly unknown[] }>(before: Rows | undefined) =>
    before,
} as const

/** The same of figures and charts, which are dimmed while those of another range or other filters come. */
export const keepsFigures = { placeholderData: keepPreviousData } as const

/** Asks again for what failed of several queries of one view. */
export const refetchFailed = (...queries: { error: unknown; refetch: () => unknown }[]): void => {
  for (const { error, refetch } of queries) if (error) void refetch()
}

/** Options of a query whose view goes on without its answer and shows no failure: a warning reports it. */
export const reportedWhenFailed = { meta: { isReported: true } } as const

/** Whether a query that has failed so often is asked again, where nothing else is said. */
export const isRetried = (failures: number, error: unknown): boolean => failures < 2 && mayRetry(error)

export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError: leaveWhenSignedOut }),
  mutationCache: new MutationCache({ onError: leaveWhenSignedOut }),
  defaultOptions: {
    // Without a network everything fails at once and says so; by default it would wait in silence, and a write be sent whenever
    // the network is back.
    queries: {
      networkMode: 'always',
      refetchOnReconnect: true,
      staleTime: 15_000,
      refetchOnWindowFocus: false,
      retry: isRetried,
      retryDelay: (attempt) => 500 * 2 ** attempt,
    },
    mutations: { networkMode: 'always', retry: false },
  },
})
