import { DomainError } from '#core/errors.ts'
import { type Json, recordOf, textOf } from '#relay/providers/shared/json.ts'
import { updatesSession } from './event-types.ts'
import { transcriberOf } from './transcription.ts'

const refused = (detail: string): DomainError => new DomainError('relay.body_invalid', { detail })

/** The one model of a session, by each name that its caller may have for it, and as its upstream knows it. */
type Transcriber = { names: readonly string[]; upstreamModel: string }

/**
 * An event of a session that only transcribes. Its model is the one that it was opened with, by whatever name the caller has for it, and
 * becomes the upstream's; nothing else of such a session is paid for.
 * @throws {DomainError} relay.body_invalid for another model or none, another kind of session, and what asks for an answer
 */
export function keepTranscriber({ names, upstreamModel }: Transcriber, event: Json): Json {
  const type = textOf(event['type']) ?? ''
  if (type.startsWith('response.') || type === 'conversation.item.create')
    throw refused('a transcription session has no conversation and gives no responses')
  const update = updatesSession.has(type) ? recordOf(event['session']) : undefined
  if (!update) return event
  if (update['type'] !== undefined && update['type'] !== 'transcription')
    throw refused('the type of a transcription session cannot be changed')
  const nameOf = (named: unknown): string => {
    if (!names.some((name) => name === named)) throw refused('the model of a session cannot be changed')
    return upstreamModel
  }
  /** Without a model the upstream might take its usual one. */
  const named = (value: unknown): unknown => {
    const transcription = recordOf(value)
    if (!transcription) throw refused('transcription must be an object')
    const { model: own = names[0] } = transcription
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

/**
 * The model that a session is to be opened with; undefined for sound, which may come before its name.
 * @throws {DomainError} relay.body_invalid for anything else, and for what the session would refuse
 */
export function transcriberNamed(event: Json): string | undefined {
  if (event['type'] === 'input_audio_buffer.append') return undefined
  const update = updatesSession.has(event['type']) ? recordOf(event['session']) : undefined
  const model = transcriberOf(update ?? {})
  if (model === undefined)
    throw refused('a transcription session names its model in its first session.update, before anything but audio')
  keepTranscriber({ names: [model], upstreamModel: model }, event)
  return model
}
