import type { Request, Response } from 'express'
import { clientNetwork } from '#features/client-address/service.ts'
import { callerMessage } from '#relay/dialects/error-text.ts'
import { openAiChat } from '#relay/dialects/openai-chat/index.ts'
import { authenticate } from '#relay/request/authenticate.ts'
import type { Caller, RelayServices } from '#relay/request/call.ts'
import { receive } from '#relay/request/receive.ts'
import { callerError, failureOf } from '#relay/attempt/failure.ts'
import { reportError } from '#relay/response/report-error.ts'

type Balance = { remaining: number; used: number; unlimited: boolean; expiresAt: Date | null }

/** What unlimited tokens show as their limit. */
const unlimitedDollars = 100_000_000

/** The token's own balance or its owner's, as the operator chose, in dollars or units. */
async function balanceOf(services: RelayServices, { token, user }: Caller): Promise<Balance> {
  const { options, database } = services
  const ofToken = options.get('DisplayTokenStatEnabled') && token !== null
  const { rows } = ofToken
    ? await database.pool.query('select remain_quota as remaining, used_quota as used from tokens where id = $1', [
        token.id,
      ])
    : await database.pool.query('select quota as remaining, used_quota as used from users where id = $1', [user.id])
  const unit = options.get('DisplayInCurrencyEnabled') ? options.get('QuotaPerUnit') : 1
  return {
    remaining: Number(rows[0]?.remaining ?? 0) / unit,
    used: Number(rows[0]?.used ?? 0) / unit,
    unlimited: ofToken && token.unlimitedQuota,
    expiresAt: token?.expiresAt ?? null,
  }
}

const subscriptionOf = ({ remaining, used, unlimited, expiresAt }: Balance) => {
  const limit = unlimited ? unlimitedDollars : remaining + used
  return {
    object: 'billing_subscription',
    has_payment_method: true,
    soft_limit_usd: limit,
    hard_limit_usd: limit,
    system_hard_limit_usd: limit,
    access_until: expiresAt ? Math.floor(expiresAt.getTime() / 1000) : 0,
  }
}

/** Cents. */
const usageOf = ({ used }: Balance) => ({ object: 'list', total_usage: used * 100 })

/**
 * The balance replies that older client programs ask for. A refused key has the status of everywhere; what fails later comes with 200,
 * as those programs expect.
 */
export async function answerBilling(
  services: RelayServices,
  kind: 'subscription' | 'usage',
  { req, res }: { req: Request; res: Response },
): Promise<void> {
  const incoming = receive(services, openAiChat, { req, res })
  const limit = {
    name: 'api',
    key: clientNetwork(services, req),
    points: services.environment.API_RATE_LIMIT,
    seconds: 180,
  }
  if (!(await services.limits.slide(limit)).allowed) {
    res.status(429).end()
    return
  }
  let caller: Caller
  try {
    caller = await authenticate(services, req)
  } catch (error) {
    reportError(services, incoming, error)
    return
  }
  try {
    const balance = await balanceOf(services, caller)
    res.json(kind === 'subscription' ? subscriptionOf(balance) : usageOf(balance))
  } catch (error) {
    const message = callerMessage(callerError(failureOf(error), incoming))
    res.json({ error: { message, type: 'upstream_error' } })
  }
}
