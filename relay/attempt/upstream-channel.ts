import type { ChannelSecrets } from '#core/masking/secret-parts.ts'
import type { ProviderCall } from '#relay/providers/types.ts'
import type { Attempt, CallCore, RelayServices } from '#relay/request/call.ts'
import { toProviderCall } from '#relay/upstream-call/provider-call.ts'
import { secretsOf, toUpstreamChannel, type UpstreamChannel } from '#relay/upstream-call/channel.ts'

type Place = Pick<Attempt, 'channel' | 'key'>

export const upstreamChannelOf = ({ channel, key }: Place): UpstreamChannel => toUpstreamChannel(channel, key.value)

/** What no caller and no log may learn of the place that a call was sent to. */
export const attemptSecrets = (place: Place, call?: { token?: string | undefined }): ChannelSecrets =>
  secretsOf(upstreamChannelOf(place), call?.token)

/** Callers who want no prompt of theirs marked for a vendor's cache say `off` here. */
const cachingHeader = 'x-prompt-caching'

/** Whether prompts of callers who cannot ask for a vendor's cache are marked for it: unless the channel or the caller says no. */
export const marksPrompts = (
  { req }: Pick<CallCore, 'req'>,
  { setting }: Pick<Attempt['channel'], 'setting'>,
): boolean => setting['prompt_caching'] !== false && req.headers[cachingHeader] !== 'off'

/** What a provider may know of a caller's call. */
export function providerCallOf(
  services: RelayServices,
  call: CallCore,
  { attempt, stream }: { attempt: Attempt; stream: boolean },
): ProviderCall {
  const { headers } = call.req
  return toProviderCall(services, upstreamChannelOf(attempt), {
    model: attempt.upstreamModel,
    originalModel: call.model,
    stream,
    marksPrompts: marksPrompts(call, attempt.channel),
    callerHeaders: {
      'anthropic-version': headerText(headers['anthropic-version']),
      'anthropic-beta': headerText(headers['anthropic-beta']),
    },
    query: textsOfQuery(call.req),
  })
}

/** Nearly no call has any, and looking for them means taking its address apart. */
const textsOfQuery = (req: CallCore['req']): Record<string, string> =>
  req.url.includes('?')
    ? (Object.fromEntries(Object.entries(req.query).filter(([, value]) => typeof value === 'string')) as Record<
        string,
        string
      >)
    : {}

const headerText = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value.join(',') : value
