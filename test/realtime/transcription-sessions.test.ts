import { describe, expect, test } from 'vitest'
import { channelsOf, serve, withOptions } from '../relay/serve.ts'
import { eventually } from '../relay/caller-dialects.ts'
import { startScriptedUpstream } from './scripted-upstream.ts'
import {
  append,
  commit,
  completed,
  silence,
  speech,
  startTranscriptions,
  transcriber,
  update,
} from './transcriptions.ts'
import { chargesOf, errorOf, handshake, model as answering, payerWith, type Session, untilFree } from './world.ts'

const { app, transcribe, openSession, user } = await startTranscriptions()

const rich = 10_000_000
const upstreamEvents = () => app.upstream.requests.at(-1)?.body as { type: string }[]

async function end(session: Session, userId: number) {
  session.socket.close()
  await session.closed
  await untilFree(app, userId)
  return chargesOf(app, userId)
}

describe('a session that only transcribes names its model in its first update', () => {
  test('after its first event, as most clients do: it is dialled without a model, and charged as its upstream reports', async () => {
    const payer = await payerWith(app, rich)
    const session = await transcribe({ key: payer.key })
    expect((await session.next('session.created'))['session']).toMatchObject({
      object: 'realtime.transcription_session',
      type: 'transcription',
    })
    session.say(update(transcriber))
    await session.next('session.updated')
    append(session, speech(2))
    commit(session)
    expect(await session.next(completed)).toMatchObject({ transcript: 'words', usage: { type: 'tokens' } })
    append(session, speech(1))
    commit(session)
    await session.next(completed)
    const rows = await end(session, payer.userId)
    expect(app.upstream.requests.at(-1)).toMatchObject({ path: '/v1/realtime', query: { intent: 'transcription' } })
    expect(app.upstream.requests.at(-1)?.query).not.toHaveProperty('model')
    expect(session.events.filter(({ type }) => type === 'session.created')).toHaveLength(1)
    // Two tokens of text for each of sound: (20 × 2.4 + 40 × 4) × 1.25.
    expect(rows.map(({ model_name: name, quota }) => [name, quota])).toEqual([
      [transcriber, 260],
      [transcriber, 130],
    ])
    expect(rows[0]).toMatchObject({
      prompt_tokens: 20,
      completion_tokens: 40,
      other: { operation: 'realtime-transcription', usage_source: 'upstream', session: session.requestId },
    })
    expect(await app.balanceOf(payer.userId)).toBe(rich - 390)
    expect(await app.violations()).toEqual([])
  })

  test('without waiting for anything, and behind the first sound: all of it is sent on, the name first', async () => {
    const payer = await payerWith(app, rich)
    const session = await transcribe({ key: payer.key })
    append(session, speech(1))
    session.say(update(transcriber))
    append(session, speech(1))
    commit(session)
    await session.next(completed)
    expect(upstreamEvents().map(({ type }) => type)).toEqual([
      'session.update',
      'input_audio_buffer.append',
      'input_audio_buffer.append',
      'input_audio_buffer.commit',
    ])
    expect((await end(session, payer.userId)).map(({ quota }) => quota)).toEqual([260])
  })

  test('in the beta form too', async () => {
    const payer = await payerWith(app, rich)
    const session = await transcribe({ key: payer.key, headers: { 'openai-beta': 'realtime=v1' } })
    await session.next('transcription_session.created')
    session.say({
      type: 'transcription_session.update',
      session: { input_audio_transcription: { model: transcriber }, turn_detection: null },
    })
    await session.next('transcription_session.updated')
    append(session, speech(2))
    commit(session)
    await session.next(completed)
    expect((await end(session, payer.userId)).map(({ quota }) => quota)).toEqual([260])
    expect(app.upstream.requests.at(-1)?.headers['openai-beta']).toBe('realtime=v1')
  })

  test('a model that is sold by the second is charged so', async () => {
    const payer = await payerWith(app, rich)
    const session = await transcribe({ key: payer.key })
    session.say(update('whisper-1'))
    append(session, speech(2))
    commit(session)
    await session.next(completed)
    // Two seconds are 33 of a thousand tokens a minute, at 15.
    expect((await end(session, payer.userId)).map(({ quota }) => quota)).toEqual([33 * 15])
  })

  test('by the caller’s name, which becomes the upstream’s in each update', async () => {
    const { model } = await serve(app, { upstreamModel: transcriber })
    const payer = await payerWith(app, rich)
    const session = await transcribe({ key: payer.key })
    session.say(update(model))
    await session.next('session.updated')
    session.say({
      type: 'session.update',
      session: { type: 'transcription', audio: { input: { transcription: { language: 'de' } } } },
    })
    const updated = await session.next('session.updated')
    expect(updated['session']).toMatchObject({
      audio: { input: { transcription: { model: transcriber, language: 'de' } } },
    })
    append(session, speech(1))
    commit(session)
    await session.next(completed)
    const [row] = await end(session, payer.userId)
    expect(row).toMatchObject({ model_name: model, other: { upstream_model_name: transcriber } })
  })

  test('while its upstream is not connected another channel is tried, and gets all that was sent', async () => {
    const { model, ids } = await serve(app, { does: 'status=500', priority: 10 }, { type: 48, priority: 5 }, {})
    const payer = await payerWith(app, rich)
    const session = await transcribe({ key: payer.key })
    append(session, speech(1))
    session.say(update(model))
    commit(session)
    await session.next(completed)
    const [row] = await end(session, payer.userId)
    expect(channelsOf(row)).toEqual(ids)
    expect(upstreamEvents()).toHaveLength(3)
  })
})

