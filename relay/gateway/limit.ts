import { DomainError } from '#core/errors.ts'
import type { LimitVerdict } from '#features/limits/service.ts'
import type { Caller, RelayServices } from './call.ts'

/** Rows 11 and 12: the token's own limit, then the model-request limit of its owner. */
export async function limit(services: RelayServices, caller: Caller): Promise<LimitedCall> {
  const counted: SuccessLimit[] = []
  await limitToken(services, caller, counted)
  await limitUser(services, caller, counted)
  return {
    succeeded: async () => {
      for (const success of counted) await services.limits.consume(success)
    },
  }
}

type SuccessLimit = { name: string; key: string; points: number; seconds: number }

/** What is left to count once the answer is known to be a success. */
export type LimitedCall = { succeeded: () => Promise<void> }

async function limitToken(services: RelayServices, { token }: Caller, counted: SuccessLimit[]): Promise<void> {
  if (!token?.rateLimit) return
  const { periodSeconds: seconds, count, success } = token.rateLimit
  const key = String(token.id)
  const wantsSuccess = { name: 'token-success', key, points: success, seconds }
  refuseToken(await services.limits.peek(wantsSuccess))
  refuseToken(await services.limits.consume({ name: 'token', key, points: count, seconds }))
  counted.push(wantsSuccess)
}

function refuseToken(verdict: LimitVerdict): void {
  if (verdict.allowed) return
  throw new RateLimited(new DomainError('relay.token_rate_limited'), verdict.retryAfterSeconds)
}

async function limitUser(services: RelayServices, { user, group }: Caller, counted: SuccessLimit[]): Promise<void> {
  const { options } = services
  if (!options.get('ModelRequestRateLimitEnabled')) return
  const exempt = options.get('global.rate_limit_exempt_enabled')
  if (exempt && (group || user.group) === options.get('global.rate_limit_exempt_group')) return
  const minutes = options.get('ModelRequestRateLimitDurationMinutes')
  const seconds = minutes * 60
  const key = String(user.id)
  const total = Math.max(0, options.get('ModelRequestRateLimitCount'))
  const success = options.get('ModelRequestRateLimitSuccessCount')
  const wantsSuccess = { name: 'model-success', key, points: success, seconds }
  const all = await services.limits.consume({ name: 'model', key, points: total, seconds })
  if (!all.allowed) {
    throw new RateLimited(new DomainError('relay.rate_limited_total', { minutes, count: total }), all.retryAfterSeconds)
  }
  const succeeded = await services.limits.peek(wantsSuccess)
  if (!succeeded.allowed) {
    const refusal = new DomainError('relay.rate_limited_success', { minutes, count: success })
    throw new RateLimited(refusal, succeeded.retryAfterSeconds)
  }
  counted.push(wantsSuccess)
}

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
