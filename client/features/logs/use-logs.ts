import { useCallback, useMemo, useRef } from 'react'
import type { RouterOutputs } from '#server/app-router.ts'
import { keepsFigures, keepsRows } from '../../lib/query.ts'
import { useSession } from '../../lib/session.ts'
import { currentStatus } from '../../lib/status.ts'
import { useTableState } from '../../lib/table-state.ts'
import { isRangePreset, lastMomentOf, parseRange } from '../../lib/time-range.ts'
import { parseBounds } from '../../components/filter-bar/types.ts'
import { useLastAnswer } from '../../lib/last-answer.ts'
import { trpc } from '../../lib/trpc.ts'
import { useUrlState } from '../../lib/url-state.ts'
import { useRefresh } from '../../lib/use-refresh.ts'

type Log = RouterOutputs['admin']['logs']['list']['items'][number]
/** `key` names the row in the address. */
export type LogRow = Log & { key: string }

const none: readonly string[] = []

/** Every filter of the log, as its address writes them; the dashboard's links are made of the same names. */
export const logFilters = {
  request: '',
  type: none,
  outcome: none,
  token: none,
  model: none,
  group: none,
  user: none,
  channel: none,
  agent: none,
  project: none,
  time: '',
  cost: '',
  range: '7d',
}
export type LogFilterValues = ReturnType<typeof useLogFilters>[0]

export const useLogFilters = () => useUrlState(logFilters, ['page', 'after', 'open'])

/** A time range alone is no reason why there is nothing. */
export const isFiltered = (values: LogFilterValues): boolean =>
  Object.entries(values).some(([name, value]) => name !== 'range' && value.length > 0)

const outcomes = ['success', 'interrupted', 'failed'] as const
type Outcome = (typeof outcomes)[number]
const isOutcome = (text: string): text is Outcome => outcomes.some((outcome) => outcome === text)
const isType = (text: string): boolean => /^[0-6]$/.test(text)

/** The filters that say nothing that can be read, or that the reader does not have, as a hand-written address may. */
export function unreadableFilters(values: LogFilterValues, isAdmin: boolean): (keyof LogFilterValues)[] {
  const readable: Partial<Record<keyof LogFilterValues, boolean>> = {
    type: values.type.every(isType),
    outcome: values.outcome.every(isOutcome),
    time: values.time === '' || parseBounds(values.time) !== undefined,
    cost: values.cost === '' || parseBounds(values.cost) !== undefined,
    range: values.range === '' || parseRange(values.range, new Date()) !== undefined,
    user: isAdmin || values.user.length === 0,
    channel: isAdmin || values.channel.length === 0,
  }
  return (Object.keys(readable) as (keyof LogFilterValues)[]).filter((name) => readable[name] === false)
}

/** Ordinary users have no use for how many rows there are, so that their rows are named by request. */
function named(items: readonly Log[], isAdmin: boolean): LogRow[] {
  const seen = new Map<string, number>()
  return items.map((log) => {
    if (isAdmin) return { ...log, key: String(log.id) }
    const name = log.requestId === '' ? `at-${log.createdAt.getTime()}` : log.requestId
    const count = seen.get(name) ?? 0
    seen.set(name, count + 1)
    return { ...log, key: count === 0 ? name : `${name}~${count}` }
  })
}

/** Rows of a page of a file. Names are unique on their page alone, and by cursor no row comes twice. */
export const rowsOfFile = (items: readonly Log[], { page, isAdmin }: { page: number; isAdmin: boolean }): LogRow[] =>
  named(items, isAdmin).map((row) => ({ ...row, key: `${page}/${row.key}` }))

/** Ours begin with the time; whatever else is looked for is a session. */
const isRequestId = (text: string): boolean => text === '' || /^\d{17}\w*$/.test(text)

const isId = (text: string): boolean => /^\d{1,9}$/.test(text)

/** Dollars are quota where the site shows dollars. */
const toQuota = (amount: number | undefined): number | undefined => {
  const { displayInCurrency, quotaPerUnit } = currentStatus()
  return amount === undefined ? undefined : Math.round(displayInCurrency ? amount * quotaPerUnit : amount)
}

const toMs = (seconds: number | undefined): number | undefined =>
  seconds === undefined ? undefined : Math.min(2_147_483_647, Math.round(seconds * 1000))

