import { parseJson } from '#core/exact-json.ts'
import { maskJson, maskSecrets } from '#core/masking/mask-secrets.ts'
import type { ChannelSecrets } from '#core/masking/secret-parts.ts'
import type { UpstreamFailure } from '#relay/chat/events.ts'

/** A failure in whose every word the upstream may quote what it was sent, without the secrets of its channel. */
export function maskFailure(failure: UpstreamFailure, held: ChannelSecrets): UpstreamFailure {
  const masked = (text: string): string => maskSecrets(text, held)
  const maskedCode = (code: UpstreamFailure['code']) => (typeof code === 'string' ? masked(code) : code)
  const { type, code, message, param, original, received, details } = failure
  return {
    ...failure,
    type: masked(type),
    code: maskedCode(code),
    message: masked(message),
    ...(typeof param === 'string' ? { param: masked(param) } : {}),
    ...(typeof received?.param === 'string' ? { received: { ...received, param: masked(received.param) } } : {}),
    ...(details ? { details: parseJson(maskJson(JSON.stringify(details), held)) as typeof details } : {}),
    ...(original
      ? {
          original: { type: masked(original.type), code: maskedCode(original.code), message: masked(original.message) },
        }
      : {}),
  }
}
