import { DomainError } from '#core/errors.ts'
import { autoGroup } from '#core/auto-group.ts'
import { autoGroups } from '#core/groups.ts'
import { abilityModel, isPrefixed, modelsAt, splitPrefix } from '#core/routing/abilities.ts'
import { candidates, type Candidates, type Tiers, type Tried } from '#core/routing/candidates.ts'
import { actualModels, resolveModelMapping } from '#core/routing/model-names.ts'
import { bindSession, pickKey, pickRoute } from '#core/routing/pick-route.ts'
import { channelStatus } from '#core/statuses.ts'
import type { ChannelRow } from './channel-table.ts'
import { limitedModel } from './circuit-breaker.ts'
import type { Attempt, CallCore, RelayServices } from '#relay/request/call.ts'
import type { StoredAt } from './stored-at.ts'

/** Where the attempts of one call may go; remembers where they have been. */
export type Selection = {
  /** @throws {DomainError} relay.no_channel for the first attempt, relay.no_retry_channel for a later one. */
  next: () => Attempt
  /** Where a further attempt would go; null when it has nowhere to go. */
  nextPlace: () => NextPlace | null
}

type NextPlace = {
  state: Candidates['state']
  /** How many of the latest attempts asked for its model. */
  asked: number
  /** One of the places is not in a cooldown. */
  healthy: boolean
  /** The shortest of the cooldowns that the places asked for; 0 where one did not. */
  askedCooldownMs: number
}

/** One actual model name with the channels that serve it. */
export type Plan = { model: string; prefixed: boolean; tiers: Tiers }

export function createSelection(services: RelayServices, call: CallCore): Selection {
  if (call.pinnedChannel) return pinnedSelection(services, call, call.pinnedChannel)
  return call.storedAt ? boundSelection(services, call, call.storedAt) : routedSelection(services, call)
}

/** Takes note of where the call has been without it, so that it goes there last. */
type RoutedSelection = Selection & { note: (attempt: Attempt) => void }

type Visited = Map<number, Set<number>>
const nowhere: Tried = new Map()

function visit(visited: Visited, { channel, key }: Attempt): Visited {
  return visited.set(channel.id, (visited.get(channel.id) ?? new Set<number>()).add(key.position))
}

function routedSelection(services: RelayServices, call: CallCore): RoutedSelection {
  const session = call.session.session ?? null
  const plans = plansOf(services, call)
  const forceSwitch = services.options.get('global.auto_retry_force_channel_switch')
  const visited: Visited = new Map()
  // What a place says of one model is no answer about another.
  const triedFor = new Map<string, Visited>()
  let attempt = 0
  let planIndex = 0
  let attemptsOfPlan = 0

  /** The candidates of the present model, or of the next one once its channels are used up. */
  const look = (): { plan: Plan; found: Candidates } | null => {
    for (let index = planIndex; index < plans.length; index += 1) {
      const plan = plans[index] as Plan
      const model = limitedModel(call, plan.model)
      const last = index === plans.length - 1
      const input = {
        attempt: index === planIndex ? attemptsOfPlan : 0,
        tried: forceSwitch ? visited : (triedFor.get(plan.model) ?? nowhere),
        visited,
        forceSwitch: forceSwitch || !last,
        isHealthy: services.circuitBreaker.allHealthy()
          ? undefined
          : (channelId: number, key: number) => services.circuitBreaker.isHealthy(channelId, key, model),
      }
      const found = candidates(plan.tiers, input)
      if (found) return { plan, found }
    }
    return null
  }

  const note = (noted: Attempt): void => {
    attempt += 1
    visit(visited, noted)
    triedFor.set(noted.model, visit(triedFor.get(noted.model) ?? new Map(), noted))
  }

  return {
    note,
    nextPlace: () => {
      const place = look()
      if (!place) return null
      // Before the second model that is all of them, one at the place of a stored answer included.
      const asked = planIndex > 0 && place.plan === plans[planIndex] ? attemptsOfPlan : attempt
      return peekAt(services, call, { ...place, asked })
    },
    next: () => {
      const place = look()
      if (!place) throw refusal(services, call, attempt)
      const index = plans.indexOf(place.plan)
      attemptsOfPlan = index === planIndex ? attemptsOfPlan + 1 : 1
      planIndex = index
      const chosen = named(call, choose(services, place, session), place.plan.model)
      note(chosen)
      return chosen
    },
  }
}

