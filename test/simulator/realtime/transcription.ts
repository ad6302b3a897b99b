import { has } from '../directives.ts'
import { asObject, asText, type Json } from '../prompt.ts'
import type { SessionInput } from './conversation.ts'
import { audioInputOf, transcriberIn, transcriptionUsage } from './wire.ts'

/** The vendor's side of a session that only transcribes. Models called `live` write before anything is committed. */
export function transcribe({ socket, directives, beta, nextId, passGate }: SessionInput): void {
  const word = beta ? 'transcription_session' : 'session'
  let session: Json = {
    id: nextId('sess_'),
    object: 'realtime.transcription_session',
    ...(beta ? {} : { type: 'transcription' }),
  }
  let bytes = 0
  /** All that was ever sent, in milliseconds. */
  let clock = 0
  let item = ''
  let isSpeaking = false
  const say = (type: string, fields: Json): void =>
    socket.send(JSON.stringify({ type, event_id: nextId('event_'), ...fields }))
  const refuse = (code: string, message: string): void =>
    say('error', { error: { type: 'invalid_request_error', code, message } })
  const write = (): void =>
    say('conversation.item.input_audio_transcription.delta', { item_id: item, content_index: 0, delta: 'words' })
  const nameItem = (): void => void (item ||= nextId('item_'))

  const commit = async (): Promise<void> => {
    if (bytes === 0) return refuse('input_audio_buffer_commit_empty', 'The buffer is empty.')
    nameItem()
    const model = transcriberIn(session)
    const ended = { item_id: item, content_index: 0, transcript: 'words' }
    const usage = transcriptionUsage(model, bytes, directives)
    say('input_audio_buffer.committed', { previous_item_id: null, item_id: item })
    if (!model.includes('live')) write()
    bytes = 0
    item = ''
    if (has(directives, 'gate')) await passGate(directives.gate ?? '')
    say('conversation.item.input_audio_transcription.completed', { ...ended, ...(usage ? { usage } : {}) })
  }
  const receiveAudio = (samples: Buffer): void => {
    const isLoud = samples.some((byte) => byte !== 0)
    const detects = Object.keys(asObject(audioInputOf(session)['turn_detection'])).length > 0
    if (detects && !isLoud && !isSpeaking) bytes = 0
    if (detects && isLoud && !isSpeaking) {
      nameItem()
      say('input_audio_buffer.speech_started', { audio_start_ms: clock, item_id: item })
    }
    if (detects && isSpeaking && !isLoud)
      say('input_audio_buffer.speech_stopped', { audio_end_ms: clock, item_id: item })
    const ends = detects && isSpeaking && !isLoud
    isSpeaking = isLoud
    clock += samples.length / 48
    if (ends) return void commit()
    if (isLoud || !detects) bytes += samples.length
    if (!transcriberIn(session).includes('live')) return
    nameItem()
    write()
  }

  socket.on('message', (data: Buffer) => {
    const event = asObject(JSON.parse(data.toString()))
    switch (event['type']) {
      case 'session.update':
      case 'transcription_session.update': {
        const update = asObject(event['session'])
        if (!beta && update['type'] !== 'transcription')
          return refuse(
            'invalid_parameter',
            'Passing a realtime session update event to a transcription session is not allowed.',
          )
        session = { ...session, ...update }
        return say(`${word}.updated`, { session })
      }
      case 'input_audio_buffer.append':
        return receiveAudio(Buffer.from(asText(event['audio']), 'base64'))
      case 'input_audio_buffer.commit':
        return void commit()
      case 'input_audio_buffer.clear':
        bytes = 0
        item = ''
        return say('input_audio_buffer.cleared', {})
      default:
        return refuse('invalid_value', `Invalid value: '${asText(event['type'])}'.`)
    }
  })
  say(`${word}.created`, { session })
}
