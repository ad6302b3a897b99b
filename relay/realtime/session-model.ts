import { DomainError } from '#core/errors.ts'
import { type Json, recordOf } from '#relay/providers/shared/json.ts'
import type { Session } from './call.ts'
import type { Frame } from './pump.ts'

/**
 * An update of the session names the model that it was opened with, whose price holds, or none. The caller's name for it becomes
 * the upstream's.
 * @throws {DomainError} relay.body_invalid for another model
 */
export function keepModel({ call, plan }: Session, event: Json, frame: Frame): Frame {
  const update = event['type'] === 'session.update' ? recordOf(event['session']) : undefined
  const named = update?.['model']
  const { model, upstreamModel } = plan.attempt
  if (named === undefined || named === null || named === upstreamModel) return frame
  if (named !== model && named !== call.model && named !== call.req.query['model']) {
    throw new DomainError('relay.body_invalid', { detail: 'the model of a session cannot be changed' })
  }
  return { ...frame, data: Buffer.from(JSON.stringify({ ...event, session: { ...update, model: upstreamModel } })) }
}
