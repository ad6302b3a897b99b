import { useMemo } from 'react'
import { useStore } from '../../../lib/store.ts'
import { createStoredJson } from '../../../lib/stored.ts'
import { useTableState } from '../../../lib/table-state.ts'
import type { Sort } from '../../../lib/table-state.ts'
import { keepsRows, reportedWhenFailed } from '../../../lib/query.ts'
import { trpc } from '../../../lib/trpc.ts'
import { useUrlState } from '../../../lib/url-state.ts'
import { channelTypeOf } from '#core/channel-types/index.ts'
import { channelStatus } from '#core/statuses.ts'
import { channelSorts } from '#features/channels/schema.ts'
import { chunksOf } from '../../../lib/chunks.ts'
import { useCooldowns } from './use-cooldowns.ts'
import { foldByTag, toChannelRow } from './rows.ts'

const idSort = createStoredJson<boolean>('channel-id-sort', false)
const tagMode = createStoredJson<boolean>('channel-tag-mode', false)
const batchMode = createStoredJson<boolean>('channel-batch-mode', true)

const none: string[] = []
const noFilters = { keyword: '', model: '', group: '', types: none, statuses: none, tags: none }

const byPriority: Sort = { by: 'priority', order: 'desc' }
const byId: Sort = { by: 'id', order: 'desc' }

type ChannelSort = (typeof channelSorts)[number]
const isSort = (name: string): name is ChannelSort => channelSorts.some((sort) => sort === name)

const isStatus = (number: number): boolean => number > 0 && Object.values<number>(channelStatus).includes(number)
const isType = (number: number): boolean => (channelTypeOf(number)?.status ?? 'reserved') !== 'reserved'
/** The others are named beside the filters as not applied. */
const numbers = (texts: readonly string[], isKnown: (number: number) => boolean): number[] =>
  texts.map(Number).filter(isKnown)

const mostHealth = 200

/** What the list shows: filters, order and folding from the address, rows and their health from the server. */
export function useChannelList() {
  const sortsById = useStore(idSort)
  const foldsAlways = useStore(tagMode)
  const isBatch = useStore(batchMode)
  const table = useTableState(sortsById ? byId : byPriority)
  const [filters, setFilters] = useUrlState(noFilters, ['page'])
  const [fold, setFold] = useUrlState({ fold: foldsAlways, unfolded: none }, ['page'])
  const sort = table.sort && isSort(table.sort.by) ? table.sort.by : 'priority'
  const input = {
    keyword: filters.keyword,
    model: filters.model,
    group: filters.group,
    types: numbers(filters.types, isType),
    statuses: numbers(filters.statuses, isStatus),
    tags: [...filters.tags],
    sort,
    ascending: table.sort?.order === 'asc',
    tagMode: fold.fold,
  }
  const list = trpc.admin.channels.list.useQuery({ ...input, page: table.page, pageSize: table.pageSize }, keepsRows)
  const channels = list.data?.items
  const rows = useMemo(
    () =>
      fold.fold && channels?.every((channel) => channel.tag !== '')
        ? foldByTag(channels, fold.unfolded)
        : channels?.map((channel) => toChannelRow(channel)),
    [channels, fold],
  )
  const shown = (rows ?? []).flatMap((row) => (row.kind === 'channel' ? [row.id] : [])).slice(0, mostHealth)
  const health = trpc.admin.channels.health.useQuery(
    { ids: shown, limit: 20 },
    { ...reportedWhenFailed, ...keepsRows, enabled: shown.length > 0 },
  )
  // An entry without probes says that none was made; no entry, that nobody knows yet.
  const probesOf = useMemo(
    () => new Map(health.data?.map(({ channelId, probes }) => [channelId, probes])),
    [health.data],
  )
  const drifts = trpc.admin.channels.drifts.useQuery(
    { ids: shown },
    { ...reportedWhenFailed, ...keepsRows, enabled: shown.length > 0 },
  )
  const driftOf = useMemo(() => new Map(drifts.data?.map((drift) => [drift.channelId, drift])), [drifts.data])
  const unpriced = trpc.admin.channels.unpriced.useQuery(
    { ids: shown },
    { ...reportedWhenFailed, ...keepsRows, enabled: shown.length > 0 },
  )
  const unpricedOf = useMemo(
    () => new Map(unpriced.data?.map(({ channelId, models }) => [channelId, models])),
    [unpriced.data],
  )
  const cooldownsOf = useCooldowns(shown)
  const idsOfPage = useMemo(
    () => chunksOf((channels ?? []).map(({ id }) => String(id))).map((ids) => ids.map(Number)),
    [channels],
  )

  return {
    table,
    filters,
    setFilters,
    input,
    isFiltered: Object.values(filters).some((value) => value.length > 0),
    channels: channels ?? [],
    query: { ...list, data: list.data && rows && { items: rows, total: list.data.total } },
    probesOf,
    driftOf,
    unpricedOf,
    cooldownsOf,
    idsOfPage,
    sortsById,
    setSortsById: (on: boolean) => {
      idSort.set(on)
      table.setSort(undefined)
    },
    isBatch,
    setBatch: batchMode.set,
    folds: fold.fold,
    setFolds: (on: boolean) => {
      setFold({ fold: on, unfolded: [] })
      tagMode.set(on)
    },
    toggleTag: (tag: string) =>
      setFold(
        {
          unfolded: fold.unfolded.includes(tag)
            ? fold.unfolded.filter((other) => other !== tag)
            : [...fold.unfolded, tag],
        },
        { replace: true },
      ),
  }
}

export type ChannelList = ReturnType<typeof useChannelList>
