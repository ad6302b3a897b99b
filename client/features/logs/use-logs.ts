import { useCallback, useMemo, useRef, useState } from 'react'
import type { RouterOutputs } from '#server/app-router.ts'
import { useSession } from '../../lib/session.ts'
import type { Paging } from '../../lib/table-state.ts'
import { isRangePreset, parseRange } from '../../lib/time-range.ts'
import { trpc } from '../../lib/trpc.ts'
import { useUrlState } from '../../lib/url-state.ts'

type Log = RouterOutputs['admin']['logs']['list']['items'][number]
/** `key` names the row in the address. */
export type LogRow = Log & { key: string }

/** Every filter of the log, as its address writes them; the dashboard's links are made of the same names. */
export const logFilters = {
  request: '',
  type: '',
  token: '',
  model: '',
  group: '',
  user: '',
  channel: '',
  range: '7d',
}
export type LogFilterValues = typeof logFilters

export const useLogFilters = () => useUrlState(logFilters, ['page', 'open'])

/** A time range alone is no reason why there is nothing. */
export const isFiltered = (values: LogFilterValues): boolean =>
  Object.entries(values).some(([name, value]) => name !== 'range' && value !== '')

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

const asId = (text: string): number => (/^\d{1,9}$/.test(text) ? Number(text) : 0)

/** Filters as the server takes them. A range that moves with the clock has no end, and begins anew with a refresh. */
export function useLogInput(values: LogFilterValues) {
  const { isAdmin } = useSession()
  const [refreshed, setRefreshed] = useState(() => new Date())
  const refresh = useCallback(() => setRefreshed(new Date()), [])
  const input = useMemo(() => {
    const range = parseRange(values.range, refreshed)
    return {
      type: asId(values.type),
      tokenName: values.token,
      modelName: values.model,
      group: values.group,
      requestId: values.request,
      start: range?.from,
      end: range && !isRangePreset(values.range) ? range.to : undefined,
      ...(isAdmin ? { username: values.user, channelId: asId(values.channel) } : {}),
    }
    // The values are new with every drawing; their texts are what counts.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [JSON.stringify(values), refreshed, isAdmin])
  return { input, refresh }
}
export type LogInput = ReturnType<typeof useLogInput>['input']

export function useLogs(input: LogInput, { page, pageSize }: Paging) {
  const { isAdmin } = useSession()
  const all = trpc.admin.logs.list.useQuery({ ...input, page, pageSize }, { enabled: isAdmin })
  const own = trpc.user.logs.list.useQuery({ ...input, page, pageSize }, { enabled: !isAdmin })
  const query = isAdmin ? all : own
  const { data } = query
  const named_ = useMemo(() => data && { ...data, items: named(data.items, isAdmin) }, [data, isAdmin])
  return { ...query, data: named_ }
}

export function useLogStat(input: LogInput) {
  const { isAdmin } = useSession()
  const options = { refetchInterval: 15_000 }
  const all = trpc.admin.logs.stat.useQuery(input, { ...options, enabled: isAdmin })
  const own = trpc.user.logs.stat.useQuery(input, { ...options, enabled: !isAdmin })
  return isAdmin ? all : own
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
      const items = named(answer.items, isAdmin)
      return answer.isCapped ? { items } : { items, total: answer.total }
    },
    [input, isAdmin, utils],
  )
}

/** The row that the address names: from the page, or fetched where a link leads to it. */
export function useOpenLog(key: string, rows: readonly LogRow[] | undefined) {
  const { isAdmin } = useSession()
  const shown = rows?.find((row) => row.key === key)
  const [requestId = ''] = key.split('~')
  const wanted = key !== '' && rows !== undefined && !shown
  const isNumber = /^\d{1,15}$/.test(key)
  const options = { placeholderData: undefined }
  const one = trpc.admin.logs.get.useQuery(isNumber ? { id: Number(key) } : { requestId: requestId || '-' }, {
    ...options,
    enabled: wanted && isAdmin,
  })
  const own = trpc.user.logs.get.useQuery({ requestId: requestId || '-' }, { ...options, enabled: wanted && !isAdmin })
  const fetched = isAdmin ? one : own
  const found = wanted && fetched.data ? { ...fetched.data, key } : undefined
  return { log: shown ?? found, error: wanted ? fetched.error : null }
}
