import type { ChannelSecrets } from '#core/masking/secret-parts.ts'
import type { Attempt } from '#relay/request/call.ts'
import { secretsOf, toUpstreamChannel, type UpstreamChannel } from '#relay/upstream-call/channel.ts'

type Place = Pick<Attempt, 'channel' | 'key'>

export const upstreamChannelOf = ({ channel, key }: Place): UpstreamChannel => toUpstreamChannel(channel, key.value)

/** What no caller and no log may learn of the place that a call was sent to. */
export const attemptSecrets = (place: Place, call?: { token?: string | undefined }): ChannelSecrets =>
  secretsOf(upstreamChannelOf(place), call?.token)
