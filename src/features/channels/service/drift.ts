import { splitList } from '#core/routing/abilities.ts'
import { Channel } from '#db/entities/channel.ts'
import { ChannelDrift } from '#db/entities/channel-drift.ts'
import type { UserDeps } from '#features/deps.ts'
import { type DriftView, toDriftView } from '../view.ts'

/** What the last comparison found for each channel, as far as it still holds: models changed since then count as they are. */
export async function listDrifts({ em }: Pick<UserDeps, 'em'>, { ids }: { ids: number[] }): Promise<DriftView[]> {
  if (ids.length === 0) return []
  const found = await em.find(ChannelDrift, { channelId: { $in: ids } }, { disableIdentityMap: true })
  const channels = await em.find(
    Channel,
    { id: { $in: found.map(({ channelId }) => channelId) } },
    { fields: ['id', 'models'], disableIdentityMap: true },
  )
  const modelsOf = new Map(channels.map(({ id, models }) => [id, splitList(models)]))
  return found.map((drift) => toDriftView(drift, modelsOf.get(drift.channelId) ?? []))
}
