import { DomainError } from '#core/errors.ts'
import { channelStatus } from '#core/statuses.ts'
import type { Attempt, RelayServices } from '#relay/request/call.ts'
import type { Selection } from '#relay/routing/select.ts'

type Place = Pick<Attempt, 'channel' | 'key'>

const refusals = {
  drawing: { missing: 'drawing.channel_unreadable', disabled: 'drawing.channel_disabled' },
  music: { missing: 'music.channel_unknown', disabled: 'music.channel_disabled' },
} as const

/**
 * The channel and key a task was submitted with, for only there is it known.
 * @throws {DomainError} when the channel has gone or is switched off.
 */
export function placeOfTask(
  services: RelayServices,
  kind: keyof typeof refusals,
  task: { channelId: number; keyHmac: string },
): Place {
  const channel = services.channels.channel(task.channelId)
  if (!channel) throw new DomainError(refusals[kind].missing)
  const usable = channel.keys.filter((key) => key.enabled)
  const key = usable.find(({ value }) => services.secrets.hmac(value) === task.keyHmac) ?? usable[0]
  if (channel.status !== channelStatus.enabled || !key) throw new DomainError(refusals[kind].disabled)
  return { channel, key }
}

/** That place, once: what follows a task is tried nowhere else. */
export const onlyThere = (place: Place, model: string): Selection => ({
  next: () => ({ ...place, model, upstreamModel: model, mapped: false }),
  nextPlace: () => null,
})
