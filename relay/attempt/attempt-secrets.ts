import { defaultBaseUrlOf } from '#core/channel-types/index.ts'
import type { ChannelSecrets } from '#core/masking/secret-parts.ts'
import type { Attempt } from '#relay/request/call.ts'
import { proxyOf } from './channel-proxy.ts'

/** What no caller and no log may learn of the place that a call was sent to. */
export const attemptSecrets = (
  { channel, key }: Pick<Attempt, 'channel' | 'key'>,
  call?: { token?: string | undefined },
): ChannelSecrets => ({
  type: channel.type,
  key: key.value,
  baseUrl: channel.baseUrl || defaultBaseUrlOf(channel.type),
  token: call?.token,
  proxy: proxyOf(channel.setting),
})