function peekAt(
  { circuitBreaker }: RelayServices,
  call: CallCore,
  { plan, found, asked }: { plan: Plan; found: Candidates; asked: number },
): NextPlace {
  const model = limitedModel(call, plan.model)
  const keys = found.routes.flatMap(({ channelId, keys: own }) => own.map((key) => ({ channelId, key, model })))
  return {
    state: found.state,
    asked,
    healthy: keys.some(({ channelId, key }) => circuitBreaker.isHealthy(channelId, key, model)),
    askedCooldownMs: Math.min(...keys.map(circuitBreaker.askedCooldownMs)),
  }
}

function refusal(services: RelayServices, call: CallCore, attempt: number): DomainError {
  if (attempt > 0) return new DomainError('relay.no_retry_channel')
  services.log.debug({ model: call.model, group: call.group }, 'no channel')
  // Without a token it is the playground that asks.
  const code =
    call.caller.token === null
      ? 'playground.no_channel'
      : isListed(services, call)
        ? 'relay.no_channel'
        : call.dialect.refusals.modelUnlisted
  return new DomainError(code, { group: call.group, model: call.model })
}

/** Whether some channel of the group, on or off, has the model. */
function isListed(services: RelayServices, { model: requested, group, caller }: CallCore): boolean {
  const { mapping } = services.options.get('global_model_mapping')
  const names = actualModels(mapping, requested, services.ambient.random).map(abilityModel)
  const groups = group === autoGroup ? autoGroups(services.options, caller.user.group) : [group]
  return groups.some((own) => names.some((name) => services.channels.isListed(own, name)))
}

/** Virtual names give several models in their order, each with the channels of the group; those without any drop out. */
export function plansOf(
  services: RelayServices,
  { model: requested, group }: Pick<CallCore, 'model' | 'group'>,
): Plan[] {
  const { mapping } = services.options.get('global_model_mapping')
  return actualModels(mapping, requested, services.ambient.random)
    .map((name) => planOf(services, { name, group }))
    .filter((plan) => plan.tiers.length > 0)
}

/** The channels of a group that serve one actual model. */
export function planOf(services: RelayServices, { name, group }: { name: string; group: string }): Plan {
  const split = splitPrefix(name, services.channels.prefixesOf(group))
  const model = split?.model ?? name
  return {
    model,
    prefixed: split !== undefined,
    tiers: services.channels.tiers(group, abilityModel(model), split?.prefix),
  }
}

type Choice = { channel: ChannelRow; key: { position: number; value: string } }

function choose(services: RelayServices, place: { plan: Plan; found: Candidates }, session: string | null): Choice {
  const { routes } = place.found
  const weights = { plainWeights: place.plan.prefixed }
  const bound = session === null ? undefined : bindSession(routes, session, weights)
  const route = bound?.route ?? pickRoute(routes, services.ambient.random(), weights)
  const channel = route && services.channels.channel(route.channelId)
  if (!route || !channel) throw new DomainError('relay.channel_missing')
  const position = bound?.key ?? pickKey(route.keys, nextTurn(services, channel.id))
  const key = channel.keys.find((candidate) => candidate.position === position)
  if (!key) throw new DomainError('relay.channel_missing')
  return { channel, key }
}

/** Several keys of one channel take turns. */
function nextTurn({ keyCursor }: RelayServices, channelId: number): number {
  const turn = keyCursor.get(channelId) ?? 0
  keyCursor.set(channelId, turn + 1)
  return turn
}

