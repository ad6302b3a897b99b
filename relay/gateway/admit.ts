import { DomainError } from '#core/errors.ts'
import { channelStatus } from '#core/statuses.ts'
import { isAllowedAddress } from '#features/client-address/service.ts'
import type { ChannelRow } from './cache/channel-table.ts'
import type { Caller, RelayServices } from './call.ts'

/** Row 13: the caller's address. */
export function admitAddress(caller: Caller, ip: string): void {
  const entries = caller.token?.allowIps ?? ''
  if (entries !== '' && !isAllowedAddress(ip, entries)) throw new DomainError('relay.ip_forbidden')
}

/** Rows 15 and 16: the group the call runs in. */
export function admitGroup(services: RelayServices, caller: Caller): string {
  const { group, user } = caller
  if (group === '') return user.group
  if (group !== user.group && !Object.hasOwn(services.options.get('UserUsableGroups'), group)) {
    throw new DomainError('relay.group_forbidden', { group })
  }
  if (!Object.hasOwn(services.options.get('GroupRatio'), group))
    throw new DomainError('relay.group_disabled', { group })
  return group
}

/** Rows 17 and 18: the channel a key's suffix names. */
export function admitPin(services: RelayServices, caller: Caller): ChannelRow | null {
  if (caller.pinnedChannelId === null) return null
  const channel = services.channels.channel(caller.pinnedChannelId)
  if (!channel) throw new DomainError('relay.pinned_channel_invalid')
  if (channel.status !== channelStatus.enabled) throw new DomainError('relay.pinned_channel_disabled')
  return channel
}

/** Rows 19 and 20: the models a token may use, by the name the caller wrote or that name without a channel prefix. */
export function admitModel(services: RelayServices, caller: Caller, wish: { group: string; model: string }): void {
  const limits = caller.token?.modelLimits
  if (!limits) return
  if (limits.size === 0) throw new DomainError('relay.model_none_allowed')
  if (limits.has(wish.model)) return
  const prefix = services.channels.prefixesOf(wish.group).find((known) => wish.model.startsWith(known))
  if (prefix !== undefined && limits.has(wish.model.slice(prefix.length))) return
  throw new DomainError('relay.model_forbidden', { model: wish.model })
}
