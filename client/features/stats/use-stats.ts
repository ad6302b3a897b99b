import { useCallback, useMemo } from 'react'
import type { RouterOutputs } from '#server/app-router.ts'
import { keepsFigures } from '../../lib/query.ts'
import { useSession } from '../../lib/session.ts'
import { useStatus } from '../../lib/status.ts'
import { lastMomentOf, parseRange, rangeThrough } from '../../lib/time-range.ts'
import { useLastAnswer } from '../../lib/last-answer.ts'
import { trpc } from '../../lib/trpc.ts'
import { useUrlState } from '../../lib/url-state.ts'
import type { Interval } from './buckets.ts'
import { intervals, readableInterval } from './buckets.ts'
import { useRefresh } from '../../lib/use-refresh.ts'

type OwnTotals = RouterOutputs['user']['stats']['overview']['current']
type OperatorTotals = RouterOutputs['admin']['stats']['overview']['current']
/** What calls cost is there where an administrator looks at everyone. */
export type Totals = OwnTotals & Partial<Pick<OperatorTotals, 'cost' | 'costedQuota'>>
export type Overview = { current: Totals; previous: Totals }
export type Series = RouterOutputs['admin']['stats']['series']

/** What narrows the calls that are counted. When and whose they are stays where this is cleared. */
export const blankFilters = { model: '', group: '', user: '', session: '', agent: '', project: '' }
export const dashboardState = { range: '7d', by: '', own: false, ...blankFilters, measure: 'spend' }
export type DashboardValues = ReturnType<typeof useDashboardState>[0]
export const useDashboardState = () => useUrlState(dashboardState)

export const fallbackRange = '7d'

/** What is asked of the server, and for whom. `everyone` is an administrator's view of all users. */
export function useStatsInput(values: DashboardValues) {
  const { isAdmin } = useSession()
  const { dataExportDefaultTime } = useStatus()
  const { range: requested, by, model, group, user, session, agent, project } = values
  const everyone = isAdmin && !values.own
  // Whether it can be read is the same at every moment.
  const known = parseRange(requested, new Date(0)) ? requested : fallbackRange
  const { refreshed, refresh } = useRefresh(known, 'stats', true)
  return useMemo(() => {
    const range = parseRange(known, refreshed) ?? { from: refreshed, to: refreshed }
    const { from, to } = range
    // Charts include the hour that holds the end.
    const end = lastMomentOf(known, range)
    const span = to.getTime() - from.getTime()
    const usual = intervals.find((one) => one === dataExportDefaultTime) ?? 'hour'
    const interval = intervals.find((one) => one === by) ?? readableInterval(usual, span)
    const common = { modelName: model, group, session, agent, project, ...(everyone ? { username: user } : {}) }
    const question = JSON.stringify([requested, interval, everyone, common])
    return { everyone, refresh, span, interval, filters: common, range: { start: from, end }, question }
  }, [
    requested,
    known,
    by,
    model,
    group,
    user,
    session,
    agent,
    project,
    everyone,
    refreshed,
    refresh,
    dataExportDefaultTime,
  ])
}
export type StatsInput = ReturnType<typeof useStatsInput>

export function useOverview({ everyone, filters, range, question }: StatsInput) {
  const input = { ...filters, ...range }
  const all = trpc.admin.stats.overview.useQuery(input, { ...keepsFigures, enabled: everyone })
  const own = trpc.user.stats.overview.useQuery(input, { ...keepsFigures, enabled: !everyone })
  const query = everyone ? all : own
  return { ...query, data: useLastAnswer<Overview>(query, question) }
}

/** The usual interval is the site's: on a first visit it is waited for, unless it does not come. */
function useIsStatusKnown(): boolean {
  const { startedAt } = useStatus()
  const { isError } = trpc.site.status.useQuery(undefined, { enabled: false })
  return startedAt.getTime() > 0 || isError
}

const ownTimeZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone

export function useSeries({ everyone, filters, range, interval, question }: StatsInput) {
  const input = { ...filters, ...range, interval: interval as Interval, timeZone: ownTimeZone() }
  const isKnown = useIsStatusKnown()
  const all = trpc.admin.stats.series.useQuery(input, { ...keepsFigures, enabled: isKnown && everyone })
  const own = trpc.user.stats.series.useQuery(input, { ...keepsFigures, enabled: isKnown && !everyone })
  const query = everyone ? all : own
  return { ...query, data: useLastAnswer<Series>(query, question) }
}

const liveEveryMs = 5000

export function useLive({ everyone, filters }: StatsInput) {
  const options = { ...keepsFigures, refetchInterval: liveEveryMs, staleTime: 0 }
  const all = trpc.admin.stats.live.useQuery(filters, { ...options, enabled: everyone })
  const own = trpc.user.stats.live.useQuery(filters, { ...options, enabled: !everyone })
  return everyone ? all : own
}

type Narrow = {
  type: number
  model?: string
  session?: string
  agent?: string
  project?: string
  from?: Date
  until?: Date
}

/** Leads to the log with the dashboard's own filters, narrowed to what was pressed. */
export function useLogLink({ everyone, filters, range }: StatsInput) {
  const { user, isAdmin } = useSession()
  const { start, end } = range
  const { modelName, group, session, agent, project } = filters
  const username = 'username' in filters ? filters.username : ''
  return useCallback(
    (narrow: Narrow): string => {
      const first = narrow.from && narrow.from > start ? narrow.from : start
      const last = narrow.until && narrow.until < end ? new Date(narrow.until.getTime() - 1) : end
      const query = new URLSearchParams({ type: String(narrow.type), range: rangeThrough(first, last) })
      const set = (name: string, value: string | undefined) => value && query.set(name, value)
      set('model', narrow.model ?? modelName)
      set('group', group)
      set('request', narrow.session ?? session)
      set('agent', narrow.agent ?? agent)
      set('project', narrow.project ?? project)
      set('user', everyone ? username : isAdmin ? user?.username : '')
      return `/app/logs/api-usage?${query}`
    },
    [start, end, modelName, group, session, agent, project, username, everyone, isAdmin, user?.username],
  )
}
