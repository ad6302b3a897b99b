import { DomainError } from '#core/errors.ts'
import { type Json, recordOf, textOf } from '#relay/providers/shared/json.ts'
import type { Session } from './call.ts'
import { updatesSession } from './event-types.ts'

const refused = (detail: string): DomainError => new DomainError('relay.body_invalid', { detail })

/**
 * An event of a session that only transcribes. Its model is the one that it was opened with, by whatever name the caller has for it, and
 * becomes the upstream's; nothing else of such a session is paid for.
 * @throws {DomainError} relay.body_invalid for another model, another kind of session, and what asks for an answer
 */
export function keepTranscriber({ call, plan }: Pick<Session, 'call' | 'plan'>, event: Json): Json {
  const type = textOf(event['type']) ?? ''
  if (type.startsWith('response.') || type === 'conversation.item.create')
    throw refused('a transcription session has no conversation and gives no responses')
  const update = updatesSession.has(type) ? recordOf(event['session']) : undefined
  if (!update) return event
  if (update['type'] !== undefined && update['type'] !== 'transcription')
    throw refused('the type of a transcription session cannot be changed')
  const { model, upstreamModel } = plan.attempt
  const nameOf = (named: unknown): string => {
    if (named !== upstreamModel && named !== model && named !== call.model)
      throw refused('the model of a session cannot be changed')
    return upstreamModel
  }
  /** Without a model the upstream might take its usual one. */
  const named = (value: unknown): unknown => {
    if (value === undefined || value === null) return value
    const transcription = recordOf(value)
    if (!transcription) throw refused('transcription must be an object')
    const { model: own = upstreamModel } = transcription
    return { ...transcription, model: nameOf(own) }
  }
  const updated = { ...update }
  if (updated['model'] !== undefined) updated['model'] = nameOf(updated['model'])
  if (updated['input_audio_transcription'] !== undefined)
    updated['input_audio_transcription'] = named(updated['input_audio_transcription'])
  const audio = recordOf(updated['audio'])
  const input = recordOf(audio?.['input'])
  if (input && input['transcription'] !== undefined)
    updated['audio'] = { ...audio, input: { ...input, transcription: named(input['transcription']) } }
  return { ...event, session: updated }
}
