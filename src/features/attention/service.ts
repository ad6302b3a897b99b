import { retirementOf } from '#core/models/retirements.ts'
import { priceOf } from '#core/pricing/price-of.ts'
import { splitList } from '#core/routing/abilities.ts'
import { channelStatus } from '#core/statuses.ts'
import { Channel } from '#db/entities/channel.ts'
import { ChannelDrift } from '#db/entities/channel-drift.ts'
import { listCooldowns } from '#features/channels/service/cooldowns.ts'
import type { UserDeps } from '#features/deps.ts'
import { unpricedModelsOf } from '#features/models/service.ts'
import { compareBalances, isBalanceOff } from '#features/prices/buying.ts'

type Severity = 'bad' | 'warning'

/** One thing that an operator should look into, with what leads to it. */
export type Attention = { severity: Severity } & (
  | { kind: 'channel-disabled'; channelId: number; channel: string; reason: string; since: Date | null }
  | { kind: 'circuit-open'; channelId: number; channel: string; places: number; until: Date; reason: string }
  | { kind: 'model-unserved'; model: string; groups: string[] }
  | { kind: 'balance-low'; channelId: number; channel: string; balance: number }
  | { kind: 'balance-off'; channelId: number; channel: string; reported: number; counted: number }
  | { kind: 'price-missing'; model: string; refused: boolean }
  | { kind: 'drift'; channelId: number; channel: string; missing: number; added: number }
  | { kind: 'model-retired'; model: string; retires: Date; successor: string; channels: number }
)

const lowBalanceDollars = 5
/** Vendors announce the end of a model some months before. */
const noticeMs = 90 * 86_400_000

type AttentionDeps = Pick<UserDeps, 'em' | 'options' | 'database' | 'ambient'>

/** What stands in need of a hand, the gravest first. */
export async function listAttention(deps: AttentionDeps): Promise<Attention[]> {
  const channels = await deps.em.find(Channel, {}, { orderBy: { id: 'asc' }, disableIdentityMap: true })
  const enabled = channels.filter(({ status }) => status === channelStatus.enabled)
  const found = [
    ...disabledOf(channels),
    ...unservedOf(channels, enabled),
    ...missingPricesOf(deps, enabled),
    ...(await openCircuitsOf(deps, enabled)),
    ...(await offBalancesOf(deps, enabled)),
    ...lowBalancesOf(enabled),
    ...retiredOf(enabled, deps.ambient.now()),
    ...(await driftsOf(deps, enabled)),
  ]
  return found.toSorted((left, right) => rank(left) - rank(right))
}

const rank = ({ severity }: Attention): number => (severity === 'bad' ? 0 : 1)

const disabledOf = (channels: readonly Channel[]): Attention[] =>
  channels
    .filter(({ status }) => status === channelStatus.autoDisabled)
    .map(({ id, name, statusReason, statusAt }) => ({
      kind: 'channel-disabled',
      severity: 'bad',
      channelId: id,
      channel: name,
      reason: statusReason,
      since: statusAt ?? null,
    }))

/** Models that only channels name which are off; those that somebody switched off on purpose alone are left out. */
function unservedOf(channels: readonly Channel[], enabled: readonly Channel[]): Attention[] {
  const key = (group: string, model: string): string => `${group}\n${model}`
  const pairs = (channel: Channel) =>
    splitList(channel.group).flatMap((group) => splitList(channel.models).map((model) => ({ group, model })))
  const served = new Set(enabled.flatMap((channel) => pairs(channel).map(({ group, model }) => key(group, model))))
  const unserved = new Map<string, Set<string>>()
  for (const channel of channels.filter(({ status }) => status === channelStatus.autoDisabled)) {
    for (const { group, model } of pairs(channel)) {
      if (served.has(key(group, model))) continue
      unserved.set(model, (unserved.get(model) ?? new Set()).add(group))
    }
  }
  return [...unserved].map(([model, groups]) => ({
    kind: 'model-unserved',
    severity: 'bad',
    model,
    groups: [...groups].toSorted(),
  }))
}

/** Channels that are given no calls for a while, after failures, though nobody switched them off. */
async function openCircuitsOf(deps: AttentionDeps, enabled: readonly Channel[]): Promise<Attention[]> {
  const names = new Map(enabled.map(({ id, name }) => [id, name]))
  const open = new Map<number, Extract<Attention, { kind: 'circuit-open' }>>()
  for (const { channelId, until, reason } of await listCooldowns(deps, { ids: [...names.keys()] })) {
    const before = open.get(channelId)
    open.set(channelId, {
      kind: 'circuit-open',
      severity: 'warning',
      channelId,
      channel: names.get(channelId) ?? '',
      places: (before?.places ?? 0) + 1,
      until: before && before.until > until ? before.until : until,
      reason: before?.reason || reason,
    })
  }
  return [...open.values()]
}

function missingPricesOf({ options }: Pick<AttentionDeps, 'options'>, enabled: readonly Channel[]): Attention[] {
  const models = new Set(enabled.flatMap((channel) => unpricedModelsOf(options, channel)))
  return [...models].toSorted().map((model) => ({
    kind: 'price-missing',
    severity: 'bad',
    model,
    refused: priceOf(options, { model, acceptUnset: false }) === undefined,
  }))
}

const lowBalancesOf = (enabled: readonly Channel[]): Attention[] =>
  enabled
    .filter(({ balance, balanceUpdatedAt }) => balanceUpdatedAt !== null && Number(balance) < lowBalanceDollars)
    .map(({ id, name, balance }) => ({
      kind: 'balance-low',
      severity: 'warning',
      channelId: id,
      channel: name,
      balance: Number(balance),
    }))

/** Only where somebody has said what the channel costs: without that there is nothing to compare with. */
async function offBalancesOf(deps: AttentionDeps, enabled: readonly Channel[]): Promise<Attention[]> {
  const priced = enabled.filter(({ buyingPrices }) => buyingPrices.length > 0)
  if (priced.length === 0) return []
  const checks = await compareBalances(deps)
  return priced.flatMap(({ id, name }) => {
    const check = checks.get(id)
    if (!check || !isBalanceOff(check)) return []
    const { reported, counted } = check
    return [
      { kind: 'balance-off' as const, severity: 'warning' as const, channelId: id, channel: name, reported, counted },
    ]
  })
}

async function driftsOf({ em }: AttentionDeps, enabled: readonly Channel[]): Promise<Attention[]> {
  const names = new Map(enabled.map(({ id, name }) => [id, name]))
  const drifts = await em.find(ChannelDrift, { missing: { $ne: '' } }, { disableIdentityMap: true })
  return drifts.flatMap(({ channelId, missing, added }) => {
    const channel = names.get(channelId)
    if (channel === undefined) return []
    const counts = { missing: splitList(missing).length, added: splitList(added).length }
    return [{ kind: 'drift' as const, severity: 'warning' as const, channelId, channel, ...counts }]
  })
}

function retiredOf(enabled: readonly Channel[], now: Date): Attention[] {
  const channels = new Map<string, number>()
  for (const channel of enabled) {
    for (const model of splitList(channel.models)) channels.set(model, (channels.get(model) ?? 0) + 1)
  }
  return [...channels].flatMap(([model, count]) => {
    const retirement = retirementOf(model)
    if (!retirement || retirement.retires.getTime() > now.getTime() + noticeMs) return []
    const { retires, successor } = retirement
    return [
      { kind: 'model-retired' as const, severity: 'warning' as const, model, retires, successor, channels: count },
    ]
  })
}
