import { isDeepStrictEqual } from 'node:util'
import { DomainError } from '#core/errors.ts'
import type { BuyingPrice } from '#core/pricing/buying-price.ts'
import { Channel } from '#db/entities/channel.ts'
import { recordAct } from '#features/audit/service.ts'
import { findChannel, lockChannel } from '#features/channels/service/store.ts'
import type { UserDeps } from '#features/deps.ts'
import { readInTime } from '#features/logs/timed-query.ts'
import type { ChannelOf, ChannelsOf, SetBuyingPrices } from './schema.ts'

export async function getBuyingPrices(deps: UserDeps, { channelId }: ChannelOf): Promise<BuyingPrice[]> {
  return (await findChannel(deps, channelId)).buyingPrices
}

/**
 * Replaces the list, unless somebody else has done so since it was read. What calls have cost so far stays as it was booked.
 * @throws {DomainError} prices.buying_changed_meanwhile
 */
export async function setBuyingPrices(deps: UserDeps, input: SetBuyingPrices): Promise<void> {
  const { channelId, prices, expected } = input
  await deps.em.transactional(async (em) => {
    const channel = await lockChannel(em, channelId)
    if (expected !== undefined && !isDeepStrictEqual(channel.buyingPrices, expected)) {
      throw new DomainError('prices.buying_changed_meanwhile')
    }
    await em.nativeUpdate(Channel, { id: channelId }, { buyingPrices: prices })
    await recordAct(
      { ...deps, em },
      {
        action: 'channels.set_buying_prices',
        targetType: 'channel',
        targetId: channelId,
        targetName: channel.name,
        before: { buyingPrices: channel.buyingPrices },
        after: { buyingPrices: prices },
      },
    )
  })
}

export type BalanceCheck = {
  /** What the upstream's balance fell by between its readings of the last week, in dollars. */
  reported: number
  /** What was counted here meanwhile. */
  counted: number
  readings: number
}

/**
 * What upstreams say was spent beside what was counted, over the last week. Between two readings a balance that rose was topped
 * up, which says nothing about what was spent meanwhile, so such an interval is left out on both sides.
 */
export const compareBalances = ({ database }: Pick<UserDeps, 'database'>): Promise<Map<number, BalanceCheck>> =>
  readInTime(database.pool, async (query) => {
    const rows = await query<{ channel_id: number; reported: number; counted: number; readings: number }>(
      `select channel_id, sum(fallen)::float8 as reported, (sum(used) / 1e9)::float8 as counted, count(*)::int as readings
       from (
         select channel_id, lag(balance) over w - balance as fallen, used_cost - lag(used_cost) over w as used
         from channel_balances where read_at >= now() - interval '7 days'
         window w as (partition by channel_id order by id)
       ) steps where fallen >= 0 group by channel_id`,
      [],
    )
    return new Map(rows.map(({ channel_id: id, ...check }) => [id, check]))
  })

const tolerated = { share: 0.1, dollars: 1 }

/** Small differences come of rounding, of currencies and of calls under way. */
export const isBalanceOff = ({ reported, counted }: BalanceCheck): boolean =>
  Math.abs(reported - counted) > Math.max(tolerated.dollars, tolerated.share * Math.max(reported, counted))

export type ChannelMargin = { channelId: number; cost: number; costedQuota: number }

/** Of those of the channels that had costs in the last thirty days. */
export const channelMargins = (
  { database }: Pick<UserDeps, 'database'>,
  { channelIds }: ChannelsOf,
): Promise<ChannelMargin[]> =>
  readInTime(database.pool, (query) =>
    query<ChannelMargin>(
      // Whole days are added up already; hours are read for the broken one at the beginning and for what came since.
      `with times as materialized (
         select now() - interval '30 days' as since, date_trunc('day', now() - interval '29 days', 'UTC') as first_day,
           date_trunc('day', usage_rolled_until(), 'UTC') as until)
       select channel_id as "channelId", sum(cost)::float8 as cost, sum(costed_quota)::float8 as "costedQuota"
       from (
         select channel_id, cost, costed_quota from usage_hourly, times where channel_id = any($1::int[]) and hour >= since and hour < first_day
         union all
         select channel_id, cost, costed_quota from usage_by_channel, times
         where channel_id = any($1::int[]) and day >= (first_day at time zone 'utc')::date and day < (until at time zone 'utc')::date
         union all
         select channel_id, cost, costed_quota from usage_hourly, times where channel_id = any($1::int[]) and hour >= greatest(first_day, until)
       ) parts
       group by 1 having sum(cost) > 0 or sum(costed_quota) > 0 order by 1`,
      [channelIds],
    ),
  )

export type ChannelMoney = { quota: number; cost: number; costedQuota: number; balanceCheck: BalanceCheck | null }

/** What a channel earned and cost in the last thirty days, and whether its upstream's balance agrees. */
export async function channelMoney(deps: UserDeps, { channelId }: ChannelOf): Promise<ChannelMoney> {
  const [row] = await readInTime(deps.database.pool, (query) =>
    query<{ quota: number; cost: number; costed: number }>(
      `select coalesce(sum(quota), 0)::float8 as quota, coalesce(sum(cost), 0)::float8 as cost,
         coalesce(sum(costed_quota), 0)::float8 as costed
       from usage_hourly where channel_id = $1 and hour >= now() - interval '30 days'`,
      [channelId],
    ),
  )
  const balanceCheck = (await compareBalances(deps)).get(channelId) ?? null
  return { quota: row?.quota ?? 0, cost: row?.cost ?? 0, costedQuota: row?.costed ?? 0, balanceCheck }
}
