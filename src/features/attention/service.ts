import { retirementOf } from '#core/models/retirements.ts'
import { priceOf } from '#core/pricing/price-of.ts'
import { splitList } from '#core/routing/abilities.ts'
import { channelStatus } from '#core/statuses.ts'
import { Channel } from '#db/entities/channel.ts'
import { ChannelDrift } from '#db/entities/channel-drift.ts'
import { listCooldowns } from '#features/channels/service/cooldowns.ts'
import type { UserDeps } from '#features/deps.ts'
import { type Ability, enabledAbilities } from '#features/models/service.ts'
import { pricedName } from '#features/models/priced-name.ts'
import { compareBalances, isBalanceOff } from '#features/prices/buying.ts'

type Severity = 'bad' | 'warning'

/** One thing that an operator should look into, with what leads to it. */
export type Attention = { severity: Severity } & (
  | { kind: 'channel-disabled'; channelId: number; channel: string; reason: string; since: Date | null }
  | { kind: 'circuit-open'; channelId: number; channel: string; places: number; until: Date; reason: string }
  | { kind: 'model-unserved'; model: string; groups: string[] }
  | { kind: 'balance-low'; channelId: number; channel: string; balance: number; currency: string | null }
  | { kind: 'balance-off'; channelId: number; channel: string; reported: number; counted: number }
  | { kind: 'price-missing'; model: string; refused: boolean }
  | { kind: 'drift'; channelId: number; channel: string; missing: number; added: number }
  | { kind: 'proxy-unknown'; address: string }
  | { kind: 'model-retired'; model: string; retires: Date; successor: string; channels: number }
)

const lowBalanceDollars = 5
/** Vendors announce the end of a model some months before. */
const noticeMs = 90 * 86_400_000

type AttentionDeps = Pick<UserDeps, 'em' | 'options' | 'database' | 'ambient'>

/** The same, with what shows by the way that the reader came. */
export const listAttentionOf = async (deps: AttentionDeps & Pick<UserDeps, 'client'>): Promise<Attention[]> => [
  ...(await listAttention(deps)),
  ...(deps.client.unknownProxy
    ? [{ kind: 'proxy-unknown' as const, severity: 'warning' as const, address: deps.client.ip }]
    : []),
]

/** What stands in need of a hand, the gravest first. */
export async function listAttention(deps: AttentionDeps): Promise<Attention[]> {
  const abilities = await enabledAbilities(deps)
  const found = [
    ...(await disabledOf(deps)),
    ...(await unservedOf(deps)),
    ...missingPricesOf(deps, abilities),
    ...(await openCircuitsOf(deps)),
    ...(await offBalancesOf(deps)),
    ...(await lowBalancesOf(deps)),
    ...(await retiredOf(deps, abilities)),
    ...(await driftsOf(deps)),
  ]
  return found.toSorted((left, right) => rank(left) - rank(right))
}

const rank = ({ severity }: Attention): number => (severity === 'bad' ? 0 : 1)

async function disabledOf({ em }: AttentionDeps): Promise<Attention[]> {
  const channels = await em.find(
    Channel,
    { status: channelStatus.autoDisabled },
    { fields: ['name', 'statusReason', 'statusAt'], orderBy: { id: 'asc' }, disableIdentityMap: true },
  )
  return channels.map(({ id, name, statusReason, statusAt }) => ({
    kind: 'channel-disabled',
    severity: 'bad',
    channelId: id,
    channel: name,
    reason: statusReason,
    since: statusAt ?? null,
  }))
}

/** Models that only channels serve which are off; those that somebody switched off on purpose alone are left out. */
async function unservedOf({ database }: AttentionDeps): Promise<Attention[]> {
  const { rows } = await database.pool.query<{ model: string; groups: string[] }>(
    `select a.model, array_agg(distinct a."group" order by a."group") as groups
     from channels c join abilities a on a.channel_id = c.id
     where c.status = $1
       and not exists (select 1 from abilities s where s."group" = a."group" and s.model = a.model and s.enabled)
     group by 1 order by 1`,
    [channelStatus.autoDisabled],
  )
  return rows.map(({ model, groups }) => ({ kind: 'model-unserved', severity: 'bad', model, groups }))
}

/** Names of the channels that are on, of those asked for. */
async function enabledNames({ database }: AttentionDeps, ids: readonly number[]): Promise<Map<number, string>> {
  const { rows } = await database.pool.query<{ id: number; name: string }>(
    'select id, name from channels where id = any($1::int[]) and status = $2 order by id',
    [ids, channelStatus.enabled],
  )
  return new Map(rows.map(({ id, name }) => [id, name]))
}

