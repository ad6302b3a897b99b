import cluster from 'node:cluster'
import type { Redis } from 'ioredis'
import {
  RateLimiterCluster,
  RateLimiterMemory,
  RateLimiterRedis,
  type RateLimiterAbstract,
  RateLimiterRes,
} from 'rate-limiter-flexible'

export type LimitVerdict = { allowed: true } | { allowed: false; retryAfterSeconds: number }

/** Counters shared by all processes that must agree: Redis, else this machine's primary process, else this process. */
export type Limits = {
  /** Counts one use of `key` in the window named by the other fields. A `points` of 0 means no limit. */
  consume: (limit: { name: string; key: string; points: number; seconds: number }) => Promise<LimitVerdict>
  /** Looks without counting. */
  peek: (limit: { name: string; key: string; points: number; seconds: number }) => Promise<LimitVerdict>
}

export function createLimits(deps: { redis?: Redis | undefined; onError?: (error: unknown) => void }): Limits {
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

  return {
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
