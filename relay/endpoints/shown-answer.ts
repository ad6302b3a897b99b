import { maskJson } from '#core/masking/mask-secrets.ts'
import { callerError } from '#relay/attempt/failure.ts'
import { hidesFailures, shapeFailure } from '#relay/attempt/shape-failure.ts'
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
  const { code, message } = toErrorFields(callerError(shapeFailure(services, attempt.channel, failure), call))
  return maskJson(withValueAt(text, ['error'], { code, message }), secrets)
}
