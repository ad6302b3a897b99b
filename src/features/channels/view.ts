import { hideProxyPassword } from '#core/proxy-setting.ts'
import { splitList } from '#core/routing/abilities.ts'
import { roles } from '#core/roles.ts'
import type { Channel } from '#db/entities/channel.ts'
import type { ChannelDrift } from '#db/entities/channel-drift.ts'
import type { ChannelKey } from '#db/entities/channel-key.ts'
import type { ChannelProbe } from '#db/entities/channel-probe.ts'

/** A channel without its key and its proxy's password. */
export const toChannelView = (channel: Omit<Channel, 'proxyEncrypted'>) => ({
  id: channel.id,
  type: channel.type,
  name: channel.name,
  status: channel.status,
  statusReason: channel.statusReason,
  statusAt: channel.statusAt,
  openaiOrganization: channel.openaiOrganization,
  testModel: channel.testModel,
  maxInputTokens: channel.maxInputTokens,
  baseUrl: channel.baseUrl,
  other: channel.other,
  models: splitList(channel.models),
  groups: splitList(channel.group),
  modelPrefix: channel.modelPrefix,
  tag: channel.tag,
  modelMapping: channel.modelMapping,
  statusCodeMapping: channel.statusCodeMapping,
  setting: hideProxyPassword(channel.setting),
  paramOverride: channel.paramOverride,
  systemPrompt: channel.systemPrompt,
  priority: channel.priority,
  weight: channel.weight,
  autoBan: channel.autoBan,
  usedQuota: channel.usedQuota,
  /** Billionths of a dollar, as far as buying prices are known. */
  usedCost: Number(channel.usedCost),
  hasBuyingPrices: channel.buyingPrices.length > 0,
  balance: Number(channel.balance),
  balanceCurrency: channel.balanceCurrency ?? null,
  balanceUpdatedAt: channel.balanceUpdatedAt,
  responseTimeMs: channel.responseTimeMs,
  testedAt: channel.testedAt,
  createdAt: channel.createdAt,
})

export type ChannelView = ReturnType<typeof toChannelView>

export const toKeyView = (key: ChannelKey) => ({
  position: key.position,
  /** Distinguishes a credential from another that takes its place, and shows nothing of either. */
  fingerprint: key.keyHmac.slice(0, 16),
  status: key.status,
  statusReason: key.statusReason,
  statusAt: key.statusAt,
})

/** One channel with the state of each of its credentials; `key` is "" for everybody but root, who sees the proxy's password as well. */
export const toChannelDetail = (
  channel: Omit<Channel, 'proxyEncrypted'>,
  more: { role: number; key: string; keys: ChannelKey[] },
) => ({
  ...toChannelView(channel),
  ...(more.role >= roles.root && { setting: channel.setting }),
  key: more.role >= roles.root ? more.key : '',
  keys: more.keys.map(toKeyView),
})

export type ChannelDetail = ReturnType<typeof toChannelDetail>

export const toProbeView = (probe: ChannelProbe) => ({
  id: probe.id,
  model: probe.model,
  success: probe.success,
  message: probe.message,
  durationMs: probe.durationMs,
  createdAt: probe.createdAt,
})

export type ProbeView = ReturnType<typeof toProbeView>

/** A kept comparison with the upstream's own list, seen with the models that the channel has now. */
export const toDriftView = (drift: ChannelDrift, models: readonly string[]) => ({
  channelId: drift.channelId,
  added: splitList(drift.added).filter((model) => !models.includes(model)),
  gone: splitList(drift.missing).filter((model) => models.includes(model)),
  problem: drift.problem,
  checkedAt: drift.checkedAt,
})

export type DriftView = ReturnType<typeof toDriftView>
