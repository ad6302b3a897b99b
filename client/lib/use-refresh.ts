import { useCallback } from 'react'
import { useRangeMoment } from './range-moment.ts'
import { parseRange } from './time-range.ts'
import { trpc } from './trpc.ts'

/**
 * The moment at which a page was asked for last, and what asks for it anew. Of a range that moves with the clock that is another
 * question; one that begins where it did has to be read again.
 * @param router whose queries the page shows, below those of users and of administrators
 * @param isEndAsked whether they ask for the end of the range too, which a range that moves has in every moment anew
 */
export function useRefresh(
  range: string,
  router: 'logs' | 'tasks' | 'stats',
  isEndAsked = false,
): { refreshed: Date; refresh: () => void } {
  const utils = trpc.useUtils()
  const [refreshed, setRefreshed] = useRangeMoment(range)
  const refresh = useCallback(() => {
    const now = new Date()
    setRefreshed(now)
    const [before, after] = [refreshed, now].map((moment) => {
      const { from, to } = parseRange(range, moment) ?? {}
      return [from?.getTime(), isEndAsked && to?.getTime()].join()
    })
    if (before !== after) return
    for (const { [router]: shown } of [utils.user, utils.admin]) void shown.invalidate()
  }, [utils, range, refreshed, setRefreshed, router, isEndAsked])
  return { refreshed, refresh }
}
