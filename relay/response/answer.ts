import type { Answered, Delivered } from './delivered.ts'
import { DomainError } from '#core/errors.ts'
import type { MeasuredUsage } from '#core/usage.ts'
import { isCount, normaliseUsage } from '#core/usage.ts'
import { MalformedUpstream } from '#relay/chat/events.ts'
import type { ChatRequest } from '#relay/chat/request.ts'
import { countDelivered, countPrompt, estimateUsage } from '#relay/counting/estimate-usage.ts'
import { UpstreamRefusal } from '#relay/providers/types.ts'
import { inlineMedia } from '#relay/attempt/inline-media.ts'
import { TransportError } from '#relay/transport/transport-error.ts'
import type { RelayServices } from '#relay/request/call.ts'
import { AttemptFailed, failureOfDomainError } from '#relay/attempt/failure.ts'
import type { AttemptContext } from '#relay/attempt/attempt-context.ts'

/**
 * The usage to charge: the upstream's own where it is believable, else counted here over the request as it was sent.
 * `delivered` is only decoded when it has to be counted.
 */
export async function measure(
  { services, sent, attempt }: Pick<AttemptContext, 'services' | 'sent' | 'attempt'>,
  { usage: reported = {}, delivered, cut = false }: Answered,
): Promise<MeasuredUsage> {
  const { count } = services.counter
  const { upstreamModel } = attempt
  const { usage, reported: isReported, corrected } = normaliseUsage(reported)
  const request = isCount(reported.promptTokens) ? sent.request : await withImages(services, sent.request)
  if (!isReported) {
    const counted = await estimateUsage({ request, delivered: delivered(), model: upstreamModel, count })
    const { webSearchCalls, fileSearchCalls } = usage
    return { usage: { ...counted, webSearchCalls, fileSearchCalls }, source: 'estimated', corrected }
  }
  let { promptTokens, completionTokens } = usage
  if (!isCount(reported.promptTokens)) promptTokens = await countPrompt(request, upstreamModel, count)
  if (cut || !isCount(reported.completionTokens)) {
    completionTokens = Math.max(completionTokens, await countDelivered(delivered(), upstreamModel, count))
  }
  const isCounted = promptTokens !== usage.promptTokens || completionTokens !== usage.completionTokens
  const measured = { ...usage, promptTokens, completionTokens }
  return { usage: measured, source: isCounted ? 'estimated' : 'upstream', corrected }
}

const longestImageWaitMs = 5000

/** A picture costs by its size, so it has to be at hand to be counted; one that cannot be had costs the usual. */
const withImages = (services: RelayServices, request: ChatRequest): Promise<ChatRequest> =>
  inlineMedia(request, {
    fetchMedia: services.media,
    keepsAddress: (part) => part.type !== 'image' || part.detail === 'low',
    signal: AbortSignal.timeout(longestImageWaitMs),
  }).catch(() => request)

/** The caller went before anything came. */
export const nothingDelivered = { usage: undefined, delivered: (): Delivered => ({ text: '', toolCalls: 0 }) }

/** Whatever went wrong between us and an answer, as a failed attempt. */
export function asAttemptFailure(error: unknown): AttemptFailed {
  if (error instanceof AttemptFailed) return error
  if (error instanceof UpstreamRefusal) return new AttemptFailed(error.failure, { local: false, cause: error })
  if (error instanceof MalformedUpstream) {
    return new AttemptFailed(failureOfDomainError(new DomainError('relay.reply_malformed')), {
      local: false,
      cause: error,
    })
  }
  if (error instanceof TransportError) {
    return new AttemptFailed(failureOfDomainError(transportRefusal(error)), {
      local: false,
      connection: true,
      cause: error,
    })
  }
  throw error
}

/** The request never reached a connection, so the upstream cannot have seen it. */
export const isUnsent = (error: unknown): boolean => error instanceof TransportError && !error.sent

function transportRefusal(error: TransportError): DomainError {
  switch (error.kind) {
    case 'timeout-connect':
    case 'timeout-first-byte':
    case 'timeout-idle':
      return new DomainError('relay.timeout', {}, { cause: error })
    case 'too-large':
    case 'bad-response':
      return new DomainError('relay.reply_unreadable', {}, { cause: error })
    default:
      return new DomainError('relay.connection_failed', {}, { cause: error })
  }
}