describe('a session is refused with an error event, and nothing is charged,', () => {
  test.each([
    ['for a model that nobody serves', {}, 'nowhere', 1013],
    ['for a model that the token may not use', { modelLimits: 'whisper-1' }, transcriber, 1008],
    ['without any balance', { quota: 0 }, transcriber, 1008],
  ])('%s', async (_, { quota = rich, ...limits }: { quota?: number; modelLimits?: string }, model, code) => {
    const token = await app.make.token(await app.make.user({ quota }), limits)
    await app.settled()
    const asked = app.upstream.requests.length
    const session = await transcribe({ key: token.key })
    session.say(update(model))
    append(session, speech(1))
    const event = await session.next('error')
    expect(errorOf(event).message).toContain(`(request id: ${session.requestId})`)
    expect((await session.closed).code).toBe(code)
    await untilFree(app, token.userId)
    expect(await chargesOf(app, token.userId)).toEqual([])
    expect(app.upstream.requests).toHaveLength(asked)
  })

  test('where more is sent than half a minute of sound and no model is named', async () => {
    const session = await transcribe({ key: (await payerWith(app, rich)).key })
    for (let sent = 0; sent < 40; sent += 1) append(session, speech(1))
    expect(errorOf(await session.next('error'))).toMatchObject({ code: 'missing_model' })
    expect((await session.closed).code).toBe(1008)
  })

  test('and leaves nothing behind, where its caller leaves before naming a model', async () => {
    const held = () => app.services.bodies.budget.heldBytes
    const session = await transcribe({ key: (await payerWith(app, rich)).key })
    for (let sent = 0; sent < 10; sent += 1) append(session, speech(1))
    expect(await eventually(held, (bytes) => bytes > 0)).toBeGreaterThan(0)
    session.socket.terminate()
    expect(await eventually(held, (bytes) => bytes === 0)).toBe(0)
  })

  test('before the handshake is answered, where no model is needed for that', async () => {
    const path = '/v1/realtime?intent=transcription'
    expect((await handshake(app.url, { path })).status).toBe(401)
    const token = await app.make.token(user, { allowIps: '203.0.113.7' })
    const headers = { authorization: `Bearer sk-${token.key}` }
    expect((await handshake(app.url, { path, headers })).status).toBe(403)
    const limited = await app.make.token(user, { rateLimit: { period: 60, count: 1, success: 0 } })
    const session = await transcribe({ key: limited.key })
    expect((await handshake(app.url, { path, headers: { authorization: `Bearer sk-${limited.key}` } })).status).toBe(
      429,
    )
    session.socket.close()
    await session.closed
  })
})

test('another model, another kind of session and questions are refused with error events, and the session goes on', async () => {
  const payer = await payerWith(app, rich)
  const session = await transcribe({ key: payer.key })
  session.say(update(transcriber))
  await session.next('session.updated')
  for (const event of [
    update('whisper-1'),
    { type: 'session.update', session: { type: 'transcription', input_audio_transcription: { model: 'whisper-1' } } },
    { type: 'session.update', session: { type: 'transcription', model: answering } },
    { type: 'session.update', session: { type: 'realtime', model: transcriber } },
    { type: 'response.create' },
    { type: 'conversation.item.create', item: { type: 'message', role: 'user', content: [] } },
  ]) {
    session.say({ ...event, event_id: 'mine' })
    expect(errorOf(await session.next('error'))).toMatchObject({ event_id: 'mine' })
  }
  append(session, speech(2))
  commit(session)
  await session.next(completed)
  expect(upstreamEvents()).toHaveLength(3)
  expect((await end(session, payer.userId)).map(({ quota }) => quota)).toEqual([260])
})