/** Filters as the server takes them. A range that moves with the clock has no end, and begins anew with a refresh. */
export function useLogInput(values: LogFilterValues) {
  const { isAdmin } = useSession()
  const { refreshed, refresh } = useRefresh(values.range, 'logs')
  const input = useMemo(() => {
    const range = parseRange(values.range, refreshed)
    const [time, cost] = [parseBounds(values.time), parseBounds(values.cost)]
    const channels = [...values.channel]
    return {
      type: values.type.filter(isType).map(Number),
      outcome: values.outcome.filter(isOutcome),
      tokenName: [...values.token],
      modelName: [...values.model],
      group: [...values.group],
      agent: [...values.agent],
      project: [...values.project],
      ...(isRequestId(values.request) ? { requestId: values.request } : { session: values.request }),
      minMs: toMs(time?.from),
      maxMs: toMs(time?.to),
      minQuota: toQuota(cost?.from),
      maxQuota: toQuota(cost?.to),
      start: range?.from,
      end: range && !isRangePreset(values.range) ? lastMomentOf(values.range, range) : undefined,
      ...(isAdmin
        ? {
            username: [...values.user],
            channelId: channels.filter(isId).map(Number),
            channelName: channels.filter((channel) => !isId(channel)),
          }
        : {}),
    }
    // The values are new with every drawing; their texts are what counts.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [JSON.stringify(values), refreshed, isAdmin])
  return { input, refresh, question: JSON.stringify(values) }
}
export type LogInput = ReturnType<typeof useLogInput>['input']

/** The columns that the server orders by, under the names of the table. */
const sortable = { total: 'useTime', cost: 'quota', input: 'promptTokens', output: 'completionTokens' } as const

/** `question` is what is asked for, whenever it is asked. */
type Watching = { enabled: boolean; isLive: boolean; question: string }

const liveEveryMs = 3000

/** A page of the log, and how to leaf: by number as far as is counted, then by what follows the last row. */
export function useLogs(input: LogInput, { enabled, isLive, question }: Watching) {
  const { isAdmin } = useSession()
  const table = useTableState(undefined, ['after'])
  const [{ after }, go] = useUrlState({ page: 1, after: '' })
  const cursors = useRef(new Map<number, string>())
  const { page, pageSize, sort } = table
  const by = sort && (sortable as Partial<Record<string, (typeof sortable)[keyof typeof sortable]>>)[sort.by]
  const order = by ? { sort: by, order: sort.order } : {}
  const wanted = { ...input, ...order, page, pageSize, ...(after === '' ? {} : { cursor: after }) }
  const options = { ...keepsRows, ...(isLive && page === 1 && { refetchInterval: liveEveryMs }) }
  const all = trpc.admin.logs.list.useQuery(wanted, { ...options, enabled: enabled && isAdmin })
  const own = trpc.user.logs.list.useQuery(wanted, { ...options, enabled: enabled && !isAdmin })
  const query = isAdmin ? all : own
  const data = useLastAnswer(query, JSON.stringify([question, order, page, pageSize, after]))
  const named_ = useMemo(() => data && { ...data, items: named(data.items, isAdmin) }, [data, isAdmin])
  const setPage = (next: number) => {
    const isCounted = data === undefined || !data.isCapped || next * pageSize <= data.total
    if (next === page + 1 && data?.nextCursor && !isCounted) cursors.current.set(next, data.nextCursor)
    go({ page: next, after: isCounted ? '' : (cursors.current.get(next) ?? '') })
  }
  return { query: { ...query, data: named_ }, table: { ...table, setPage } }
}

export function useLogStat(input: LogInput, { enabled, question }: Pick<Watching, 'enabled' | 'question'>) {
  const { isAdmin } = useSession()
  const options = { ...keepsFigures, refetchInterval: 15_000 }
  const all = trpc.admin.logs.stat.useQuery(input, { ...options, enabled: enabled && isAdmin })
  const own = trpc.user.logs.stat.useQuery(input, { ...options, enabled: enabled && !isAdmin })
  const query = isAdmin ? all : own
  return { data: useLastAnswer(query, question), isStale: query.isPlaceholderData, isError: query.isError }
}

/** The whole log for a file. By cursor, for pages end where counting does. */
export function useLogExport(input: LogInput) {
  const { isAdmin } = useSession()
  const utils = trpc.useUtils()
  const cursor = useRef<string>(undefined)
  return useCallback(
    async (page: number, pageSize: number) => {
      if (page > 1 && cursor.current === undefined) return { items: [] }
      const wanted = { ...input, pageSize, ...(page > 1 ? { cursor: cursor.current } : {}) }
      const once = { staleTime: 0, gcTime: 0 }
      const answer = await (isAdmin
        ? utils.admin.logs.list.fetch(wanted, once)
        : utils.user.logs.list.fetch(wanted, once))
      cursor.current = answer.nextCursor ?? undefined
      const items = rowsOfFile(answer.items, { page, isAdmin })
      return answer.isCapped ? { items } : { items, total: answer.total }
    },
    [input, isAdmin, utils],
  )
}

type Page = { data: { items: readonly LogRow[] } | undefined; isFetching: boolean }

/** The row that the address names: from the page, or fetched where a link leads to it, or where the page cannot be had. */
export function useOpenLog(key: string, { data, isFetching }: Page) {
  const { isAdmin } = useSession()
  const shown = data?.items.find((row) => row.key === key)
  const [requestId = ''] = key.split('~')
  const wanted = key !== '' && !shown && (data !== undefined || !isFetching)
  const isNumber = /^\d{1,15}$/.test(key)
  const one = trpc.admin.logs.get.useQuery(isNumber ? { id: Number(key) } : { requestId: requestId || '-' }, {
    enabled: wanted && isAdmin,
  })
  const own = trpc.user.logs.get.useQuery({ requestId: requestId || '-' }, { enabled: wanted && !isAdmin })
  const fetched = isAdmin ? one : own
  const found = wanted && fetched.data ? { ...fetched.data, key } : undefined
  return { log: shown ?? found, error: wanted ? fetched.error : null, refetch: () => void fetched.refetch() }
}
