import { withOverride } from '#core/param-override.ts'
import { cheapTextTokens } from '#relay/counting/cheap-count.ts'
import type { ChannelRow } from '#relay/routing/channel-table.ts'
import type { RelayServices } from '#relay/request/call.ts'
import { passesThrough } from '#relay/upstream-call/channel.ts'
import { billedParts } from './parse.ts'
import type { PlainCall } from './types.ts'

/** The call as this channel's override makes it: what is sent is what is reserved and charged. Forms have no override. */
export function asSent(services: RelayServices, call: PlainCall, channel: ChannelRow): PlainCall {
  const { asked } = call
  const { paramOverride } = channel
  if (paramOverride === null || asked.form !== null || passesThrough(channel.setting, services)) return call
  return { ...call, asked: { ...asked, ...billedParts(asked.operation, withOverride(asked.json, paramOverride)) } }
}

/** What needs no counting, or cannot be counted. */
export const givenTokensOf = ({ asked }: Pick<PlainCall, 'asked'>): number =>
  asked.tokens + (asked.foreign?.media?.tokens ?? 0)

/** By the cheap count. */
export const promptTokensOf = (call: PlainCall): number =>
  call.asked.texts.reduce((sum, text) => sum + cheapTextTokens(text), 1 + givenTokensOf(call))
