import { maskJson, maskSecrets } from '#core/masking/mask-secrets.ts'
import { hidesFailures } from '#core/options/hides-failures.ts'
import { isPlainName, shownError } from '#relay/attempt/shape-failure.ts'
import { attemptSecrets } from '#relay/attempt/upstream-channel.ts'
import { toOpenAiError } from '#relay/dialects/openai-chat/error.ts'
import { errorIn, errorOfFailed } from '#relay/operations/reported-error.ts'
import { failureOfError } from '#relay/providers/shared/failures.ts'
import { type Json, recordOf, textOf } from '#relay/providers/shared/json.ts'
import type { Session } from './call.ts'
import type { Frame } from './pump.ts'

type Asked = Pick<Session, 'services' | 'call' | 'plan'>

const isGiven = (error: unknown): boolean => error !== undefined && error !== null

/** Events that fail are called so, whatever they bring. */
const failedName = /(^|[._])(error|failed)$/i

const failsByName = ({ type }: Json): boolean => failedName.test(textOf(type) ?? '')

/** Only a failure quotes what an upstream was sent; everything else goes through unread. */
function reportsFailure(event: Json): boolean {
  return failsByName(event) || isGiven(event['error']) || errorIn(event) !== undefined || isFailed(event['response'])
}

function isFailed(value: unknown): boolean {
  const response = recordOf(value)
  if (!response) return false
  const { status, error, status_details: details } = response
  return (
    status === 'failed' || isGiven(error) || isGiven(recordOf(details)?.['error']) || errorIn(response) !== undefined
  )
}

/** An upstream's event as its caller reads it: a failure without secrets, and without its words where they are hidden. */
export function shownEvent(session: Asked, event: Json, frame: Frame): Frame {
  // What is no event nobody can hide the words of.
  const isEvent = Object.keys(event).length > 0
  // Sound in binary frames has no words, and would not survive being read as text.
  if (isEvent ? !reportsFailure(event) : frame.isBinary) return frame
  const isHidden = isEvent && hidesFailures(session.services)
  // Written anew a secret has no escapes in it by which it would be missed.
  const text = isEvent ? JSON.stringify(isHidden ? withoutWords(session, event) : event) : frame.data.toString('utf8')
  const masked = maskJson(text, attemptSecrets(session.plan.attempt))
  return isHidden || masked !== text ? { ...frame, data: Buffer.from(masked) } : frame
}

/** Why the upstream left, as the caller reads it. */
export const shownReason = ({ services, plan }: Asked, reason: string): string =>
  hidesFailures(services) ? '' : maskSecrets(reason, attemptSecrets(plan.attempt))

/** Of an event that failed: where in the session it stands. Everything else may be words. */
const placeNames: ReadonlySet<string> = new Set(
  'event_id item_id previous_item_id response_id conversation_id call_id output_index content_index'.split(' '),
)
/** Of a response that failed: what was asked, what it has delivered and what it used. */
const responseNames: ReadonlySet<string> = new Set(
  [
    'id object conversation_id output usage metadata modalities output_modalities audio voice output_audio_format',
    'temperature max_output_tokens max_response_output_tokens',
  ].flatMap((names) => names.split(' ')),
)
const pick = (record: Json, names: ReadonlySet<string>): Json =>
  Object.fromEntries(Object.entries(record).filter(([name]) => names.has(name)))
const plainOr = (value: unknown, otherwise: string): string => {
  const name = textOf(value) ?? ''
  return isPlainName(name) ? name : otherwise
}

function withoutWords(session: Asked, event: Json): Json {
  const response = recordOf(event['response'])
  const failsItself = failsByName(event) || isGiven(event['error']) || errorIn(event) !== undefined
  return {
    type: plainOr(event['type'], 'error'),
    ...pick(event, placeNames),
    ...(failsItself ? { error: hiddenError(session, event) } : {}),
    ...(response ? { response: withoutWordsOf(session, response) } : {}),
  }
}

function withoutWordsOf(session: Asked, response: Json): Json {
  if (!isFailed(response)) return response
  const status = plainOr(response['status'], 'failed')
  const details = recordOf(response['status_details'])
  const isDetailed = isGiven(details?.['error']) || status === 'failed'
  return {
    ...pick(response, responseNames),
    status,
    ...(isGiven(response['error']) || !isDetailed ? { error: hiddenError(session, response) } : {}),
    ...(isDetailed
      ? { status_details: { type: plainOr(details?.['type'], status), error: hiddenError(session, details ?? {}) } }
      : {}),
  }
}

/** By the name of its own event a caller knows what failed. */
function hiddenError({ services, call, plan }: Asked, from: Json): Json {
  const own = recordOf(from['error'])
  const failure = own ? failureOfError(own) : errorOfFailed(from)
  const shown = toOpenAiError(shownError(services, { place: plan.attempt, reader: call }, failure))
  return { ...shown, ...(typeof own?.['event_id'] === 'string' ? { event_id: own['event_id'] } : {}) }
}
