import cluster from 'node:cluster'
import type { Redis } from 'ioredis'
import type { RequestVerdict } from '#core/limits/request-limit.ts'
import { createClusterStore } from './cluster-store.ts'
import { createRedisStore, createRedisUseStore } from './redis-store.ts'
import { createMemoryStore, type RequestAsk, type RequestEnd, type RequestStore } from './request-store.ts'
import { createUseStore, type UseCount, type UseStore } from './use-store.ts'

/** `used` counts the use that was asked for too. */
type LimitVerdict = { used: number } & ({ allowed: true } | { allowed: false; retryAfterSeconds: number })
type Window = { name: string; key: string; points: number; seconds: number }

/** Counters shared by all processes that must agree: Redis, else this machine's primary process, else this process. */
export type Limits = {
  /** Counts one use of `key` in the window named by the other fields. A `points` of 0 means no limit. */
  consume: (limit: Window) => Promise<LimitVerdict>
  /** Takes one counted use back. Never throws. */
  giveBack: (limit: Window) => Promise<void>
  /** The same over any span of the length, whenever it began; what is refused does not count. */
  slide: (limit: Window) => Promise<LimitVerdict>
  /** Whether a request may run, counted in the same step. @throws when nobody can count. */
  admit: (ask: RequestAsk) => Promise<RequestVerdict>
  /** How a request that was let in has ended. Never throws: the answer does not wait for a count. */
  ended: (ending: RequestEnd) => Promise<void>
}

export function createLimits(deps: {
  redis?: Redis | undefined
  onError?: (error: unknown) => void
  now?: () => number
}): Limits {
  const shared = cluster.isWorker ? createClusterStore() : null
  const ofMachine = shared?.requests ?? createMemoryStore(deps.now)
  const requests = deps.redis ? withFallback(createRedisStore(deps.redis), ofMachine, deps.onError) : ofMachine
  // A limit on guesses must not open while those who count for more processes do not answer: the next smaller circle counts.
  const ofProcess = createUseStore(deps.now)
  const orElse =
    (uses: UseStore, fallback: UseStore): UseStore =>
    (ask) =>
      uses(ask).catch((error: unknown) => {
        deps.onError?.(error)
        return fallback(ask)
      })
  const usesOfMachine = shared ? orElse(shared.uses, ofProcess) : ofProcess
  const count = deps.redis ? orElse(createRedisUseStore(deps.redis), usesOfMachine) : usesOfMachine

  const verdictOf = ({ used, msBeforeNext }: UseCount, points: number): LimitVerdict =>
    used <= points
      ? { allowed: true, used }
      : { allowed: false, used, retryAfterSeconds: Math.max(1, Math.ceil(msBeforeNext / 1000)) }

  let slid = 0

  return {
    slide: async ({ name, key, points, seconds }) => {
      if (points <= 0 || seconds <= 0) return { allowed: true, used: 0 }
      slid += 1
      const limit = { shape: 'sliding' as const, windowMs: seconds * 1000, total: points, success: 0 }
      try {
        const verdict = await requests.admit({ name, key, id: `${process.pid}-${Date.now()}-${slid}`, limit })
        const used = points - (verdict.total?.remaining ?? points)
        if (verdict.refusedBy === null) return { allowed: true, used }
        return { allowed: false, used, retryAfterSeconds: Math.max(1, Math.ceil(verdict.retryAfterMs / 1000)) }
      } catch (error) {
        // The counter itself failed. This limit protects from floods: letting the call through is the smaller harm.
        deps.onError?.(error)
        return { allowed: true, used: 0 }
      }
    },
    admit: requests.admit,
    ended: (ending) => requests.end(ending).catch((error: unknown) => deps.onError?.(error)),
    consume: async ({ name, key, points, seconds }) => {
      if (points <= 0 || seconds <= 0) return { allowed: true, used: 0 }
      return verdictOf(await count({ name, key, seconds, by: 1 }), points)
    },
    giveBack: async ({ name, key, points, seconds }) => {
      if (points <= 0 || seconds <= 0) return
      await count({ name, key, seconds, by: -1 })
    },
  }
}

/** While Redis does not answer each machine counts for itself. A request ends where it was counted. */
const withFallback = (
  store: RequestStore,
  fallback: RequestStore,
  onError: ((error: unknown) => void) | undefined,
): RequestStore => ({
  admit: (ask) =>
    store.admit(ask).catch((error: unknown) => {
      onError?.(error)
      return fallback.admit(ask).then((verdict) => ({ ...verdict, byFallback: true }))
    }),
  end: (ending) => (ending.byFallback ? fallback : store).end(ending),
})