function named(call: CallCore, { channel, key }: Choice, model: string): Attempt {
  const mapped = resolveModelMapping(channel.modelMapping, model)
  if (!mapped.ok) throw new DomainError(call.dialect.refusals[mappingRefusals[mapped.problem]])
  const isMapped = mapped.isMapped || (model !== call.model && !isPrefixed(call.model, channel.modelPrefix, model))
  return { channel, key, model, upstreamModel: mapped.model, mapped: isMapped }
}

const mappingRefusals = {
  model_mapping_contains_cycle: 'mappingCycle',
  unmarshal_model_mapping_failed: 'mappingUnreadable',
} as const

/** The caller's key names the channel: that one, once, whatever models it lists. */
function pinnedSelection(services: RelayServices, call: CallCore, channel: ChannelRow): Selection {
  let used = false
  return {
    nextPlace: () => null,
    next: () => {
      const usable = channel.keys.filter((key) => key.enabled)
      const key = usable[nextTurn(services, channel.id) % Math.max(1, usable.length)]
      if (used || !key || channel.status !== channelStatus.enabled)
        throw new DomainError('relay.pinned_channel_disabled')
      used = true
      return pinnedAttempt(services, call, { channel, key })
    },
  }
}

function pinnedAttempt(services: RelayServices, call: CallCore, place: Choice): Attempt {
  const { mapping } = services.options.get('global_model_mapping')
  const behind = actualModels(mapping, call.model, services.ambient.random).map((model) => ({ model }))
  const [first] = modelsAt(place.channel, behind)
  return named(call, place, first?.model ?? call.model)
}

/** At the channel and key that keep what a call names, while they serve its model to its group. */
function boundAttempts(services: RelayServices, call: CallCore, { channelId, keyHmac }: StoredAt): Attempt[] {
  const channel = services.channels.channel(channelId)
  const key = channel?.keys.find(({ enabled, value }) => enabled && services.secrets.hmac(value) === keyHmac)
  return channel && key ? attemptsAt(services, call, { channel, key }) : []
}

/** At one place, for each model behind the call's name that the place serves to its group. */
function attemptsAt(services: RelayServices, call: CallCore, place: Choice): Attempt[] {
  if (call.pinnedChannel) return [pinnedAttempt(services, call, place)]
  const serves = ({ tiers }: Plan) => tiers.some((tier) => tier.some((route) => route.channelId === place.channel.id))
  return plansOf(services, call)
    .filter(serves)
    .map(({ model }) => named(call, place, model))
}

/** An attempt at one place, while that serves the call's model to its group. */
export const attemptAt = (services: RelayServices, call: CallCore, place: Choice): Attempt | undefined =>
  attemptsAt(services, call, place)[0]

/**
 * What is named stands in one place: there, once for each model behind the call's name. What is only repeated is better off there, but
 * may go elsewhere.
 */
function boundSelection(services: RelayServices, call: CallCore, storedAt: StoredAt): Selection {
  const elsewhere = storedAt.only ? null : routedSelection(services, call)
  let left: Attempt[] | undefined
  return {
    nextPlace: () => {
      const [next] = left ?? []
      return elsewhere?.nextPlace() ?? (next ? peekAtAttempt(services, call, next) : null)
    },
    next: () => {
      const isFirst = left === undefined
      left ??= boundAttempts(services, call, storedAt).slice(0, elsewhere ? 1 : undefined)
      const attempt = left.shift()
      if (!attempt && !elsewhere) throw refusal(services, call, isFirst ? 0 : 1)
      if (attempt) elsewhere?.note(attempt)
      return attempt ?? (elsewhere as Selection).next()
    },
  }
}

function peekAtAttempt({ circuitBreaker }: RelayServices, call: CallCore, attempt: Attempt): NextPlace {
  const place = { channelId: attempt.channel.id, key: attempt.key.position, model: limitedModel(call, attempt.model) }
  return {
    state: 'fresh',
    asked: 1,
    healthy: circuitBreaker.isHealthy(place.channelId, place.key, place.model),
    askedCooldownMs: circuitBreaker.askedCooldownMs(place),
  }
}