/** Channels that are given no calls for a while, after failures, though nobody switched them off. */
async function openCircuitsOf(deps: AttentionDeps): Promise<Attention[]> {
  const cooldowns = await listCooldowns(deps)
  const names = await enabledNames(
    deps,
    cooldowns.map(({ channelId }) => channelId),
  )
  const open = new Map<number, Extract<Attention, { kind: 'circuit-open' }>>()
  for (const { channelId, until, reason } of cooldowns) {
    const channel = names.get(channelId)
    if (channel === undefined) continue
    const before = open.get(channelId)
    open.set(channelId, {
      kind: 'circuit-open',
      severity: 'warning',
      channelId,
      channel,
      places: (before?.places ?? 0) + 1,
      until: before && before.until > until ? before.until : until,
      reason: before?.reason || reason,
    })
  }
  return [...open.values()]
}

/** Models that an ordinary user's call would be refused for, because nobody has priced them. */
function missingPricesOf({ options }: AttentionDeps, abilities: readonly Ability[]): Attention[] {
  const missing = abilities.filter(
    ({ model, mapping, task }) =>
      !task && priceOf(options, { model: pricedName(options, model, mapping), acceptUnset: false }) === undefined,
  )
  return [...new Set(missing.map(({ model }) => model))].toSorted().map((model) => ({
    kind: 'price-missing',
    severity: 'bad',
    model,
    refused: priceOf(options, { model, acceptUnset: false }) === undefined,
  }))
}

async function lowBalancesOf({ em }: AttentionDeps): Promise<Attention[]> {
  const channels = await em.find(
    Channel,
    { status: channelStatus.enabled, balanceUpdatedAt: { $ne: null }, balance: { $lt: lowBalanceDollars } },
    { fields: ['name', 'balance', 'balanceCurrency'], orderBy: { id: 'asc' }, disableIdentityMap: true },
  )
  return channels.map(({ id, name, balance, balanceCurrency }) => ({
    kind: 'balance-low',
    severity: 'warning',
    channelId: id,
    channel: name,
    balance: Number(balance),
    currency: balanceCurrency ?? null,
  }))
}

/** Only where somebody has said what the channel costs: without that there is nothing to compare with. */
async function offBalancesOf(deps: AttentionDeps): Promise<Attention[]> {
  const off = [...(await compareBalances(deps))].filter(([, check]) => isBalanceOff(check))
  if (off.length === 0) return []
  const channels = await deps.em.find(
    Channel,
    { id: { $in: off.map(([id]) => id) }, status: channelStatus.enabled },
    { fields: ['name', 'buyingPrices'], orderBy: { id: 'asc' }, disableIdentityMap: true },
  )
  const checks = new Map(off)
  return channels.flatMap(({ id, name, buyingPrices }) => {
    const check = checks.get(id)
    if (!check || buyingPrices.length === 0) return []
    const { reported, counted } = check
    return [
      { kind: 'balance-off' as const, severity: 'warning' as const, channelId: id, channel: name, reported, counted },
    ]
  })
}

async function driftsOf(deps: AttentionDeps): Promise<Attention[]> {
  const drifts = await deps.em.find(ChannelDrift, { missing: { $ne: '' } }, { disableIdentityMap: true })
  const names = await enabledNames(
    deps,
    drifts.map(({ channelId }) => channelId),
  )
  return drifts.flatMap(({ channelId, missing, added }) => {
    const channel = names.get(channelId)
    if (channel === undefined) return []
    const counts = { missing: splitList(missing).length, added: splitList(added).length }
    return [{ kind: 'drift' as const, severity: 'warning' as const, channelId, channel, ...counts }]
  })
}

async function retiredOf({ database, ambient }: AttentionDeps, abilities: readonly Ability[]): Promise<Attention[]> {
  const last = ambient.now().getTime() + noticeMs
  const retired = [...new Set(abilities.map(({ model }) => model))].filter((model) => {
    const retirement = retirementOf(model)
    return retirement !== undefined && retirement.retires.getTime() <= last
  })
  if (retired.length === 0) return []
  const { rows } = await database.pool.query<{ model: string; channels: number }>(
    `select model, count(distinct channel_id)::int as channels from abilities
     where enabled and model = any($1) group by 1 order by 1`,
    [retired],
  )
  return rows.flatMap(({ model, channels }) => {
    const retirement = retirementOf(model)
    if (!retirement) return []
    const { retires, successor } = retirement
    return [{ kind: 'model-retired' as const, severity: 'warning' as const, model, retires, successor, channels }]
  })
}
