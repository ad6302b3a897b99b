import { describe, expect, test } from 'vitest'
import { eventually } from '../relay/caller-dialects.ts'
import { append, commit, completed, speech, startTranscriptions, transcriber, update } from './transcriptions.ts'
import { errorOf, type Session } from './world.ts'

const { app, transcribe } = await startTranscriptions()

const soon = { timeout: 60_000 }
const upstreamEvents = () => app.upstream.requests.at(-1)?.body as { type: string }[]

async function finish(session: Session) {
  session.socket.close()
  await session.closed
}

describe('before a session is named', () => {
  test.each([
    ['what cannot be read', 'no JSON'],
    ['two models', { ...update(transcriber).session, input_audio_transcription: { model: 'whisper-1' } }],
    ['another kind of session', { ...update(transcriber).session, type: 'realtime' }],
    ['sound in binary frames', update(transcriber, { transport: 'binary' }).session],
    ['an update without a model', { type: 'transcription', include: [] }],
  ])('%s is refused with an error event, and asks no upstream; it may be named after that', async (_, asked) => {
    const count = app.upstream.requests.length
    const session = await transcribe()
    append(session, speech(1))
    if (typeof asked === 'string') session.socket.send(asked)
    else session.say({ type: 'session.update', session: asked })
    await session.next('error')
    commit(session)
    await session.next('error')
    expect(app.upstream.requests).toHaveLength(count)
    session.say(update(transcriber))
    commit(session)
    await session.next(completed)
    const types = ['session.update', 'input_audio_buffer.append', 'input_audio_buffer.commit']
    expect(upstreamEvents().map(({ type }) => type)).toEqual(types)
    await finish(session)
  })

  test.each([
    ['empty pieces of sound', '{"type":"input_audio_buffer.append"}'],
    ['events that cannot be read', '{'],
  ])('as many %s as it may send of sound by their bytes and what each takes beside them end it', async (_, frame) => {
    const session = await transcribe()
    for (let sent = 0; sent < 9000; sent += 1) session.socket.send(frame)
    expect((await session.closed).code).toBe(1008)
    const last = session.events.at(-1)
    expect(last?.type).toBe('error')
    expect(errorOf(last ?? {})).toMatchObject({ code: 'missing_model' })
  })

  test('each counts in the memory for bodies from its first moment, and not after it has gone', async () => {
    const held = () => app.services.bodies.budget.heldBytes
    const session = await transcribe()
    await session.next('session.created')
    expect(held()).toBeGreaterThan(0)
    await finish(session)
    expect(await eventually(held, (bytes) => bytes === 0)).toBe(0)
  })

  test('a process that was asked to stop takes the name of none any more', async () => {
    const { services } = app
    const count = app.upstream.requests.length
    const session = await transcribe()
    await session.next('session.created')
    const { draining } = services
    services.draining = () => true
    try {
      session.say(update(transcriber))
      expect((await session.closed).code).toBe(1012)
    } finally {
      services.draining = draining
    }
    await expect.poll(() => app.upstream.requests.length, soon).toBe(count)
  })
})
