import type { EntityManager, FilterQuery } from '@mikro-orm/postgresql'
import { DomainError } from '#core/errors.ts'
import { channelStatus } from '#core/statuses.ts'
import { Channel } from '#db/entities/channel.ts'
import { ChannelKey } from '#db/entities/channel-key.ts'
import { recordAct } from '#features/audit/service.ts'
import type { UserDeps } from '#features/deps.ts'
import { refuseOvertaken } from '#features/overtaken.ts'
import type { SetKeyStatus } from '../schema.ts'
import type { ChannelView } from '../view.ts'
import { toChannelView, toKeyView } from '../view.ts'
import { indexChannels } from './abilities.ts'
import { channelAct, recordChannels } from './acts.ts'
import { execute, findChannel, inPortions, lockChannel } from './store.ts'

/** A person's word on channels whose rows are held. Switching on brings back the credentials that were taken out automatically. */
export async function writeStatus(
  em: EntityManager,
  ids: number[],
  { status, keepKeys = false }: { status: number; keepKeys?: boolean },
): Promise<void> {
  if (ids.length === 0) return
  const columns = { status, statusReason: '', statusAt: null }
  await em.nativeUpdate(Channel, { id: { $in: ids } }, columns)
  if (status === channelStatus.enabled && !keepKeys) {
    await em.nativeUpdate(ChannelKey, { channelId: { $in: ids }, status: channelStatus.autoDisabled }, columns)
  }
  await bringBackKeys(em, ids)
  await indexChannels(em, ids)
}

/** A channel that is on and has no credential left could serve nobody: where a person wants it on, all of them come back. */
export const bringBackKeys = (em: EntityManager, ids: readonly number[]): Promise<unknown> =>
  execute(
    em,
    `update channel_keys k set status = 1, status_reason = '', status_at = null from channels c
     where c.id in (?) and c.status = 1 and k.channel_id = c.id
       and not exists (select from channel_keys o where o.channel_id = c.id and o.status = 1)`,
    [ids],
  )

type SetStatus = { id: number; status: number; keepKeys?: boolean }

export async function setChannelStatus(deps: UserDeps, input: SetStatus): Promise<ChannelView> {
  await deps.em.transactional(async (em) => {
    const before = await lockChannel(em, input.id)
    await writeStatus(em, [input.id], input)
    await recordStatus(deps, em, { channels: [before], status: input.status })
  })
  return toChannelView(await findChannel(deps, input.id))
}

/** @throws {DomainError} channel.tag_required */
export async function setTagStatus(deps: UserDeps, input: { tag: string; status: number }): Promise<{ count: number }> {
  if (input.tag === '') throw new DomainError('channel.tag_required')
  return setStatusWhere(deps, { tag: input.tag }, input.status)
}

/** @throws {DomainError} channel.selection_empty */
export async function setStatusOfMany(
  deps: UserDeps,
  { ids, status }: { ids: number[]; status: number },
): Promise<{ count: number }> {
  if (ids.length === 0) throw new DomainError('channel.selection_empty')
  return setStatusWhere(deps, { id: ids }, status)
}

const setStatusWhere = (deps: UserDeps, where: FilterQuery<Channel>, status: number): Promise<{ count: number }> =>
  inPortions(deps, where, async (em, channels) => {
    const ids = channels.map(({ id }) => id)
    await writeStatus(em, ids, { status })
    await recordStatus(deps, em, { channels, status })
  })

const recordStatus = (
  deps: UserDeps,
  em: EntityManager,
  { channels, status }: { channels: readonly Channel[]; status: number },
): Promise<void> => {
  const action = status === channelStatus.enabled ? 'enable' : 'disable'
  return recordChannels(
    deps,
    em,
    channels.map((before) => channelAct(action, { before, after: { ...before, status } })),
  )
}

/**
 * Switching off the last credential switches off the channel.
 * @throws {DomainError} channel.not_found, input.changed_meanwhile
 */
export async function setKeyStatus(deps: UserDeps, input: SetKeyStatus): Promise<void> {
  await deps.em.transactional(async (em) => {
    const channel = await lockChannel(em, input.id)
    const place = { channelId: input.id, position: input.position }
    const key = await em.findOne(ChannelKey, place, { disableIdentityMap: true })
    if (!key) throw new DomainError('channel.not_found')
    refuseOvertaken(toKeyView(key), {}, input.expected)
    await em.nativeUpdate(ChannelKey, place, { status: input.status, statusReason: '', statusAt: null })
    await recordAct(
      { ...deps, em },
      {
        action: input.status === channelStatus.enabled ? 'channels.enable_key' : 'channels.disable_key',
        targetType: 'channel',
        targetId: channel.id,
        targetName: channel.name,
        before: { position: input.position, status: key.status },
        after: { position: input.position, status: input.status },
      },
    )
    if (channel.status === channelStatus.enabled && (await enabledKeys(em, input.id)) === 0) {
      await writeStatus(em, [input.id], { status: channelStatus.disabled })
    }
  })
}

export const enabledKeys = (em: EntityManager, channelId: number) =>
  em.count(ChannelKey, { channelId, status: channelStatus.enabled })
