import { usableGroups } from '#core/groups.ts'
import { abilityModel, modelsAt, splitPrefix } from '#core/routing/abilities.ts'
import { candidates, type Route } from '#core/routing/candidates.ts'
import { modelsBehind, resolveModelMapping } from '#core/routing/model-names.ts'
import { bindSession, sharesOf } from '#core/routing/pick-route.ts'
import { channelStatus } from '#core/statuses.ts'
import type { ChannelRow } from '#relay/routing/channel-table.ts'
import type { Call, RelayServices } from '#relay/request/call.ts'
import { type Plan, planOf } from '#relay/routing/select.ts'

export type Choice = {
  channel_id: number
  model: string
  upstream_model: string
  priority: number
  /** Of being asked first. */
  probability: number
  tier: number
  /** Every key of it is in its cooldown, so that it is asked only where nothing else is left. */
  cooling_down: boolean
}

/** Every channel that may answer, in the order of attempts. */
export function choicesOf(services: RelayServices, call: Call): Choice[] {
  if (call.pinnedChannel) return pinnedChoices(services, call, call.pinnedChannel)
  return sharedPlans(services, call)
    .flatMap(({ plan, share }, order) =>
      choicesOfPlan(services, call, { plan, share }).map((choice) => ({ choice, order })),
    )
    .toSorted(
      (left, right) =>
        right.choice.probability - left.choice.probability ||
        left.order - right.order ||
        left.choice.tier - right.choice.tier,
    )
    .map(({ choice }) => choice)
}

type SharedPlan = { plan: Plan; share: number }

/** The models behind the name that have a channel; equal ones of the highest number share the first attempt by weight. */
function sharedPlans(services: RelayServices, { model, group }: Call): SharedPlan[] {
  const { mapping } = services.options.get('global_model_mapping')
  const usable = modelsBehind(mapping, model)
    .map((entry) => ({ ...entry, plan: planOf(services, { name: entry.model, group }) }))
    .filter(({ plan }) => plan.tiers.length > 0)
  return withShares(usable)
}

/** Of the first attempt. */
function withShares<Entry extends { priorities: number; weight: number }>(
  usable: Entry[],
): (Entry & { share: number })[] {
  const first = usable.filter(({ priorities }) => priorities === usable[0]?.priorities)
  const total = first.reduce((sum, { weight }) => sum + weight, 0)
  return usable.map((entry) => ({ ...entry, share: first.includes(entry) ? entry.weight / total : 0 }))
}

/** It has one attempt, for one of the models that come first. */
function pinnedChoices(services: RelayServices, { model: requested }: Call, channel: ChannelRow): Choice[] {
  const { mapping } = services.options.get('global_model_mapping')
  return withShares(modelsAt(channel, modelsBehind(mapping, requested)))
    .filter(({ share }) => share > 0)
    .map(({ model, share }) => ({ ...choiceOf(channel, model), probability: share }))
    .toSorted((left, right) => right.probability - left.probability)
}

function choicesOfPlan(services: RelayServices, call: Call, { plan, share }: SharedPlan): Choice[] {
  const isHealthy = (channelId: number, key: number) => services.circuitBreaker.isHealthy(channelId, key, plan.model)
  const found = candidates(plan.tiers, { attempt: 0, tried: new Map(), forceSwitch: true, isHealthy })
  const probabilities = probabilitiesOf(found?.routes ?? [], { plan, session: call.session.session ?? null })
  return plan.tiers.flatMap((routes, tier) =>
    routes.flatMap((route) => {
      const channel = services.channels.channel(route.channelId)
      if (!channel) return []
      return [
        {
          ...choiceOf(channel, plan.model),
          priority: route.priority,
          probability: share * (probabilities.get(route.channelId) ?? 0),
          tier,
          cooling_down: !route.keys.some((key) => isHealthy(route.channelId, key)),
        },
      ]
    }),
  )
}

/** A session is bound to one of the routes; everybody else goes by weight. */
function probabilitiesOf(
  routes: readonly Route[],
  { plan, session }: { plan: Plan; session: string | null },
): Map<number, number> {
  const weights = { plainWeights: plan.prefixed }
  const bound = session === null ? undefined : bindSession(routes, session, weights)
  if (bound) return new Map([[bound.route.channelId, 1]])
  const shares = sharesOf(routes, weights)
  return new Map(routes.map(({ channelId }, index) => [channelId, shares[index] ?? 0]))
}

const choiceOf = (channel: ChannelRow, model: string): Choice => ({
  channel_id: channel.id,
  model,
  upstream_model: upstreamNameOf(channel, model),
  priority: channel.priority,
  probability: 1,
  tier: 0,
  cooling_down: false,
})

const upstreamNameOf = (channel: ChannelRow, model: string): string => {
  const mapped = resolveModelMapping(channel.modelMapping, model)
  return mapped.ok ? mapped.model : model
}

const groupsOpenTo = (options: RelayServices['options'], userGroup: string): string[] =>
  usableGroups(options, userGroup).map(({ name }) => name)

/** Why each of the other channels that know a model behind the name is not asked. */
export function removedOf(
  services: RelayServices,
  call: Call,
  chosen: ReadonlySet<number>,
): { channel_id: number; rule: string }[] {
  const { mapping } = services.options.get('global_model_mapping')
  const prefixes = services.channels.prefixesOf(call.group)
  const wanted = modelsBehind(mapping, call.model).map(({ model }) => {
    const split = splitPrefix(model, prefixes)
    return { prefix: split?.prefix, model: abilityModel(split?.model ?? model) }
  })
  const open = new Set([call.group, ...groupsOpenTo(services.options, call.caller.user.group)])
  return services.channels.all().flatMap((channel) => {
    // What serves only groups that are closed to the caller does not exist for them.
    if (!channel.groups.some((group) => open.has(group))) return []
    const known = wanted.filter(({ model }) => channel.models.includes(model))
    if (chosen.has(channel.id) || known.length === 0) return []
    const hasPrefix = known.some(({ prefix }) => prefix === undefined || channel.modelPrefix === prefix)
    return [{ channel_id: channel.id, rule: ruleAgainst(channel, { group: call.group, hasPrefix }) }]
  })
}

function ruleAgainst(channel: ChannelRow, { group, hasPrefix }: { group: string; hasPrefix: boolean }): string {
  if (channel.status !== channelStatus.enabled) return 'channel_disabled'
  if (!channel.groups.includes(group)) return 'group'
  return hasPrefix ? 'no_usable_key' : 'model_prefix'
}
