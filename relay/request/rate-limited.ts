import type { Response } from 'express'
import { DomainError } from '#core/errors.ts'

/** A refusal that reports when to come again. */
export class RateLimited extends Error {
  override name = 'RateLimited'
  readonly refusal: DomainError
  readonly retryAfterSeconds: number
  constructor(refusal: DomainError, retryAfterSeconds: number) {
    super(refusal.message)
    this.refusal = refusal
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** Why a reservation was refused that fits again later. */
export class CapReached extends Error {
  override name = 'CapReached'
  readonly retryAfterSeconds: number
  constructor(retryAfterSeconds: number) {
    super('a spend cap is reached')
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** When a refused caller may come again; null where nothing says so. */
export function retryAfterOf(error: unknown): number | null {
  if (error instanceof RateLimited) return error.retryAfterSeconds
  return error instanceof DomainError && error.cause instanceof CapReached ? error.cause.retryAfterSeconds : null
}

/** Official clients wait so long for another attempt of their own. */
const longestOwnWaitSeconds = 60

/** The headers of such a refusal. A client that would try again sooner, and in vain, is asked not to. */
export function setRetryAfter(res: Response, seconds: number): void {
  res.setHeader('retry-after', String(seconds))
  if (seconds > longestOwnWaitSeconds) res.setHeader('x-should-retry', 'false')
}
