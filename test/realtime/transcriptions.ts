import { type Session, startRealtime } from './world.ts'

export const transcriber = 'gpt-4o-transcribe'

/** So many seconds of sound that somebody speaks, as base64. */
export const speech = (seconds: number): string => Buffer.alloc(seconds * 48_000, 1).toString('base64')
export const silence = (seconds: number): string => Buffer.alloc(seconds * 48_000).toString('base64')

export const update = (model: string, input: Record<string, unknown> = {}) => ({
  type: 'session.update',
  session: { type: 'transcription', audio: { input: { turn_detection: null, ...input, transcription: { model } } } },
})

export const append = (session: Session, audio: string): void =>
  session.say({ type: 'input_audio_buffer.append', audio })
export const commit = (session: Session): void => session.say({ type: 'input_audio_buffer.commit' })

export const completed = 'conversation.item.input_audio_transcription.completed'

/** A product whose channels have the models that transcribe, and what opens a session without a model in its address. */
export async function startTranscriptions(environment: Record<string, string> = {}) {
  const world = await startRealtime('', environment)
  const { app } = world
  await app.make.channel({ models: `${transcriber},whisper-1`, baseUrl: app.upstream.url })
  await app.make.option('SelfUseModeEnabled', 'true')
  await app.services.options.reload()
  await app.settled()
  const transcribe = (more: Parameters<typeof world.openSession>[0] = {}) =>
    world.openSession({ model: null, query: 'intent=transcription', ...more })
  return { ...world, transcribe }
}
