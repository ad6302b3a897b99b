import { DomainError } from '#core/errors.ts'
import { type Json, recordOf } from '#relay/providers/shared/json.ts'
import { admitBeside } from '#relay/request/admit.ts'
import type { Session } from './call.ts'
import type { Frame } from './pump.ts'
import { transcriberOf } from './transcription.ts'

/**
 * An update of the session names the model that it was opened with, whose price holds, or none. The caller's name for it becomes
 * the upstream's. A model that is to transcribe the input has to be one of the token's.
 * @throws {DomainError} relay.body_invalid for another model, relay.model_name_too_long, relay.model_forbidden
 */
export function keepModel({ services, call, plan }: Session, event: Json, frame: Frame): Frame {
  if (updatesSession.has(event['type'])) admitTranscriber({ services, call }, recordOf(event['session']) ?? {})
  const update = event['type'] === 'session.update' ? recordOf(event['session']) : undefined
  const named = update?.['model']
  const { model, upstreamModel } = plan.attempt
  if (named === undefined || named === null || named === upstreamModel) return frame
  if (named !== model && named !== call.model && named !== call.req.query['model']) {
    throw new DomainError('relay.body_invalid', { detail: 'the model of a session cannot be changed' })
  }
  return { ...frame, data: Buffer.from(JSON.stringify({ ...event, session: { ...update, model: upstreamModel } })) }
}

const updatesSession: ReadonlySet<unknown> = new Set(['session.update', 'transcription_session.update'])

function admitTranscriber({ services, call }: Pick<Session, 'services' | 'call'>, update: Json): void {
  const transcriber = transcriberOf(update)
  if (transcriber !== undefined && transcriber !== call.model) admitBeside(services, call, transcriber)
}
