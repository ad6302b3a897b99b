import type { StoredBatch } from '#features/message-batches/service.ts'
import type { Attempt, RelayServices } from '#relay/request/call.ts'
import { placeStoredAt } from '#relay/routing/stored-responses.ts'

/**
 * The channel and key that made a batch; where that key was replaced, the channel's first that is enabled: batches belong to a
 * workspace of their vendor's, which knows them by any of its keys. Undefined where there is none.
 */
export function placeOfBatch(
  services: RelayServices,
  batch: Pick<StoredBatch, 'channelId' | 'keyHmac'>,
): Pick<Attempt, 'channel' | 'key'> | undefined {
  const made = placeStoredAt(services, batch)
  if (made) return made
  const channel = services.channels.channel(batch.channelId)
  const key = channel?.keys.find(({ enabled }) => enabled)
  return channel && key && { channel, key }
}
