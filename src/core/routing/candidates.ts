/** A channel as routing sees it: where it stands and which of its keys may be used, by their position. */
export type Route = { channelId: number; priority: number; weight: number; keys: readonly number[] }

/** Routes of one priority, highest priority first. */
export type Tiers = readonly (readonly Route[])[]

/** Keys that were already used, by channel. */
export type Tried = ReadonlyMap<number, ReadonlySet<number>>

export type CandidateInput = {
  /** 0 for the first. */
  attempt: number
  /** Where this request has asked for the model. */
  tried: Tried
  /** Where it has been for whichever model; absent: `tried`. */
  visited?: Tried
  /** Never go back to a key that was tried. */
  forceSwitch: boolean
  /** Absent: all are, which is the quickest. A key in its cooldown is used only when nothing else is left. */
  isHealthy?: ((channelId: number, key: number) => boolean) | undefined
}

export type Candidates = {
  /** Never empty; `keys` holds only those that may be used now. */
  routes: readonly Route[]
  /** `cooling`: untried, but none is healthy. `again`: all were tried, so a short pause comes first. */
  state: 'fresh' | 'cooling' | 'again'
}

/**
 * Sorts the routes that have a key into tiers; worth keeping, for a model may have thousands. With a model prefix priorities
 * do not count: everything is one tier.
 */
export function tiersOf(routes: readonly Route[], options?: { ignorePriority: boolean }): Tiers {
  const usable = routes.filter((route) => route.keys.length > 0)
  if (usable.length === 0) return []
  if (options?.ignorePriority) return [usable]
  const byPriority = Map.groupBy(usable, (route) => route.priority)
  return [...byPriority.keys()]
    .toSorted((left, right) => right - left)
    .map((priority) => byPriority.get(priority) ?? [])
}

/**
 * Where the next attempt may go: attempt n looks in the n-th tier, without the keys already tried; a tier with none left
 * gives way to the next lower; past the last, the untried from the top. Undefined ends the attempts.
 */
export function candidates(tiers: Tiers, input: CandidateInput): Candidates | undefined {
  const [top] = tiers
  const { tried, visited = tried } = input
  if (top !== undefined && input.attempt === 0 && tried.size === 0 && input.isHealthy === undefined) {
    return { routes: unvisitedFirst(top, visited), state: 'fresh' }
  }
  const order = tierOrder(tiers, input.attempt)
  const isUntried = (channelId: number, key: number): boolean => !tried.get(channelId)?.has(key)
  const isHealthy = input.isHealthy ?? (() => true)
  const fresh = firstTier(order, (channelId, key) => isUntried(channelId, key) && isHealthy(channelId, key))
  if (fresh !== undefined) return { routes: unvisitedFirst(fresh, visited), state: 'fresh' }
  const cooling = firstTier(order, isUntried)
  if (cooling !== undefined) return { routes: unvisitedFirst(cooling, visited), state: 'cooling' }
  if (input.forceSwitch) return undefined
  const again = firstTier(tiers, isHealthy) ?? firstTier(tiers, () => true)
  return again && { routes: again, state: 'again' }
}

const tierOrder = (tiers: Tiers, attempt: number): Tiers =>
  attempt === 0 || attempt >= tiers.length ? tiers : [...tiers.slice(attempt), ...tiers.slice(0, attempt)]

type MayUse = (channelId: number, key: number) => boolean

/** The first tier with a usable key, cut down to its usable keys. */
function firstTier(order: Tiers, mayUse: MayUse): readonly Route[] | undefined {
  for (const tier of order) {
    const usable = tier.map((route) => narrowed(route, mayUse)).filter((route) => route.keys.length > 0)
    if (usable.length > 0) return usable
  }
  return undefined
}

function narrowed(route: Route, mayUse: MayUse): Route {
  const keys = route.keys.filter((key) => mayUse(route.channelId, key))
  return keys.length === route.keys.length ? route : { ...route, keys }
}

/** Another channel is a better second attempt than another key of the same one. */
function unvisitedFirst(routes: readonly Route[], visited: Tried): readonly Route[] {
  if (visited.size === 0) return routes
  const unvisited = routes.filter((route) => !visited.has(route.channelId))
  return unvisited.length > 0 ? unvisited : routes
}
