export const textParts = new Set([
  'response.text.delta',
  'response.output_text.delta',
  'response.audio_transcript.delta',
  'response.output_audio_transcript.delta',
  'response.function_call_arguments.delta',
])
export const audioParts = new Set(['response.audio.delta', 'response.output_audio.delta'])
export const itemsAdded = new Set(['conversation.item.created', 'conversation.item.added'])

/** By these the upstream says what holds for the session, which the older form of a transcription calls otherwise. */
export const sessionStates: ReadonlySet<string> = new Set(
  ['session', 'transcription_session'].flatMap((name) => [`${name}.created`, `${name}.updated`]),
)

/** By these a caller says what holds for the session. */
export const updatesSession: ReadonlySet<unknown> = new Set(['session.update', 'transcription_session.update'])
