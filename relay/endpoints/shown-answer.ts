import { maskJson } from '#core/masking/mask-secrets.ts'
import { hidesFailures } from '#core/options/hides-failures.ts'
import { shownError } from '#relay/attempt/shape-failure.ts'
import { attemptSecrets } from '#relay/attempt/upstream-channel.ts'
import { withValueAt } from '#relay/chat/text-at.ts'
import { toErrorFields } from '#relay/dialects/openai-responses/error.ts'
import { refusalOf } from '#relay/providers/shared/failures.ts'
import { tryRecord } from '#relay/providers/shared/json.ts'
import type { Attempt, CallCore, RelayServices } from '#relay/request/call.ts'

type Answered = { call: CallCore; attempt: Pick<Attempt, 'channel' | 'key'>; token: string | undefined }

/** What an upstream keeps, as its maker reads it: a failed response like any other failure, without secrets. */
export function shownAnswer(services: RelayServices, { call, attempt, token }: Answered, text: string): string {
  const answer = tryRecord(text)
  const failure = answer ? refusalOf(answer) : undefined
  if (answer && !failure && answer['status'] !== 'failed') return text
  const secrets = attemptSecrets(attempt, { token })
  if (!failure || !hidesFailures(services)) return maskJson(text, secrets)
  const { code, message } = toErrorFields(shownError(services, { place: attempt, token, reader: call }, failure))
  // What has no error of its own is nothing but a failure.
  const shown = answer?.['error']
    ? withValueAt(text, ['error'], { code, message })
    : JSON.stringify({ error: { code, message } })
  return maskJson(shown, secrets)
}
