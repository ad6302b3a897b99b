import type { FilterQuery } from '@mikro-orm/postgresql'
import { DomainError } from '#core/errors.ts'
import { channelStatus } from '#core/statuses.ts'
import { Ability } from '#db/entities/ability.ts'
import { Channel } from '#db/entities/channel.ts'
import { ChannelCooldown } from '#db/entities/channel-cooldown.ts'
import { ChannelDrift } from '#db/entities/channel-drift.ts'
import { ChannelKey } from '#db/entities/channel-key.ts'
import { ChannelProbe } from '#db/entities/channel-probe.ts'
import type { UserDeps } from '#features/deps.ts'
import { type ChannelColumns, toColumns } from '../rules.ts'
import type { EditTag } from '../schema.ts'
import { indexChannels } from './abilities.ts'
import { channelAct, recordChannels } from './acts.ts'
import { inPortions } from './store.ts'

function removeWhere(deps: UserDeps, where: FilterQuery<Channel>): Promise<{ count: number }> {
  return inPortions(deps, where, async (em, channels) => {
    const ids = channels.map(({ id }) => id)
    await em.nativeDelete(Ability, { channelId: { $in: ids } })
    await em.nativeDelete(ChannelKey, { channelId: { $in: ids } })
    await em.nativeDelete(ChannelCooldown, { channelId: { $in: ids } })
    await em.nativeDelete(ChannelDrift, { channelId: { $in: ids } })
    await em.nativeDelete(ChannelProbe, { channelId: { $in: ids } })
    await em.nativeDelete(Channel, { id: { $in: ids } })
    await recordChannels(
      deps,
      em,
      channels.map((before) => channelAct('remove', { before })),
    )
  })
}

/** @throws {DomainError} channel.not_found */
export async function removeChannel(deps: UserDeps, { id }: { id: number }): Promise<void> {
  const { count } = await removeWhere(deps, { id: [id] })
  if (count === 0) throw new DomainError('channel.not_found')
}

/** @throws {DomainError} channel.selection_empty */
export async function removeChannels(deps: UserDeps, { ids }: { ids: number[] }): Promise<{ count: number }> {
  if (ids.length === 0) throw new DomainError('channel.selection_empty')
  return removeWhere(deps, { id: ids })
}

/** Those switched off by hand and those switched off automatically. */
export const removeDisabledChannels = (deps: UserDeps): Promise<{ count: number }> =>
  removeWhere(deps, { status: [channelStatus.disabled, channelStatus.autoDisabled] })

function changeWhere(deps: UserDeps, where: FilterQuery<Channel>, columns: ChannelColumns): Promise<{ count: number }> {
  return inPortions(deps, where, async (em, channels) => {
    const ids = channels.map(({ id }) => id)
    await em.nativeUpdate(Channel, { id: { $in: ids } }, columns)
    await indexChannels(em, ids)
    await recordChannels(
      deps,
      em,
      channels.map((before) => channelAct('update', { before, after: { ...before, ...columns } })),
    )
  })
}

/** An empty tag takes the channels out of theirs. @throws {DomainError} channel.selection_empty */
export async function setTag(deps: UserDeps, input: { ids: number[]; tag: string }): Promise<{ count: number }> {
  if (input.ids.length === 0) throw new DomainError('channel.selection_empty')
  return changeWhere(deps, { id: input.ids }, { tag: input.tag })
}

/** One change for every channel of a tag. @throws {DomainError} channel.tag_required, channel.tag_unchanged */
export async function editTag(deps: UserDeps, input: EditTag): Promise<{ count: number }> {
  const { tag, newTag, ...fields } = input
  if (tag === '') throw new DomainError('channel.tag_required')
  const columns = toColumns({ ...fields, ...(newTag === tag ? {} : { tag: newTag }) }, null)
  if (Object.keys(columns).length === 0) throw new DomainError('channel.tag_unchanged')
  return changeWhere(deps, { tag }, columns)
}
