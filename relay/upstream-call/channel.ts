import type { Ambient } from '#core/ambient.ts'
import { defaultBaseUrlOf } from '#core/channel-types/index.ts'
import { readObject } from '#core/json-object.ts'
import type { ChannelSecrets } from '#core/masking/secret-parts.ts'
import type { OptionsReader } from '#core/options/registry/index.ts'
import { proxyOf } from '#core/proxy-setting.ts'
import { withoutTrailingSlashes } from '#core/trailing.ts'
import type { ProviderChannel } from '#relay/providers/types.ts'
import type { Transport } from '#relay/transport/send.ts'

/** What calls to upstreams are made with. */
export type UpstreamDeps = { transport: Transport; ambient: Ambient; options: OptionsReader }

type Setting = Readonly<Record<string, unknown>>

/** A channel with the key of this call, and its settings: proxy and time limits. */
export type UpstreamChannel = ProviderChannel & { setting: Setting }

type StoredChannel = Pick<ProviderChannel, 'id' | 'type' | 'baseUrl' | 'other' | 'createdAt'> & {
  openaiOrganization: string
  setting: Setting | string
  /** What still is encrypted has to be put into the settings first. */
  proxyEncrypted?: undefined
}

export const toUpstreamChannel = (stored: StoredChannel, key: string): UpstreamChannel => ({
  id: stored.id,
  type: stored.type,
  baseUrl: withoutTrailingSlashes(stored.baseUrl) || defaultBaseUrlOf(stored.type),
  key,
  other: stored.other,
  organization: stored.openaiOrganization,
  createdAt: stored.createdAt,
  setting: typeof stored.setting === 'string' ? (readObject(stored.setting) ?? {}) : stored.setting,
})

/** Bodies go to the channel as their callers wrote them: it neither translates them nor adds anything of its own. */
export const passesThrough = (setting: Setting, { options }: Pick<UpstreamDeps, 'options'>): boolean =>
  setting['pass_through_body_enabled'] === true || options.get('global.pass_through_request_enabled')

/** What no caller and no log may learn of the place that a call is sent to. */
export const secretsOf = (channel: UpstreamChannel, token?: string): ChannelSecrets => ({
  ...secretsBesideAddress(channel, token),
  baseUrl: channel.baseUrl,
})

/** The same for readers who may know the address. */
export const secretsBesideAddress = ({ type, key, setting }: UpstreamChannel, token?: string): ChannelSecrets => ({
  type,
  key,
  token,
  proxy: proxyOf(setting),
})
