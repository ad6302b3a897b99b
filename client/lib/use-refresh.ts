import { useCallback, useState } from 'react'
import { parseRange } from './time-range.ts'
import { trpc } from './trpc.ts'

/**
 * The moment at which a page was asked for last, and what asks for it anew. Of a range that moves with the clock that is another
 * question; one that begins where it did has to be read again.
 * @param router whose queries the page shows, below those of users and of administrators
 */
export function useRefresh(
  range: string,
  router: 'logs' | 'tasks' | 'stats',
): { refreshed: Date; refresh: () => void } {
  const utils = trpc.useUtils()
  const [refreshed, setRefreshed] = useState(() => new Date())
  const refresh = useCallback(() => {
    const now = new Date()
    setRefreshed(now)
    const [before, after] = [refreshed, now].map((moment) => parseRange(range, moment)?.from.getTime())
    if (before !== after) return
    for (const { [router]: shown } of [utils.user, utils.admin]) void shown.invalidate()
  }, [utils, range, refreshed, router])
  return { refreshed, refresh }
}
