import type { Request, Response } from 'express'
import { abilityModel, splitPrefix } from '#core/routing/abilities.ts'
import { candidates, type Route } from '#core/routing/candidates.ts'
import { resolveModelMapping } from '#core/routing/model-names.ts'
import { sharesOf } from '#core/routing/pick-route.ts'
import { channelStatus } from '#core/statuses.ts'
import { openAiChat } from '#relay/dialects/openai-chat/index.ts'
import { authenticate } from '#relay/gateway/authenticate.ts'
import type { ChannelRow } from '#relay/gateway/cache/channel-table.ts'
import type { Call, RelayServices } from '#relay/gateway/call.ts'
import { admitChat, estimateChat } from '#relay/gateway/handle.ts'
import { priceCall } from '#relay/gateway/price-call.ts'
import { receive } from '#relay/gateway/receive.ts'
import { reportError } from '#relay/gateway/report-error.ts'
import { plansOf } from '#relay/gateway/select.ts'

/** What a chat call would meet, without sending anything: who would answer with which chance, and at what price. */
export async function explain(services: RelayServices, { req, res }: { req: Request; res: Response }): Promise<void> {
  const incoming = receive(services, openAiChat, { req, res })
  try {
    const caller = await authenticate(services, req)
    const route = { dialect: openAiChat, path: {}, asJsonArray: false, identify: authenticate }
    const call = await admitChat(services, { incoming, route, caller })
    const chosen = call.pinnedChannel ? [pinnedChoice(call.pinnedChannel, call.model)] : choicesOf(services, call)
    const priced = chosen.map((choice) => ({ ...choice, ...priceOf(services, call, choice) }))
    const estimates = priced.flatMap(({ estimate }) => (estimate === null ? [] : [estimate]))
    res.json({
      object: 'explanation',
      model: call.model,
      group: call.group,
      candidates: priced,
      removed: call.pinnedChannel ? [] : removedOf(services, call, new Set(chosen.map(({ channel_id }) => channel_id))),
      price_range: estimates.length === 0 ? null : { least: Math.min(...estimates), most: Math.max(...estimates) },
      ...(await balanceOf(services, call, estimates)),
    })
  } catch (error) {
    reportError(services, incoming, error)
  }
}

type Choice = {
  channel_id: number
  model: string
  upstream_model: string
  priority: number
  chance: number
  tier: number
}

const upstreamNameOf = (channel: ChannelRow, model: string): string => {
  const mapped = resolveModelMapping(channel.modelMapping, model)
  return mapped.ok ? mapped.model : model
}

const pinnedChoice = (channel: ChannelRow, model: string): Choice => ({
  channel_id: channel.id,
  model,
  upstream_model: upstreamNameOf(channel, model),
  priority: channel.priority,
  chance: 1,
  tier: 0,
})

/** Every channel that may answer, in the order of attempts; `chance` is that of being asked first. */
function choicesOf(services: RelayServices, call: Call): Choice[] {
  const [plan] = plansOf(services, call)
  if (!plan) return []
  const isHealthy = (channelId: number, key: number) => services.health.isHealthy(channelId, key, plan.model)
  const first = candidates(plan.tiers, { attempt: 0, tried: new Map(), forceSwitch: true, isHealthy })
  const shares = new Map<number, number>()
  const firsts: readonly Route[] = first?.routes ?? []
  for (const [index, share] of sharesOf(firsts, { plainWeights: plan.prefixed }).entries()) {
    shares.set(firsts[index]?.channelId ?? 0, share)
  }
  return plan.tiers
    .flatMap((routes, tier) => routes.map((route) => ({ route, tier })))
    .flatMap(({ route, tier }) => {
      const channel = services.channels.channel(route.channelId)
      if (!channel) return []
      const choice = pinnedChoice(channel, plan.model)
      return [{ ...choice, priority: route.priority, chance: shares.get(route.channelId) ?? 0, tier }]
    })
    .toSorted((left, right) => right.chance - left.chance || left.tier - right.tier)
}

/** Why each of the other channels that know the model is not asked. */
function removedOf(
  services: RelayServices,
  call: Call,
  chosen: ReadonlySet<number>,
): { channel_id: number; rule: string }[] {
  const prefixes = services.channels.prefixesOf(call.group)
  const split = splitPrefix(call.model, prefixes)
  const model = abilityModel(split?.model ?? call.model)
  return services.channels.all().flatMap((channel) => {
    if (chosen.has(channel.id) || !channel.models.includes(model)) return []
    const rule =
      channel.status !== channelStatus.enabled
        ? 'channel_disabled'
        : !channel.groups.includes(call.group)
          ? 'group'
          : split && channel.modelPrefix !== split.prefix
            ? 'model_prefix'
            : channel.keys.every((key) => !key.enabled)
              ? 'no_usable_key'
              : 'virtual_model'
    return [{ channel_id: channel.id, rule }]
  })
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

/** Limits left and whether the balances would admit the call now. */
async function balanceOf(services: RelayServices, call: Call, estimates: number[]) {
  const { token, user } = call.caller
  const { rows } = await services.database.pool.query<{ quota: string; remain: string | null }>(
    'select u.quota, t.remain_quota as remain from users u left join tokens t on t.id = $2 where u.id = $1',
    [user.id, token?.id ?? 0],
  )
  const quota = Number(rows[0]?.quota ?? 0)
  const remain = token && !token.unlimitedQuota ? Number(rows[0]?.remain ?? 0) : null
  const needed = estimates.length === 0 ? null : Math.min(...estimates)
  const admits = needed === null ? null : needed === 0 || (quota >= needed && (remain === null || remain >= needed))
  return { balance: { user_quota: quota, token_quota: remain, admits }, limits: { token: token?.rateLimit ?? null } }
}
