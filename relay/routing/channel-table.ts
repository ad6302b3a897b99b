import type { Pool, PoolClient } from 'pg'
import { type Route, type Tiers, tiersOf } from '#core/routing/candidates.ts'
import { channelStatus } from '#core/statuses.ts'
import { inTransaction } from '#db/transaction.ts'
import { type ChannelRow, type Columns, readRow, type RowReader } from './channel-row.ts'
import { emptyState, prefixesOf, withChanges } from './routing-state.ts'
import { createSlices } from './slices.ts'

/**
 * Which enabled channel serves which model in which group, kept up to date channel by channel: one change touches that
 * channel's own entries only. What is longer is done in slices, and seen when all of it is done.
 */
export type ChannelTable = {
  channel: (id: number) => ChannelRow | undefined
  /** Enabled channels of a model in a group, sorted into tiers; with a prefix only that prefix's, in one tier. */
  tiers: (group: string, model: string, prefix?: string) => Tiers
  /** Model names that a group can use, without prefixes. */
  modelsOf: (group: string) => string[]
  /** Whether some channel of the group, on or off, has the model. */
  isListed: (group: string, model: string) => boolean
  /** Non-empty prefixes of a group's enabled channels, longest first. */
  prefixesOf: (group: string) => string[]
  enabledChannels: () => ChannelRow[]
  all: () => ChannelRow[]
  /** Reads channels again; without any named those that have changed since they were read. */
  reload: (ids?: number | Iterable<number>) => Promise<void>
}

export type { ChannelRow } from './channel-row.ts'

type Given = RowReader & {
  pool: Pool
  /** Another key, another address, or off for a while: what calls have found out about a channel is no longer true. */
  onReplaced?: (id: number) => void
}

/** Read at a time; a row with its list of models has a few kilobytes. */
const pageSize = 200

export function createChannelTable(deps: Given): ChannelTable {
  let state = emptyState()
  // Of every row that was read, the unusable ones too.
  const revisions = new Map<number, string>()
  let last: Promise<void> = Promise.resolve()

  // A change replaces a model's list of routes, so the list itself is the key of its sorted form.
  const tiersOfRoutes = new WeakMap<readonly Route[], Tiers>()
  const sorted = (routes: readonly Route[]): Tiers => {
    const known = tiersOfRoutes.get(routes)
    if (known) return known
    const tiers = tiersOf(routes)
    tiersOfRoutes.set(routes, tiers)
    return tiers
  }

  const readAgain = async (ids: readonly number[] | undefined): Promise<void> => {
    const many = ids === undefined || ids.length > pageSize
    const found = await (many
      ? inTransaction(deps.pool, (client) => read(client, ids), ofOneMoment)
      : read(deps.pool, ids))
    const replaced = [...found.changes].filter(([id, next]) => isReplaced(state.channels.get(id), next))
    state = await withChanges(state, found.changes)
    for (const [id] of replaced) deps.onReplaced?.(id)
    for (const [id, revision] of found.revisions) {
      if (revision === null) revisions.delete(id)
      else revisions.set(id, revision)
    }
  }
  const read = async (client: Queryable, ids: readonly number[] | undefined) => {
    const wanted = ids ?? (await changedIds(client, revisions))
    return readChannels(deps, { client, ids: wanted })
  }

  return {
    channel: (id) => state.channels.get(id),
    tiers: (group, model, prefix) => {
      const routes = state.routes.get(group)?.get(model) ?? none
      if (prefix === undefined) return sorted(routes)
      const prefixed = routes.filter((route) => state.channels.get(route.channelId)?.modelPrefix === prefix)
      return tiersOf(prefixed, { ignorePriority: true })
    },
    modelsOf: (group) => [...(state.routes.get(group)?.keys() ?? [])],
    isListed: (group, model) => state.listed.has(group, model),
    prefixesOf: (group) => prefixesOf(state, group),
    all: () => [...state.channels.values()],
    enabledChannels: () => [...state.channels.values()].filter((channel) => channel.status === channelStatus.enabled),
    reload: (which) => {
      const ids = which === undefined ? undefined : typeof which === 'number' ? [which] : [...which]
      // One after another, so that an older look never overwrites a newer one.
      const done = last.then(() => readAgain(ids))
      last = done.catch(() => {})
      return done
    },
  }
}

/** All statements see the same. */
const ofOneMoment = 'begin isolation level repeatable read read only'

const none: readonly Route[] = []

function isReplaced(old: ChannelRow | undefined, next: ChannelRow | null): boolean {
  if (!old || !next) return old !== undefined
  const keysOf = ({ keys }: ChannelRow): string => keys.map(({ value }) => value).join('\n')
  return old.baseUrl !== next.baseUrl || old.status !== next.status || keysOf(old) !== keysOf(next)
}

type Queryable = Pick<Pool | PoolClient, 'query'>

/** The channels that were changed or removed. */
async function changedIds(client: Queryable, known: ReadonlyMap<number, string>): Promise<number[]> {
  const { rows } = await client.query<{ marks: string | null }>(
    "select string_agg(id || ':' || revision, ',') as marks from channels",
  )
  const removed = new Set(known.keys())
  const changed: number[] = []
  for (const mark of rows[0]?.marks?.split(',') ?? []) {
    const split = mark.indexOf(':')
    const id = Number(mark.slice(0, split))
    removed.delete(id)
    if (known.get(id) !== mark.slice(split + 1)) changed.push(id)
  }
  return [...changed, ...removed]
}

type Found = { changes: Map<number, ChannelRow | null>; revisions: Map<number, string | null> }

async function readChannels(
  deps: Given,
  { client, ids }: { client: Queryable; ids: readonly number[] },
): Promise<Found> {
  const found: Found = { changes: new Map(), revisions: new Map() }
  const pause = createSlices()
  const one = createInterner()
  for (let start = 0; start < ids.length; start += pageSize) {
    const page = ids.slice(start, start + pageSize)
    for (const id of page) {
      found.changes.set(id, null)
      found.revisions.set(id, null)
    }
    const { rows } = await client.query<Columns>(
      `select c.*, coalesce((select array_agg(k.position) from channel_keys k where k.channel_id = c.id and k.status <> 1), '{}') as disabled_keys
       from channels c where c.id = any ($1::int[])`,
      [page],
    )
    for (const row of rows) {
      found.revisions.set(row.id, String(row.revision))
      found.changes.set(row.id, readRow(deps, row, one))
      await pause()
    }
  }
  return found
}

/** Thousands of channels serve the same models: each name is kept once, and not with the text it was cut from. */
function createInterner(): (text: string) => string {
  const known = new Map<string, string>()
  return (text) => {
    const shared = known.get(text)
    if (shared !== undefined) return shared
    const copy = Buffer.from(text).toString()
    known.set(copy, copy)
    return copy
  }
}
