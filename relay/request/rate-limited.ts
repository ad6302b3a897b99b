import type { DomainError } from '#core/errors.ts'

/** A refusal that tells when to come again. */
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
