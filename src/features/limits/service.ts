import cluster from 'node:cluster'
import type { Redis } from 'ioredis'
import {
  RateLimiterCluster,
  RateLimiterMemory,
  RateLimiterRedis,
  type RateLimiterAbstract,
  RateLimiterRes,
} from 'rate-limiter-flexible'
import type { RequestVerdict } from '#core/limits/request-limit.ts'
import { createClusterStore } from './cluster-store.ts'
import { createRedisStore } from './redis-store.ts'
import { createMemoryStore, type RequestAsk, type RequestEnd, type RequestStore } from './request-store.ts'

export type LimitVerdict = { allowed: true } | { allowed: false; retryAfterSeconds: number }

/** Counters shared by all processes that must agree: Redis, else this machine's primary process, else this process. */
export type Limits = {
  /** Counts one use of `key` in the window named by the other fields. A `points` of 0 means no limit. */
  consume: (limit: { name: string; key: string; points: number; seconds: number }) => Promise<LimitVerdict>
  /** The same over any span of the length, whenever it began; what is refused does not count. */
  slide: (limit: { name: string; key: string; points: number; seconds: number }) => Promise<LimitVerdict>
  /** Looks without counting. */
  peek: (limit: { name: string; key: string; points: number; seconds: number }) => Promise<LimitVerdict>
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
  const ofMachine = cluster.isWorker ? createClusterStore() : createMemoryStore(deps.now)
  const requests = deps.redis ? withInsurance(createRedisStore(deps.redis), ofMachine, deps.onError) : ofMachine
  const limiters = new Map<string, RateLimiterAbstract>()

  const limiterFor = (name: string, points: number, seconds: number): RateLimiterAbstract => {
    const id = `${name}:${points}:${seconds}`
    const known = limiters.get(id)
    if (known) return known
    const shape = { keyPrefix: id, points, duration: seconds }
    const made = deps.redis
      ? new RateLimiterRedis({ ...shape, storeClient: deps.redis, insuranceLimiter: new RateLimiterMemory(shape) })
      : cluster.isWorker
        ? new RateLimiterCluster({ ...shape, timeoutMs: 1000 })
        : new RateLimiterMemory(shape)
    limiters.set(id, made)
    return made
  }

  const verdictOf = (result: RateLimiterRes | null, points: number): LimitVerdict =>
    result === null || result.consumedPoints <= points
      ? { allowed: true }
      : { allowed: false, retryAfterSeconds: Math.max(1, Math.ceil(result.msBeforeNext / 1000)) }

  let slid = 0

  return {
    slide: async ({ name, key, points, seconds }) => {
      if (points <= 0 || seconds <= 0) return { allowed: true }
      slid += 1
      const limit = { shape: 'sliding' as const, windowMs: seconds * 1000, total: points, success: 0 }
      try {
        const verdict = await requests.admit({ name, key, id: `${process.pid}-${Date.now()}-${slid}`, limit })
        if (verdict.refusedBy === null) return { allowed: true }
        return { allowed: false, retryAfterSeconds: Math.max(1, Math.ceil(verdict.retryAfterMs / 1000)) }
      } catch (error) {
        deps.onError?.(error)
        return { allowed: true }
      }
    },
    admit: requests.admit,
    ended: (ending) => requests.end(ending).catch((error: unknown) => deps.onError?.(error)),
    consume: async ({ name, key, points, seconds }) => {
      if (points <= 0 || seconds <= 0) return { allowed: true }
      try {
        return verdictOf(await limiterFor(name, points, seconds).consume(key), points)
      } catch (refusal) {
        if (refusal instanceof RateLimiterRes) return verdictOf(refusal, points)
        // The counter itself failed. Limits protect, they do not bill: letting the call through is the smaller harm.
        deps.onError?.(refusal)
        return { allowed: true }
      }
    },
    peek: async ({ name, key, points, seconds }) => {
      if (points <= 0 || seconds <= 0) return { allowed: true }
      try {
        const result = await limiterFor(name, points, seconds).get(key)
        if (result === null || result.consumedPoints < points) return { allowed: true }
        return { allowed: false, retryAfterSeconds: Math.max(1, Math.ceil(result.msBeforeNext / 1000)) }
      } catch (error) {
        deps.onError?.(error)
        return { allowed: true }
      }
    },
  }
}

/** While Redis does not answer each machine counts for itself. */
const withInsurance = (
  store: RequestStore,
  insurance: RequestStore,
  onError: ((error: unknown) => void) | undefined,
): RequestStore => ({
  admit: (ask) =>
    store.admit(ask).catch((error: unknown) => {
      onError?.(error)
      return insurance.admit(ask)
    }),
  end: (ending) =>
    store.end(ending).catch((error: unknown) => {
      onError?.(error)
      return insurance.end(ending)
    }),
})