describe('sound that was sent and not answered', () => {
  test('is charged when its caller hangs up: committed or not, by its length', async () => {
    const { model } = await serve(app, { does: 'gate=unanswered', upstreamModel: transcriber })
    const payer = await payerWith(app, rich)
    const session = await transcribe({ key: payer.key })
    session.say(update(model))
    append(session, speech(2))
    commit(session)
    await session.next('input_audio_buffer.committed')
    append(session, speech(1))
    await eventually(
      () => upstreamEvents().length,
      (count) => count === 4,
    )
    const rows = await end(session, payer.userId)
    app.upstream.openGate('unanswered')
    const other = { usage_source: 'estimated', end: 'hung-up' }
    expect(rows).toMatchObject([
      { prompt_tokens: 20, other },
      { prompt_tokens: 10, other },
    ])
  })

  test('is charged although it is left out, where its upstream has written it already', async () => {
    const { model } = await serve(app, { upstreamModel: 'gpt-4o-transcribe-live' })
    const payer = await payerWith(app, rich)
    const session = await transcribe({ key: payer.key })
    session.say(update(model))
    append(session, speech(2))
    await session.next('conversation.item.input_audio_transcription.delta')
    session.say({ type: 'input_audio_buffer.clear' })
    await session.next('input_audio_buffer.cleared')
    expect(await end(session, payer.userId)).toMatchObject([{ prompt_tokens: 20, completion_tokens: 2 }])
  })

  test('costs nothing where it was left out, nor pauses of an upstream that listens for them', async () => {
    const payer = await payerWith(app, rich)
    const session = await transcribe({ key: payer.key })
    session.say(update(transcriber, { turn_detection: { type: 'server_vad' } }))
    await session.next('session.updated')
    append(session, silence(5))
    append(session, speech(2))
    append(session, silence(1))
    await session.next(completed)
    append(session, silence(5))
    session.say(update(transcriber))
    await session.next('session.updated')
    session.say({ type: 'input_audio_buffer.clear' })
    await session.next('input_audio_buffer.cleared')
    append(session, speech(3))
    session.say({ type: 'input_audio_buffer.clear' })
    await session.next('input_audio_buffer.cleared')
    expect((await end(session, payer.userId)).map(({ quota }) => quota)).toEqual([260])
  })

  test('is set aside as it comes: whoever cannot pay for more is refused more', async () => {
    const payer = await payerWith(app, 2000)
    const session = await transcribe({ key: payer.key })
    session.say(update(transcriber))
    await session.next('session.updated')
    // A second of it is 10 tokens at 2.4 × 1.25, and its text may come to two thirds of that.
    for (let second = 0; second < 200; second += 1) append(session, speech(1))
    expect(errorOf(await session.next('error'))).toMatchObject({ code: 'insufficient_user_quota' })
    expect((await session.closed).code).toBe(1008)
    await untilFree(app, payer.userId)
    expect(await chargesOf(app, payer.userId)).toMatchObject([{ other: { end: 'unpaid' } }])
    expect(await app.balanceOf(payer.userId)).toBeGreaterThanOrEqual(0)
    expect(await app.balanceOf(payer.userId)).toBeLessThan(900)
  })
})

test('with a price for each call every transcription is one', async () => {
  const { model } = await serve(app, {})
  await withOptions(app, { ModelPrice: JSON.stringify({ [model]: 0.01 }) }, async () => {
    const payer = await payerWith(app, rich)
    const session = await transcribe({ key: payer.key })
    session.say(update(model))
    for (const ordinal of [1, 2]) {
      append(session, speech(ordinal))
      commit(session)
      await session.next(completed)
    }
    expect((await end(session, payer.userId)).map(({ quota }) => quota)).toEqual([5000, 5000])
  })
})

test('a transcription that reports nothing is charged by its length', async () => {
  const { model } = await serve(app, { does: 'nousage', upstreamModel: transcriber })
  const payer = await payerWith(app, rich)
  const session = await transcribe({ key: payer.key })
  session.say(update(model))
  append(session, speech(2))
  commit(session)
  await session.next(completed)
  expect(await end(session, payer.userId)).toMatchObject([
    { prompt_tokens: 20, completion_tokens: 2, other: { usage_source: 'estimated' } },
  ])
})

test('an upstream that reports twice is paid once, and one that answers unasked is left before that is delivered', async () => {
  const report = {
    type: completed,
    item_id: 'i',
    content_index: 0,
    transcript: '',
    usage: { type: 'duration', seconds: 60 },
  }
  const { baseUrl } = await startScriptedUpstream((socket) => {
    socket.on('message', (data: Buffer) => {
      const { type } = JSON.parse(data.toString()) as { type: string }
      if (type !== 'input_audio_buffer.commit') return
      for (const event of [report, report, { type: 'response.created', response: { id: 'r' } }])
        socket.send(JSON.stringify(event))
    })
  })
  const { model } = await serve(app, { baseUrl })
  const payer = await payerWith(app, rich)
  const session = await transcribe({ key: payer.key })
  session.say(update(model))
  append(session, speech(1))
  commit(session)
  expect((await session.closed).code).toBe(1011)
  expect(session.events.map(({ type }) => type)).toEqual(['session.created', completed, completed, 'error'])
  await untilFree(app, payer.userId)
  expect(await chargesOf(app, payer.userId)).toMatchObject([{ prompt_tokens: 1000 }])
})

test('an address with a model and the intent opens a session like any', async () => {
  const session = await openSession({ query: '&intent=transcription' })
  expect((await session.next('session.created'))['session']).toMatchObject({ type: 'realtime' })
  expect(app.upstream.requests.at(-1)?.query).toEqual({ model: answering })
  session.socket.close()
  await session.closed
})
