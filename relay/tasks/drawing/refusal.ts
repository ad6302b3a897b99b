import { submitCode } from '#core/tasks/drawing.ts'
import { maskSecrets } from '#core/masking/mask-secrets.ts'
import { hidesFailures } from '#core/options/hides-failures.ts'
import { shownError } from '#relay/attempt/shape-failure.ts'
import { attemptSecrets } from '#relay/attempt/upstream-channel.ts'
import { drawingError } from '#relay/dialects/drawing/error.ts'
import type { Attempt, Incoming, RelayServices } from '#relay/request/call.ts'

type Refused = { status: number; code: number; text: string }

/**
 * What a drawing service answers where it does not do what it is asked, as the caller reads it: without secrets, and where an
 * operator hides what upstreams say, with status and code alone. Programs tell by the code what was refused.
 */
export function shownRefusal(
  services: RelayServices,
  { incoming, place }: { incoming: Pick<Incoming, 'id' | 'language'>; place: Pick<Attempt, 'channel' | 'key'> },
  { status, code, text }: Refused,
): string {
  if (!hidesFailures(services)) return maskSecrets(text, attemptSecrets(place))
  const { message } = shownError(services, { place, reader: incoming }, { status, type: '', code, message: '' })
  const description = status < 400 ? `upstream returned code ${code}` : message
  return JSON.stringify(drawingError({ status, description, code: code || submitCode.failed }).body)
}
