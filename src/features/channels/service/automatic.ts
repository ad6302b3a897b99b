import type { EntityManager } from '@mikro-orm/postgresql'
import { channelStatus } from '#core/statuses.ts'
import { storableText } from '#core/storable-text.ts'
import { Channel } from '#db/entities/channel.ts'
import { ChannelKey } from '#db/entities/channel-key.ts'
import type { Deps } from '#features/deps.ts'
import { type NoticeDeps, notifyOfChannel } from '#features/notifications/service.ts'
import { indexChannels } from './abilities.ts'
import { enabledKeys } from './status.ts'
import { lockChannels } from './store.ts'

export type AutomaticDeps = Pick<Deps, 'em' | 'barrier'> & NoticeDeps

const longestReason = 1000

const switchedOff = ({ ambient }: AutomaticDeps, reason: string) => ({
  status: channelStatus.autoDisabled,
  statusReason: storableText(reason.slice(0, longestReason)),
  statusAt: ambient.now(),
})

/**
 * Takes a credential out after a failure that proves it useless; the last one takes its channel along, of which root is notified.
 * A key that was replaced or switched off meanwhile is left alone. Once it resolves no node uses the credential any more.
 */
export async function disableAutomatically(
  deps: AutomaticDeps,
  fault: { channelId: number; key: string; reason: string },
): Promise<'key' | 'channel' | 'nothing'> {
  const { channelId, reason } = fault
  const { what, name } = await deps.em.transactional(async (em) => {
    const [channel] = await lockChannels(em, { id: [channelId] })
    if (channel?.status !== channelStatus.enabled) return { what: 'nothing' as const, name: '' }
    const out = switchedOff(deps, reason)
    const keyHmac = deps.secrets.hmac(fault.key)
    const changed = await em.nativeUpdate(ChannelKey, { channelId, keyHmac, status: channelStatus.enabled }, out)
    if (changed === 0) return { what: 'nothing' as const, name: '' }
    if ((await enabledKeys(em, channelId)) > 0) return { what: 'key' as const, name: channel.name }
    await em.nativeUpdate(Channel, { id: channelId }, out)
    await indexChannels(em, [channelId])
    return { what: 'channel' as const, name: channel.name }
  })
  if (what === 'channel') void notifyOfChannel(deps, { id: channelId, name, status: 'disabled', reason })
  // Where there was nothing to do, somebody else may be doing it just now.
  await deps.barrier()
  return what
}

/** Switches a whole channel off, for what is not the fault of one credential. False when it was not on. */
export async function disableChannelAutomatically(
  deps: AutomaticDeps,
  fault: { channelId: number; reason: string },
): Promise<boolean> {
  const { channelId, reason } = fault
  const name = await changeLocked(deps.em, { channelId, from: channelStatus.enabled }, async (em) => {
    await em.nativeUpdate(Channel, { id: channelId }, switchedOff(deps, reason))
    return true
  })
  if (name === null) return false
  void notifyOfChannel(deps, { id: channelId, name, status: 'disabled', reason })
  await deps.barrier()
  return true
}

/**
 * Brings back what went off by itself and has just answered with this credential. What a person switched off stays off.
 * False when nothing was to be brought back.
 */
export async function enableAutomatically(
  deps: AutomaticDeps,
  proof: { channelId: number; key: string },
): Promise<boolean> {
  const { channelId } = proof
  const on = { status: channelStatus.enabled, statusReason: '', statusAt: null }
  const name = await changeLocked(deps.em, { channelId, from: channelStatus.autoDisabled }, async (em) => {
    const keyHmac = deps.secrets.hmac(proof.key)
    await em.nativeUpdate(ChannelKey, { channelId, keyHmac, status: channelStatus.autoDisabled }, on)
    if ((await enabledKeys(em, channelId)) === 0) return false
    await em.nativeUpdate(Channel, { id: channelId }, on)
    return true
  })
  if (name === null) return false
  void notifyOfChannel(deps, { id: channelId, name, status: 'enabled' })
  await deps.barrier()
  return true
}

/** Changes a channel that has the expected status while its row is held; the name of one that was changed, else null. */
function changeLocked(
  own: EntityManager,
  { channelId, from }: { channelId: number; from: number },
  change: (em: EntityManager) => Promise<boolean>,
): Promise<string | null> {
  return own.transactional(async (em) => {
    const [channel] = await lockChannels(em, { id: [channelId] })
    if (channel?.status !== from || !(await change(em))) return null
    await indexChannels(em, [channelId])
    return channel.name
  })
}
