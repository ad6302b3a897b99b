import { DomainError } from '#core/errors.ts'
import { type Json, recordOf, recordsOf, tryRecord, wordOf } from '#relay/providers/shared/json.ts'
import { admitBeside } from '#relay/request/admit.ts'
import { plainName } from '#relay/request/read-body.ts'
import type { Session } from './call.ts'
import { updatesSession } from './event-types.ts'
import type { Frame } from './pump.ts'
import { transcriberOf } from './transcription.ts'
import { keepTranscriber } from './transcription-update.ts'

/**
 * An update of the session names the model that it was opened with, whose price holds, or none. The caller's name for it becomes
 * the upstream's. A model that is to transcribe the input has to be one of the token's.
 * @throws {DomainError} relay.body_invalid for another model and for audio in binary frames, relay.model_name_too_long, relay.model_forbidden
 */
export function keepModel(session: Session, event: Json, message: Frame): Frame {
  const { services, call, plan } = session
  // What is sent is what was read: a name that stands twice is not read alike by everybody.
  const frameOf = (sent: Json): Frame => ({ ...message, data: Buffer.from(JSON.stringify(sent)) })
  const { model, upstreamModel } = plan.attempt
  refuseBinaryAudio(event)
  if (session.transcribes)
    return frameOf(keepTranscriber({ names: [upstreamModel, model, call.model], upstreamModel }, event))
  if (updatesSession.has(event['type'])) admitTranscriber({ services, call }, recordOf(event['session']) ?? {})
  const update = event['type'] === 'session.update' ? recordOf(event['session']) : undefined
  const named = update?.['model']
  if (named === undefined || named === null || named === upstreamModel) return frameOf(event)
  if (named !== model && named !== call.model && named !== call.req.query['model']) {
    throw new DomainError('relay.body_invalid', { detail: 'the model of a session cannot be changed' })
  }
  return frameOf({ ...event, session: { ...update, model: upstreamModel } })
}

function admitTranscriber({ services, call }: Pick<Session, 'services' | 'call'>, update: Json): void {
  const transcriber = transcriberOf(update)
  if (transcriber !== undefined && transcriber !== call.model) admitBeside(services, call, transcriber)
}

/** Audio is counted in the events that bring it; in binary frames, which xAI offers, nobody would count it. */
export function refuseBinaryAudio(event: Json): void {
  const sides = [event['session'], event['response']].flatMap((asked) => {
    const audio = recordOf(recordOf(asked)?.['audio']) ?? {}
    return [audio, recordOf(audio['input']), recordOf(audio['output'])]
  })
  if (!sides.some((side) => wordOf(side?.['transport'])?.toLowerCase() === 'binary')) return
  throw new DomainError('relay.body_invalid', {
    detail: 'audio transport "binary" is not supported: audio is sent and received in events, as base64',
  })
}

/** What a session is charged and admitted by. */
const readNames: ReadonlySet<string> = new Set([
  'type',
  'event_id',
  'session',
  'response',
  'item',
  'audio',
  'model',
  'instructions',
  'prompt',
  'tools',
  'modalities',
  'output_modalities',
  'input',
  'output',
  'transcription',
  'input_audio_transcription',
  'input_audio_format',
  'output_audio_format',
  'format',
  'transport',
  'rate',
  'content',
  'text',
  'role',
  'conversation',
  'image_url',
  'detail',
])

/**
 * A caller's event as every upstream reads it, without names that some take for those that are read here.
 * @throws {DomainError} relay.body_invalid for what is no strict JSON
 */
export function readCallerEvent({ data }: Frame): Json {
  const event = tryRecord(data.toString('utf8'))
  if (!event) throw new DomainError('relay.body_invalid', { detail: 'an event must be a JSON object' })
  dropLookalikes(event)
  return event
}

function dropLookalikes(json: Json, isTool = false): void {
  for (const [name, value] of Object.entries(json)) {
    const plain = plainName(name)
    if (plain !== name && readNames.has(plain)) delete json[name]
    // Tools name parameters as they like.
    else if (readNames.has(name) && !isTool) {
      for (const record of Array.isArray(value) ? recordsOf(value) : [recordOf(value)])
        if (record) dropLookalikes(record, name === 'tools')
    }
  }
}
