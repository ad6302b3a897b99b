import { overriddenInput, type OutputInput, textsOfOverride } from '#core/param-override.ts'
import { cheapTextTokens, type CheapPromptCount } from '#relay/counting/cheap-count.ts'
import type { Attempt, Call, RelayServices } from '#relay/request/call.ts'
import { systemPromptOf } from '#relay/attempt/channel-body.ts'
import { passesThrough } from '#relay/attempt/sent-body.ts'

/** The prompt and the output to reckon with for the body that this channel sends, which may not be the caller's. */
export function sentEstimate(
  services: RelayServices,
  call: Call,
  { channel }: Pick<Attempt, 'channel'>,
): CheapPromptCount & OutputInput {
  const { maxTokens, choiceCount } = call.request
  const own = { ...call.estimate, maxTokens, choiceCount }
  if (passesThrough(channel.setting, services)) return own
  const added = [systemPromptOf(channel), ...textsOfOverride(channel.paramOverride ?? {})]
  const promptTokens = own.promptTokens + added.reduce((sum, text) => sum + cheapTextTokens(text), 0)
  if (channel.paramOverride === null) return { ...own, promptTokens }
  return { ...own, promptTokens, ...overriddenInput(call.body.json, channel.paramOverride, own) }
}
