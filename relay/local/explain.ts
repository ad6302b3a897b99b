import type { Request, Response } from 'express'
import type { RequestVerdict, Standing } from '#core/limits/request-limit.ts'
import { openAiChat } from '#relay/dialects/openai-chat/index.ts'
import { authenticate } from '#relay/gateway/authenticate.ts'
import type { Call, RelayServices } from '#relay/gateway/call.ts'
import { admitChat, estimateChat } from '#relay/gateway/handle.ts'
import { limitsLeft } from '#relay/gateway/limit.ts'
import { priceCall } from '#relay/gateway/price-call.ts'
import { receive } from '#relay/gateway/receive.ts'
import { reportError } from '#relay/gateway/report-error.ts'
import { type Choice, choicesOf, removedOf } from './explain-routes.ts'

/** What a chat call would meet, without sending anything: who would answer with which chance, and at what price. */
export async function explain(services: RelayServices, { req, res }: { req: Request; res: Response }): Promise<void> {
  const incoming = receive(services, openAiChat, { req, res })
  try {
    const caller = await authenticate(services, req)
    const route = { dialect: openAiChat, path: {}, asJsonArray: false, identify: authenticate }
    const call = await admitChat(services, { incoming, route, caller })
    const chosen = choicesOf(services, call)
    const priced = chosen.map((choice) => ({ ...choice, ...priceOf(services, call, choice) }))
    const estimates = priced.flatMap(({ estimate }) => (estimate === null ? [] : [estimate]))
    res.json({
      object: 'explanation',
      model: call.model,
      group: call.group,
      candidates: priced,
      removed: call.pinnedChannel ? [] : removedOf(services, call, new Set(chosen.map(({ channel_id }) => channel_id))),
      price_range: estimates.length === 0 ? null : { least: Math.min(...estimates), most: Math.max(...estimates) },
      balance: await balanceOf(services, call, priced),
      limits: shownLimits(await limitsLeft(services, caller)),
    })
  } catch (error) {
    reportError(services, incoming, error)
  }
}

function priceOf(services: RelayServices, call: Call, choice: Choice): { estimate: number | null; price: unknown } {
  const channel = services.channels.channel(choice.channel_id)
  if (!channel) return { estimate: null, price: null }
  const model = services.options.get('redirect_billing_enabled') ? call.model : choice.upstream_model
  try {
    const terms = priceCall(services, { model, group: call.group, user: call.caller.user })
    const key = { position: 0, value: '' }
    const attempt = { channel, key, model: choice.model, upstreamModel: choice.upstream_model, mapped: false }
    return { estimate: estimateChat(services, call, { terms, attempt }), price: terms.price }
  } catch {
    return { estimate: null, price: null }
  }
}

/** Whether the balances would admit the call now. */
async function balanceOf(services: RelayServices, call: Call, priced: (Choice & { estimate: number | null })[]) {
  const { token, user } = call.caller
  const { rows } = await services.database.pool.query<{ quota: string; remain: string | null }>(
    'select u.quota, t.remain_quota as remain from users u left join tokens t on t.id = $2 where u.id = $1',
    [user.id, token?.id ?? 0],
  )
  const quota = Number(rows[0]?.quota ?? 0)
  const remain = token && !token.unlimitedQuota ? Number(rows[0]?.remain ?? 0) : null
  // The first try decides: its price is what has to be set aside.
  const firsts = priced.flatMap(({ chance, estimate }) => (chance > 0 && estimate !== null ? [estimate] : []))
  const needed = firsts.length === 0 ? null : Math.max(...firsts)
  const admits = needed === null ? null : needed === 0 || (quota >= needed && (remain === null || remain >= needed))
  return { user_quota: quota, token_quota: remain, admits }
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
