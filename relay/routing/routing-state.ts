import type { Route } from '#core/routing/candidates.ts'
import { channelStatus } from '#core/statuses.ts'
import type { ChannelRow } from './channel-row.ts'
import { createListedModels, type ListedModels } from './listed-models.ts'
import { createSlices } from './slices.ts'

type Routes = Map<string, Map<string, Route[]>>

/** All channels at one moment and, by group and model, the routes of those that are on. Lists are never changed, only replaced. */
export type RoutingState = {
  channels: Map<number, ChannelRow>
  /** The route of each channel that is on: the very object that stands in the lists. */
  routeOf: Map<number, Route>
  routes: Routes
  listed: ListedModels
  /** Kept while nothing changes. */
  prefixes: Map<string, string[]>
}

/** What became of channels; null for one that is gone or cannot be used. */
export type ChannelChanges = ReadonlyMap<number, ChannelRow | null>

export const emptyState = (): RoutingState => ({
  channels: new Map(),
  routeOf: new Map(),
  routes: new Map(),
  listed: createListedModels(),
  prefixes: new Map(),
})

/** Up to here a change is made on the spot, in about a millisecond; a larger one is built aside. */
const mostEntries = 10_000
const mostCopied = 2_000_000

/**
 * The state after some changes. Small ones are made in the state itself, all at once; for large ones a new state is built in
 * slices beside the old, which serves until the new one is whole.
 */
export async function withChanges(state: RoutingState, changes: ChannelChanges): Promise<RoutingState> {
  if (!isSmall(state, changes)) return rebuilt(state, changes)
  applyChanges(state, changes)
  return state
}

function isSmall({ channels, routes }: RoutingState, changes: ChannelChanges): boolean {
  let entries = 0
  let copied = 0
  for (const [id, next] of changes) {
    const channel = channels.get(id) ?? next
    if (next) entries += next.groups.length * next.models.length
    for (const group of channel?.groups ?? []) {
      const models = routes.get(group)
      for (const model of channel?.models ?? []) {
        entries += 1
        copied += models?.get(model)?.length ?? 0
        if (entries > mostEntries || copied > mostCopied) return false
      }
    }
  }
  return entries <= mostEntries
}

function applyChanges(state: RoutingState, changes: ChannelChanges): void {
  const own = new WeakSet<Route[]>()
  /** The list of a model in a group, to be changed: copied once, for others may hold it. */
  const listOf = (group: string, model: string): Route[] => {
    const models = state.routes.get(group) ?? new Map<string, Route[]>()
    state.routes.set(group, models)
    const known = models.get(model)
    if (known && own.has(known)) return known
    const list = known?.slice() ?? []
    own.add(list)
    models.set(model, list)
    return list
  }
  for (const [id, next] of changes) {
    const old = state.channels.get(id)
    const oldRoute = state.routeOf.get(id)
    if (old && oldRoute) {
      for (const group of old.groups) {
        for (const model of old.models) {
          const list = listOf(group, model)
          list.splice(list.indexOf(oldRoute), 1)
          if (list.length === 0) state.routes.get(group)?.delete(model)
        }
      }
    }
    if (old) state.listed.remove(old)
    state.routeOf.delete(id)
    state.channels.delete(id)
    if (!next) continue
    state.channels.set(id, next)
    state.listed.add(next)
    if (next.status !== channelStatus.enabled) continue
    const route = routeTo(next)
    state.routeOf.set(id, route)
    for (const group of next.groups) for (const model of next.models) listOf(group, model).push(route)
  }
  state.prefixes.clear()
}

async function rebuilt(state: RoutingState, changes: ChannelChanges): Promise<RoutingState> {
  const next = emptyState()
  const pause = createSlices()
  let steps = 0
  const add = async (channel: ChannelRow): Promise<void> => {
    next.channels.set(channel.id, channel)
    next.listed.add(channel)
    await pause()
    if (channel.status !== channelStatus.enabled) return
    const route = routeTo(channel)
    next.routeOf.set(channel.id, route)
    for (const group of channel.groups) {
      const models = next.routes.get(group) ?? new Map<string, Route[]>()
      next.routes.set(group, models)
      for (const model of channel.models) {
        const list = models.get(model)
        if (list) list.push(route)
        else models.set(model, [route])
        steps += 1
        if (steps % 256 === 0) await pause()
      }
    }
  }
  for (const channel of state.channels.values()) if (!changes.has(channel.id)) await add(channel)
  for (const channel of changes.values()) if (channel) await add(channel)
  return next
}

const routeTo = (channel: ChannelRow): Route => ({
  channelId: channel.id,
  priority: channel.priority,
  weight: channel.weight,
  keys: channel.keys.filter((key) => key.enabled).map((key) => key.position),
})

/** Non-empty prefixes of a group's enabled channels, longest first. */
export function prefixesOf({ channels, prefixes }: RoutingState, group: string): string[] {
  const known = prefixes.get(group)
  if (known) return known
  const found = new Set<string>()
  for (const channel of channels.values()) {
    if (channel.modelPrefix === '' || channel.status !== channelStatus.enabled) continue
    if (channel.groups.includes(group)) found.add(channel.modelPrefix)
  }
  const sorted = [...found].toSorted((left, right) => right.length - left.length)
  prefixes.set(group, sorted)
  return sorted
}
