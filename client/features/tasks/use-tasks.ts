import { useCallback, useMemo } from 'react'
import type { RouterOutputs } from '#server/app-router.ts'
import type { DataTableProps } from '../../components/data-table/types.ts'
import { keepsRows } from '../../lib/query.ts'
import { useSession } from '../../lib/session.ts'
import type { Paging } from '../../lib/table-state.ts'
import { isRangePreset, parseRange } from '../../lib/time-range.ts'
import { trpc } from '../../lib/trpc.ts'
import { useUrlState } from '../../lib/url-state.ts'
import { useRefresh } from '../../lib/use-refresh.ts'

export type Drawing = RouterOutputs['admin']['tasks']['drawings']['items'][number]
export type MusicTask = RouterOutputs['admin']['tasks']['musicTasks']['items'][number]

const none = { id: '', action: '', status: '', user: '', channel: '' }
export const drawingFilters = { ...none, range: '30d' }
export const musicFilters = { ...none, range: 'today' }
export type TaskFilterValues = typeof drawingFilters

export const useTaskFilters = (defaults: TaskFilterValues) => useUrlState(defaults, ['page', 'open'])

/** A time range alone is no reason why there is nothing. */
export const isFiltered = (values: TaskFilterValues): boolean =>
  Object.entries(values).some(([name, value]) => name !== 'range' && value !== '')

/** A list of tasks as its page needs it. */
export type TaskList<Task> = Pick<DataTableProps<Task>, 'query'> &
  Required<Pick<DataTableProps<Task>, 'csvPage'>> & { refresh: () => void }

export const asId = (text: string): number => (/^\d{1,9}$/.test(text) ? Number(text) : 0)

/** Filters as the server takes them. A range that moves with the clock has no end, and begins anew with a refresh. */
function useCommonInput(values: TaskFilterValues) {
  const { isAdmin } = useSession()
  const { refreshed, refresh } = useRefresh(values.range, 'tasks')
  const input = useMemo(() => {
    const range = parseRange(values.range, refreshed)
    return {
      action: values.action,
      status: values.status,
      start: range?.from,
      end: range && !isRangePreset(values.range) ? range.to : undefined,
      ...(isAdmin ? { username: values.user, channelId: asId(values.channel) } : {}),
    }
    // The values are new with every drawing of the page; their texts are what counts.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [JSON.stringify(values), refreshed, isAdmin])
  return { input, refresh }
}

type Standing = { progress: string }
type Asked<Answer> = { state: { data: Answer | undefined } }

const isRunning = ({ progress }: Standing): boolean => progress !== '100%'
const everyMs = 15_000

/** What is under way is looked at again by itself. */
const followed = {
  ...keepsRows,
  refetchInterval: ({ state }: Asked<{ items: Standing[] }>) => (state.data?.items.some(isRunning) ? everyMs : false),
} as const

const followedAlone = {
  refetchInterval: ({ state }: Asked<Standing>) => (state.data && isRunning(state.data) ? everyMs : false),
} as const

export function useDrawings(values: TaskFilterValues, { page, pageSize }: Paging) {
  const { isAdmin } = useSession()
  const utils = trpc.useUtils()
  const { input: common, refresh } = useCommonInput(values)
  const input = useMemo(() => ({ ...common, mjId: values.id }), [common, values.id])
  const all = trpc.admin.tasks.drawings.useQuery({ ...input, page, pageSize }, { ...followed, enabled: isAdmin })
  const own = trpc.user.tasks.drawings.useQuery({ ...input, page, pageSize }, { ...followed, enabled: !isAdmin })
  const csvPage = useCallback(
    (at: number, size: number) => {
      const wanted = { ...input, page: at, pageSize: size }
      return isAdmin ? utils.admin.tasks.drawings.fetch(wanted) : utils.user.tasks.drawings.fetch(wanted)
    },
    [input, isAdmin, utils],
  )
  return { query: isAdmin ? all : own, refresh, csvPage }
}

export function useMusicTasks(values: TaskFilterValues, { page, pageSize }: Paging) {
  const { isAdmin } = useSession()
  const utils = trpc.useUtils()
  const { input: common, refresh } = useCommonInput(values)
  const input = useMemo(() => ({ ...common, taskId: values.id }), [common, values.id])
  const all = trpc.admin.tasks.musicTasks.useQuery({ ...input, page, pageSize }, { ...followed, enabled: isAdmin })
  const own = trpc.user.tasks.musicTasks.useQuery({ ...input, page, pageSize }, { ...followed, enabled: !isAdmin })
  const csvPage = useCallback(
    (at: number, size: number) => {
      const wanted = { ...input, page: at, pageSize: size }
      return isAdmin ? utils.admin.tasks.musicTasks.fetch(wanted) : utils.user.tasks.musicTasks.fetch(wanted)
    },
    [input, isAdmin, utils],
  )
  return { query: isAdmin ? all : own, refresh, csvPage }
}

export type OpenTask<Task> = { task: Task | undefined; error: unknown; refetch: () => void }

/** Which one the address names: from the page, or to be fetched where a link leads to it, or where the page cannot be had. */
function soughtIn<Task extends { id: number }>(open: string, { data, isFetching }: TaskList<Task>['query']) {
  const id = asId(open)
  const shown = data?.items.find((row) => row.id === id)
  return { id: id || 1, shown, wanted: id > 0 && !shown && (data !== undefined || !isFetching) }
}

const openedOf = <Task>(
  { shown, wanted }: { shown: Task | undefined; wanted: boolean },
  fetched: { data: Task | undefined; error: unknown; refetch: () => unknown },
): OpenTask<Task> => ({
  task: shown ?? (wanted ? fetched.data : undefined),
  error: wanted ? fetched.error : null,
  refetch: () => void fetched.refetch(),
})

export function useOpenDrawing(open: string, page: TaskList<Drawing>['query']) {
  const sought = soughtIn(open, page)
  const fetched = trpc.user.tasks.drawing.useQuery({ id: sought.id }, { ...followedAlone, enabled: sought.wanted })
  return openedOf(sought, fetched)
}

export function useOpenMusicTask(open: string, page: TaskList<MusicTask>['query']) {
  const sought = soughtIn(open, page)
  const fetched = trpc.user.tasks.musicTask.useQuery({ id: sought.id }, { ...followedAlone, enabled: sought.wanted })
  return openedOf(sought, fetched)
}
