import type { Request, Response } from 'express'
import type { RequestVerdict, Standing } from '#core/limits/request-limit.ts'
import { capsOfCall } from '#features/spend-caps/service.ts'
import type { CapView } from '#features/spend-caps/view.ts'
import { openAiChat } from '#relay/dialects/openai-chat/index.ts'
import { authenticate } from '#relay/request/authenticate.ts'
import type { Call, RelayServices } from '#relay/request/call.ts'
import { admitChat } from '#relay/request/admit.ts'
import { holdFactsOf } from '#relay/billing/hold-facts.ts'
import { type HoldFacts, leastHold, noneBeside, planHold } from '#relay/billing/hold-plan.ts'
import { coveredNames } from '#relay/billing/reserve.ts'
import { limitsLeft } from '#relay/request/limit.ts'
import { priceAttempt } from '#relay/billing/price-call.ts'
import { receive } from '#relay/request/receive.ts'
import { reportError } from '#relay/response/report-error.ts'
import { type Choice, choicesOf, removedOf } from './explain-routes.ts'

/** What a chat call would meet, without sending anything: who would answer with which probability, and at what price. */
export async function explain(services: RelayServices, { req, res }: { req: Request; res: Response }): Promise<void> {
  const incoming = receive(services, openAiChat, { req, res })
  try {
    const caller = await authenticate(services, req)
    const route = { dialect: openAiChat, path: {}, asJsonArray: false, identify: authenticate }
    const call = await admitChat(services, { incoming, route, caller })
    const chosen = choicesOf(services, call)
    const balance = await readBalance(services, call)
    const priced = chosen.map((choice) => ({ ...choice, ...priceOf(services, call, { choice, balance }) }))
    const estimates = priced.flatMap(({ estimate }) => (estimate === null ? [] : [estimate]))
    res.json({
      object: 'explanation',
      model: call.model,
      group: call.group,
      candidates: priced,
      removed: call.pinnedChannel ? [] : removedOf(services, call, new Set(chosen.map(({ channel_id }) => channel_id))),
      price_range: estimates.length === 0 ? null : { least: Math.min(...estimates), most: Math.max(...estimates) },
      balance: { user_quota: balance.user, token_quota: balance.token, admits: admits(priced, balance) },
      spend_caps: balance.caps.map(shownCap),
      limits: shownLimits(await limitsLeft(services, caller)),
    })
  } catch (error) {
    reportError(services, incoming, error)
  }
}

type Priced = { estimate: number | null; price: unknown; reservation: Reservation | null }

/** What would be set aside. `estimate` is its amount. */
type Reservation = {
  amount: number
  answer_tokens: number
  /** The hold follows the answer, instead of covering it from the beginning. */
  grows: boolean
  /** The output limit that would be sent instead of the caller's. */
  max_tokens_lowered: number | null
  /** With less the call is refused. */
  least: number
}

type Balance = { user: number; token: number | null; caps: CapView[] }

const availableOf = ({ user, token, caps }: Balance): number =>
  Math.min(user, token ?? user, ...caps.map(({ left }) => left))

function priceOf(
  services: RelayServices,
  call: Call,
  { choice, balance }: { choice: Choice; balance: Balance },
): Priced {
  const nothing = { estimate: null, price: null, reservation: null }
  const channel = services.channels.channel(choice.channel_id)
  if (!channel) return nothing
  try {
    const key = { position: 0, value: '' }
    const attempt = { channel, key, model: choice.model, upstreamModel: choice.upstream_model, mapped: false }
    const terms = priceAttempt(services, call, attempt)
    const reservation = reservationOf(services, call, {
      facts: holdFactsOf(services, call, { terms, attempt }),
      available: availableOf(balance),
    })
    return { estimate: reservation.amount, price: terms.price, reservation }
  } catch {
    return nothing
  }
}

function reservationOf(
  { holds }: RelayServices,
  call: Call,
  { facts, available }: { facts: HoldFacts; available: number },
): Reservation {
  const { id } = call.caller.user
  const beside = { calls: 1 + (holds.open.get(id) ?? 0), reading: holds.reading.get(id) ?? 0 }
  const least = leastHold(facts, beside)
  // A call that cannot be paid is answered with what it would have needed.
  const plan = planHold(facts, available, beside) ?? planHold(facts, Infinity, noneBeside)
  return {
    amount: plan?.amount ?? least,
    answer_tokens: plan?.answerTokens ?? 0,
    grows: facts.grows,
    max_tokens_lowered: plan?.lowered ?? null,
    least,
  }
}

async function readBalance(services: RelayServices, call: Call): Promise<Balance> {
  const { token, user } = call.caller
  const subject = { userId: user.id, tokenId: token?.id ?? 0, model: coveredNames(services, call) }
  const caps = await capsOfCall(services.database.orm.em.fork(), subject)
  const { rows } = await services.database.pool.query<{ quota: string; remain: string | null }>(
    'select u.quota, t.remain_quota as remain from users u left join tokens t on t.id = $2 where u.id = $1',
    [user.id, token?.id ?? 0],
  )
  return {
    user: Number(rows[0]?.quota ?? 0),
    token: token && !token.unlimitedQuota ? Number(rows[0]?.remain ?? 0) : null,
    caps,
  }
}

/** One spend cap of the token or of its owner, with what is left of it now. */
const shownCap = ({ scope, period, seconds, zone, models, limit, spent, left, turnsAt }: CapView) => ({
  scope,
  period,
  ...(period === 'rolling' ? { seconds } : { zone }),
  models,
  limit,
  spent,
  remaining: left,
  turns_at: turnsAt && turnsAt.getTime() / 1000,
})

/** Whether balances and spend caps would admit the call now. The first attempt decides: its price is what has to be set aside. */
function admits(priced: (Choice & Priced)[], balance: Balance): boolean | null {
  const firsts = priced.flatMap(({ probability, reservation }) =>
    probability > 0 && reservation ? [reservation.least] : [],
  )
  if (firsts.length === 0) return null
  const needed = Math.max(...firsts)
  return needed === 0 || availableOf(balance) >= needed
}

/** What is left of the token's own limit and of its owner's; a request for an explanation counts for neither. */
const shownLimits = ({ token, user }: Awaited<ReturnType<typeof limitsLeft>>) => ({
  token: token && shownLimit(token),
  user: user && shownLimit(user),
})

const shownLimit = (verdict: RequestVerdict) => ({
  requests: shownStanding(verdict.total),
  successes: shownStanding(verdict.success),
  admits: verdict.refusedBy === null,
  retry_after: Math.ceil(verdict.retryAfterMs / 1000),
})

const shownStanding = (standing: Standing | null) =>
  standing && {
    limit: standing.limit,
    remaining: standing.remaining,
    reset_seconds: Math.ceil(Math.max(0, standing.resetMs) / 1000),
  }
