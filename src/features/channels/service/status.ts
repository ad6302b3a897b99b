import type { EntityManager } from '@mikro-orm/postgresql'
import { DomainError } from '#core/errors.ts'
import { channelStatus } from '#core/statuses.ts'
import { Channel } from '#db/entities/channel.ts'
import { ChannelKey } from '#db/entities/channel-key.ts'
import type { UserDeps } from '#features/deps.ts'
import type { ChannelView } from '../view.ts'
import { toChannelView } from '../view.ts'
import { indexChannels } from './abilities.ts'
import { findChannel, lockChannel, lockChannels } from './store.ts'

/**
 * A person's word on channels whose rows are held. Switching on brings back the credentials that were taken out
 * automatically, for a channel without any could serve nobody.
 */
export async function writeStatus(em: EntityManager, ids: number[], status: number): Promise<void> {
  if (ids.length === 0) return
  const columns = { status, statusReason: '', statusAt: null }
  await em.nativeUpdate(Channel, { id: { $in: ids } }, columns)
  if (status === channelStatus.enabled) {
    await em.nativeUpdate(ChannelKey, { channelId: { $in: ids }, status: channelStatus.autoDisabled }, columns)
  }
  await indexChannels(em, ids)
}

export async function setChannelStatus(deps: UserDeps, input: { id: number; status: number }): Promise<ChannelView> {
  await deps.em.transactional(async (em) => {
    await lockChannel(em, input.id)
    await writeStatus(em, [input.id], input.status)
  })
  return toChannelView(await findChannel(deps, input.id), deps.actor)
}

export async function setTagStatus(deps: UserDeps, input: { tag: string; status: number }): Promise<{ count: number }> {
  if (input.tag === '') throw new DomainError('channel.tag_required')
  return deps.em.transactional(async (em) => {
    const ids = (await lockChannels(em, { tag: input.tag })).map(({ id }) => id)
    await writeStatus(em, ids, input.status)
    return { count: ids.length }
  })
}

/** Switching off the last credential switches off the channel. */
export async function setKeyStatus(
  deps: UserDeps,
  input: { id: number; position: number; status: number },
): Promise<void> {
  await deps.em.transactional(async (em) => {
    const channel = await lockChannel(em, input.id)
    const changed = await em.nativeUpdate(
      ChannelKey,
      { channelId: input.id, position: input.position },
      { status: input.status, statusReason: '', statusAt: null },
    )
    if (changed === 0) throw new DomainError('channel.not_found')
    if (channel.status === channelStatus.enabled && (await enabledKeys(em, input.id)) === 0) {
      await writeStatus(em, [input.id], channelStatus.disabled)
    }
  })
}

export const enabledKeys = (em: EntityManager, channelId: number) =>
  em.count(ChannelKey, { channelId, status: channelStatus.enabled })
