import { RateLimited } from './rate-limited.ts'
import { DomainError } from '#core/errors.ts'
import type { RequestLimit, RequestVerdict, Standing } from '#core/limits/request-limit.ts'
import { isModelRateSuccess, isTokenRateSuccess, modelRateRule, tokenRateRule } from '#core/limits/rules.ts'
import type { Caller, Incoming, RelayServices } from './call.ts'

/** What is left to count once it is known how the answer went; `status` is what the caller was sent. */
export type LimitedCall = { ended: (status: number) => Promise<void> }

/**
 * The token's own limit, then the model-request limit of its owner. A request that one of them refuses is
 * shown to no later check.
 * @throws {RateLimited}
 */
export const limit = (services: RelayServices, caller: Caller, incoming: Incoming): Promise<LimitedCall> =>
  limitBy([limitToken, limitUser], services, { caller, incoming, passed: [] })

/** The token's limit alone, for tasks: they are exempt from the limit of their owner. */
export const limitTask = (services: RelayServices, caller: Caller, incoming: Incoming): Promise<LimitedCall> =>
  limitBy([limitToken], services, { caller, incoming, passed: [] })

/** For calls that no limit counts. */
export const noLimit = async (): Promise<LimitedCall> => ({ ended: async () => {} })

type Check = (services: RelayServices, limiting: Limiting) => Promise<void>

async function limitBy(checks: Check[], services: RelayServices, limiting: Limiting): Promise<LimitedCall> {
  const { incoming, passed } = limiting
  const ended = async (status: number): Promise<void> => {
    await Promise.all(passed.map(({ end }) => end(status)))
  }
  try {
    for (const check of checks) await check(services, limiting)
  } catch (error) {
    await ended(429)
    throw error
  }
  setLimitHeaders(
    incoming,
    passed.flatMap(({ verdict }) => standingsOf(verdict)),
  )
  return { ended }
}

type Passed = { verdict: RequestVerdict; end: (status: number) => Promise<void> }
type Limiting = { caller: Caller; incoming: Incoming; passed: Passed[] }

const standingsOf = ({ total, success }: RequestVerdict): Standing[] =>
  [total, success].filter((standing) => standing !== null)

async function limitToken(services: RelayServices, limiting: Limiting): Promise<void> {
  const input = tokenInput(limiting.caller)
  if (input) await admit(services, limiting, input)
}

async function limitUser(services: RelayServices, limiting: Limiting): Promise<void> {
  const input = userInput(services, limiting.caller)
  if (input) await admit(services, limiting, input)
}

function tokenInput({ token }: Caller): Admission | undefined {
  const rule = token?.rateLimit && tokenRateRule(token.rateLimit)
  if (!token || !rule) return undefined
  return {
    name: 'token',
    key: String(token.id),
    rule,
    isSuccess: isTokenRateSuccess,
    refusal: () => new DomainError('relay.token_rate_limited'),
  }
}

function userInput({ options }: RelayServices, { user, token, group }: Caller): Admission | undefined {
  // The playground is the console's own.
  if (!token) return undefined
  const settings = {
    ModelRequestRateLimitEnabled: options.get('ModelRequestRateLimitEnabled'),
    ModelRequestRateLimitDurationMinutes: options.get('ModelRequestRateLimitDurationMinutes'),
    ModelRequestRateLimitCount: options.get('ModelRequestRateLimitCount'),
    ModelRequestRateLimitSuccessCount: options.get('ModelRequestRateLimitSuccessCount'),
    ModelRequestRateLimitGroup: options.get('ModelRequestRateLimitGroup'),
    'global.rate_limit_exempt_enabled': options.get('global.rate_limit_exempt_enabled'),
    'global.rate_limit_exempt_group': options.get('global.rate_limit_exempt_group'),
  }
  const rule = modelRateRule(settings, group || user.group)
  if (!rule) return undefined
  const { minutes, total, success } = rule
  return {
    name: 'model',
    key: String(user.id),
    rule,
    isSuccess: isModelRateSuccess,
    refusal: (by) =>
      by === 'total'
        ? new DomainError('relay.rate_limited_total', { minutes, count: total })
        : new DomainError('relay.rate_limited_success', { minutes, count: success }),
  }
}

/** How the limits of a caller stand now, without counting a request; null where there is none. */
export async function limitsLeft(
  services: RelayServices,
  caller: Caller,
): Promise<{ token: RequestVerdict | null; user: RequestVerdict | null }> {
  return {
    token: await lookAt(services, tokenInput(caller)),
    user: await lookAt(services, userInput(services, caller)),
  }
}

async function lookAt(services: RelayServices, input: Admission | undefined): Promise<RequestVerdict | null> {
  if (!input || (input.rule.total <= 0 && input.rule.success <= 0)) return null
  const { shape, windowMs, total, success } = input.rule
  const limit = { shape, windowMs, total, success }
  return services.limits.admit({ name: input.name, key: input.key, id: '', limit, look: true })
}

type Admission = {
  name: string
  key: string
  rule: RequestLimit
  isSuccess: (status: number) => boolean
  refusal: (by: 'total' | 'success') => DomainError
}

async function admit(services: RelayServices, { incoming, passed }: Limiting, input: Admission): Promise<void> {
  const { name, key, rule, isSuccess, refusal } = input
  if (rule.total <= 0 && rule.success <= 0) return
  const { shape, windowMs, total, success } = rule
  const ask = { name, key, id: incoming.id, limit: { shape, windowMs, total, success } }
  const verdict = await services.limits.admit(ask).catch((cause: unknown) => {
    throw new DomainError('relay.rate_limit_check_failed', {}, { cause })
  })
  if (verdict.refusedBy !== null) {
    setLimitHeaders(incoming, standingsOf(verdict))
    throw new RateLimited(refusal(verdict.refusedBy), Math.max(1, Math.ceil(verdict.retryAfterMs / 1000)))
  }
  // Without a number of successes nothing is left to be counted.
  const end = async (status: number): Promise<void> => {
    if (success <= 0) return
    const { at: admittedAt, byFallback } = verdict
    await services.limits.ended({ ...ask, admittedAt, byFallback, succeeded: isSuccess(status) })
  }
  passed.push({ verdict, end })
}

/** The names a web page may read beside those that are always open to it. */
export const limitHeaders = ['limit', 'remaining', 'reset'].flatMap((what) => [
  `x-ratelimit-${what}-requests`,
  `anthropic-ratelimit-requests-${what}`,
])

/** Reports how much of the tightest limit is left, in the headers that the caller's vendor uses. */
function setLimitHeaders({ res, dialect, receivedAt }: Incoming, standings: readonly Standing[]): void {
  const [tightest] = standings.toSorted((left, right) => left.remaining - right.remaining)
  if (!tightest || res.headersSent) return
  for (const [name, value] of Object.entries(dialect.rateLimitHeaders(tightest, receivedAt))) res.setHeader(name, value)
}
