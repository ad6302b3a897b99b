import { maskJson, maskSecrets } from '#core/masking/mask-secrets.ts'
import { callerError } from '#relay/attempt/failure.ts'
import { hidesFailures } from '#core/options/hides-failures.ts'
import { shapeFailure } from '#relay/attempt/shape-failure.ts'
import { attemptSecrets } from '#relay/attempt/upstream-channel.ts'
import { toOpenAiError } from '#relay/dialects/openai-chat/error.ts'
import { failureOf, statusOfError } from '#relay/providers/shared/failures.ts'
import { type Json, recordOf } from '#relay/providers/shared/json.ts'
import type { Session } from './call.ts'
import type { Frame } from './pump.ts'

type Asked = Pick<Session, 'services' | 'call' | 'plan'>

const isGiven = (error: unknown): boolean => error !== undefined && error !== null

/** Only a failure quotes what an upstream was sent; everything else goes through unread. */
function reportsFailure(event: Json): boolean {
  const response = recordOf(event['response'])
  return (
    event['type'] === 'error' ||
    isGiven(event['error']) ||
    response?.['status'] === 'failed' ||
    isGiven(response?.['error']) ||
    isGiven(recordOf(response?.['status_details'])?.['error'])
  )
}

/** An upstream's event as its caller reads it: a failure without secrets, and without its words where they are hidden. */
export function shownEvent(session: Asked, event: Json, frame: Frame): Frame {
  if (!reportsFailure(event)) return frame
  const text = hidesFailures(session.services)
    ? JSON.stringify(withoutWords(session, event))
    : frame.data.toString('utf8')
  return { ...frame, data: Buffer.from(maskJson(text, attemptSecrets(session.plan.attempt))) }
}

/** Why the upstream left, as the caller reads it. */
export const shownReason = ({ services, plan }: Asked, reason: string): string =>
  hidesFailures(services) ? '' : maskSecrets(reason, attemptSecrets(plan.attempt))

/** Fields beside an error, or in its place, in which upstreams say what went wrong. */
const wordNames: ReadonlySet<string> = new Set(
  'code detail details error_code error_message error_msg errors message messages msg param reason warnings'.split(' '),
)

const withoutWordFields = (record: Json): Json =>
  Object.fromEntries(Object.entries(record).filter(([name]) => !wordNames.has(name)))

function withoutWords(session: Asked, event: Json): Json {
  const { type, event_id: id, error } = event
  if (type === 'error')
    return { type, event_id: id, error: hiddenError(session, recordOf(error) ?? { ...event, type: '' }) }
  const response = recordOf(event['response'])
  return {
    ...withoutWordFields(event),
    ...(isGiven(error) ? { error: hiddenError(session, recordOf(error) ?? {}) } : {}),
    ...(response ? { response: withoutWordsOf(session, response) } : {}),
  }
}

function withoutWordsOf(session: Asked, response: Json): Json {
  const { status, error } = response
  const details = recordOf(response['status_details'])
  const reported = recordOf(details?.['error'])
  return {
    ...withoutWordFields(response),
    ...(isGiven(error) ? { error: hiddenError(session, recordOf(error) ?? {}) } : {}),
    ...(status === 'failed' || isGiven(details?.['error'])
      ? { status_details: { type: details?.['type'] ?? status, error: hiddenError(session, reported ?? {}) } }
      : {}),
  }
}

/** By the name of its own event a caller knows what failed. */
function hiddenError({ services, call, plan }: Asked, error: Json): Json {
  const failure = failureOf(statusOfError(error), { error })
  const shown = toOpenAiError(callerError(shapeFailure(services, plan.attempt.channel, failure), call))
  return { ...shown, ...(typeof error['event_id'] === 'string' ? { event_id: error['event_id'] } : {}) }
}
