import { LRUCache } from 'lru-cache'
import { entryLimit } from '#core/cache-limit.ts'
import {
  admitRequest,
  endRequest,
  type LimitState,
  lookAtLimit,
  type RequestLimit,
  type RequestVerdict,
} from '#core/limits/request-limit.ts'

/** A request asks to be let in. `name` and `key` say whose requests are counted together. */
export type RequestAsk = {
  name: string
  key: string
  id: string
  limit: RequestLimit
  /** Only reads the state: nothing is counted. */
  look?: boolean
}
/** A request that was let in has been answered. */
export type RequestEnd = RequestAsk & { admittedAt: number; succeeded: boolean; byFallback?: boolean | undefined }

/** Counts requests in one place for all who must agree; each act is one step that no other comes between. */
export type RequestStore = {
  admit: (ask: RequestAsk) => Promise<RequestVerdict>
  end: (ending: RequestEnd) => Promise<void>
}

/** Whoever has not asked for longest is forgotten first: a flood of names must not fill the memory. */
const mostKeys = 200_000

/** A window neither ends early nor lasts for hours because the machine's clock was set meanwhile. */
const steadyNow = (): number => performance.timeOrigin + performance.now()

/** Counts in this process. */
export function createMemoryStore(now: () => number = steadyNow): RequestStore {
  const states = new LRUCache<string, LimitState>(entryLimit(mostKeys))
  const nameOf = ({ name, key, limit }: RequestAsk): string => `${name}:${limit.shape}:${key}`
  const keep = (ask: RequestAsk, state: LimitState): void => {
    states.set(nameOf(ask), state, { ttl: ask.limit.windowMs })
  }
  return {
    admit: async (ask) => {
      if (ask.look) return lookAtLimit(states.peek(nameOf(ask)), ask.limit, now())
      const { verdict, state } = admitRequest(states.get(nameOf(ask)), ask.limit, { id: ask.id, now: now() })
      keep(ask, state)
      return verdict
    },
    end: async (ending) => {
      const state = endRequest(states.get(nameOf(ending)), ending.limit, { ...ending, now: now() })
      if (state) keep(ending, state)
    },
  }
}
