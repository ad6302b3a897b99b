import { describe, expect, test } from 'vitest'
import { readRealtimeUsage } from '#relay/providers/openai-compatible/realtime.ts'
import { cheapTextTokens } from '#relay/counting/cheap-count.ts'
import { createMeter } from './meter.ts'

const audioFile = (seconds: number, bytesPerSecond: number): string =>
  Buffer.alloc(Math.round(seconds * bytesPerSecond)).toString('base64')

function start() {
  let now = 0
  const meter = createMeter({ model: 'gpt-4o-realtime-preview', readUsage: readRealtimeUsage, now: () => now })
  return {
    ...meter,
    readersNow: () => meter.readers,
    wait: (milliseconds: number) => {
      now += milliseconds
    },
    end: async (response: Record<string, unknown> = {}) =>
      (await meter.takeResponse({ type: 'response.done', response: { status: 'completed', ...response } })).measured,
  }
}

describe('the audio of a session', () => {
  test.each([
    ['nothing is said of it', {}, 48_000, 48_000],
    ['the older form names it', { input_audio_format: 'g711_ulaw', output_audio_format: 'pcm16' }, 8000, 48_000],
    [
      'the newer form names it',
      { audio: { input: { format: { type: 'audio/pcm', rate: 16_000 } }, output: { format: { type: 'audio/pcmu' } } } },
      32_000,
      8000,
    ],
  ])('lasts as long as its format says: %s', async (_, session, inputRate, outputRate) => {
    const meter = start()
    meter.receive({ type: 'session.updated', session })
    for (let piece = 0; piece < 6; piece += 1)
      meter.ask({ type: 'input_audio_buffer.append', audio: audioFile(1, inputRate) })
    meter.receive({ type: 'response.audio.delta', delta: audioFile(12, outputRate) })
    // floor(6 / 60 × 100 / 0.06) and floor(12 / 60 × 200 / 0.24).
    expect((await meter.end()).usage).toMatchObject({
      audioInputTokens: 166,
      audioOutputTokens: 166,
      promptTokens: 166,
    })
  })

  test('a format changed in the middle counts from there on', async () => {
    const meter = start()
    meter.ask({ type: 'input_audio_buffer.append', audio: audioFile(3, 48_000) })
    meter.receive({ type: 'session.updated', session: { input_audio_format: 'g711_alaw' } })
    meter.ask({ type: 'input_audio_buffer.append', audio: audioFile(3, 8000) })
    expect((await meter.end()).usage.audioInputTokens).toBe(166)
  })
})

test('reported usage counts and clears what was counted here', async () => {
  const meter = start()
  meter.ask({ type: 'input_audio_buffer.append', audio: audioFile(60, 48_000) })
  meter.receive({ type: 'response.output_text.delta', delta: 'Hello there' })
  const reported = await meter.end({ usage: { input_tokens: 40, output_tokens: 60 } })
  expect(reported).toMatchObject({ source: 'upstream', usage: { promptTokens: 40, completionTokens: 60 } })
  expect((await meter.takeRest())[0]?.measured).toMatchObject({ source: 'none', usage: { promptTokens: 0 } })
})

describe('figures that are missing in a reported usage are counted here', () => {
  test.each([
    ['a text', [{ type: 'response.output_text.delta', delta: 'Good day' }], 2, 0],
    ['audio', [{ type: 'response.output_audio.delta', delta: audioFile(12, 48_000) }], 166, 166],
    ['nothing', [], 0, 0],
  ])('an output of 0 beside %s', async (_, events, completionTokens, audioOutputTokens) => {
    const meter = start()
    meter.receive({ type: 'response.created', response: { id: 'r' } })
    for (const event of events) meter.receive({ ...event, response_id: 'r' })
    const { usage, source } = await meter.end({ id: 'r', usage: { input_tokens: 40, output_tokens: 0 } })
    expect(usage).toMatchObject({ promptTokens: 40, completionTokens, audioOutputTokens })
    expect(source).toBe(completionTokens > 0 ? 'estimated' : 'upstream')
    // The answer is part of the conversation that the next one reads.
    expect(meter.soFar().promptTokens).toBe(40 + completionTokens)
  })

  test('an input that is not reported', async () => {
    const meter = start()
    const item = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello there' }] }
    meter.receive({ type: 'conversation.item.added', item })
    meter.ask({ type: 'input_audio_buffer.append', audio: audioFile(6, 48_000) })
    const { usage, source } = await meter.end({ usage: { output_tokens: 60 } })
    expect(usage).toMatchObject({ promptTokens: 168, audioInputTokens: 166, completionTokens: 60 })
    expect(source).toBe('estimated')
  })
})

test('what is reported of a response after its end begins it no second time, and takes the place of no other', async () => {
  const meter = start()
  await meter.end({ id: 'earlier', usage: { input_tokens: 900, output_tokens: 100 } })
  const created = { type: 'response.created', response: { id: 'r' } }
  const word = { type: 'response.output_text.delta', response_id: 'r', delta: 'word' }
  const done = { type: 'response.done', response: { id: 'r', usage: { input_tokens: 1000, output_tokens: 1 } } }
  for (const event of [created, word]) meter.receive(event)
  expect(meter.receive(done)).toBe(true)
  await meter.takeResponse(done)
  meter.ask({ type: 'response.create' })
  for (const event of [created, word, done]) expect(meter.receive(event)).toBe(false)
  expect(meter.readersNow()).toMatchObject({ all: 1, silent: 1 })
  meter.receive({ type: 'response.created', response: { id: 'next' } })
  expect((await meter.takeRest())[0]?.measured.usage).toMatchObject({ promptTokens: 1001, completionTokens: 0 })
})

test('an upstream that is left before it has begun reads the conversation, and what was sent to it, all the same', async () => {
  const meter = start()
  await meter.end({ id: 'earlier', usage: { input_tokens: 900, output_tokens: 100 } })
  const item = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello there' }] }
  meter.ask({ type: 'conversation.item.create', item })
  meter.ask({ type: 'response.create' })
  expect((await meter.takeRest(true))[0]?.measured.usage.promptTokens).toBe(1000 + cheapTextTokens('Hello there'))
})

describe('sound that was transcribed', () => {
  const speak = (meter: ReturnType<typeof start>) =>
    meter.ask({ type: 'input_audio_buffer.append', audio: audioFile(6, 48_000) })

  test.each([
    ['and charged so costs nothing more', true, 0],
    ['without a report of its own is charged as input', false, 166],
  ])('%s when no response has read it', async (_, isCharged, tokens) => {
    const meter = start()
    speak(meter)
    meter.noteTranscribed(isCharged)
    // What is never committed nobody bills.
    speak(meter)
    expect(meter.soFar().audioInputTokens).toBe(isCharged ? 166 : 333)
    expect((await meter.takeRest())[0]?.measured.usage).toMatchObject({
      promptTokens: tokens,
      audioInputTokens: tokens,
    })
    expect(meter.soFar().audioInputTokens).toBe(0)
  })

  test('is set aside for and charged with the response that reads it, once', async () => {
    const meter = start()
    speak(meter)
    meter.noteTranscribed(true)
    expect(meter.soFar().audioInputTokens).toBe(0)
    meter.ask({ type: 'response.create' })
    expect(meter.soFar().audioInputTokens).toBe(166)
    meter.receive({ type: 'response.created', response: { id: 'reads' } })
    // The transcription of what this one reads.
    speak(meter)
    meter.noteTranscribed(true)
    expect(meter.soFar().audioInputTokens).toBe(333)
    expect((await meter.takeRest())[0]?.measured.usage).toMatchObject({ audioInputTokens: 333 })
    expect((await meter.takeRest())[0]?.measured).toMatchObject({ source: 'none' })
  })

  test('makes no answer that is broken off before it spoke forget the conversation that it read', async () => {
    const meter = start()
    // The conversation before it, as a first response reports it.
    await meter.end({ usage: { input_tokens: 25_000, output_tokens: 0 } })
    meter.ask({ type: 'input_audio_buffer.append', audio: audioFile(6, 48_000) })
    meter.noteTranscribed(true)
    meter.ask({ type: 'response.create' })
    meter.receive({ type: 'response.created', response: { id: 'r' } })
    expect((await meter.takeRest())[0]?.measured.usage.promptTokens).toBe(25_000 + 166)
  })
})

describe('a response that is refused', () => {
  const refusal = { type: 'error', error: { type: 'invalid_request_error', message: 'Unknown parameter' } }
  const about = (event_id: string) => ({ ...refusal, error: { ...refusal.error, event_id } })
  const listening = () => createMeter({ model: 'gpt-realtime', readUsage: readRealtimeUsage, now: () => 0 })
  const speak = (meter: ReturnType<typeof listening>) =>
    meter.ask({ type: 'input_audio_buffer.append', audio: audioFile(60, 48_000) })

  test.each([
    ['unnamed', {}, refusal],
    ['named', { event_id: 'ask' }, about('ask')],
    ['by an upstream that names no event', { event_id: 'ask' }, refusal],
    ['by a name of the upstream’s own', {}, about('evt_1')],
    ['by an upstream that names not even its own event', {}, { error: refusal.error }],
  ])('reads nothing: %s', async (_, named, refused) => {
    const meter = listening()
    speak(meter)
    meter.ask({ type: 'response.create', ...named })
    expect(meter.responding).toBe(true)
    meter.receive(refused)
    expect(meter.responding).toBe(false)
    // What is transcribed from here on is paid by its transcription alone.
    speak(meter)
    meter.noteTranscribed(true)
    expect(meter.soFar().audioInputTokens).toBe(0)
    expect((await meter.takeRest())[0]?.measured).toMatchObject({ source: 'none', usage: { audioInputTokens: 0 } })
  })

  test('goes on where the error is of another event, or came while it was under way', async () => {
    const meter = listening()
    speak(meter)
    meter.ask({ type: 'session.update', event_id: 'another' })
    meter.ask({ type: 'response.create', event_id: 'ask' })
    meter.receive(about('another'))
    expect(meter.responding).toBe(true)
    meter.receive({ type: 'response.created', response: { id: 'r' } })
    meter.receive(refusal)
    expect(meter.responding).toBe(true)
    expect((await meter.takeRest())[0]?.measured.usage).toMatchObject({ audioInputTokens: 1666 })
  })

  test('is known by its name although another was asked for after it, and not sent', () => {
    const meter = listening()
    meter.ask({ type: 'response.create', event_id: 'ask' })
    const undo = meter.ask({ type: 'response.create', event_id: 'unsent' })
    undo()
    meter.receive(about('ask'))
    expect(meter.responding).toBe(false)
  })

  test('takes none of the time of the next one', async () => {
    const meter = start()
    meter.ask({ type: 'response.create' })
    meter.receive(refusal)
    meter.wait(60_000)
    meter.ask({ type: 'response.create' })
    meter.receive({ type: 'response.created', response: { id: 'r' } })
    const { times } = await meter.takeResponse({ response: { id: 'r', usage: { input_tokens: 4, output_tokens: 6 } } })
    expect(times.startedAt).toBe(60_000)
  })
})

test('a vendor that bills what it is sent is paid what no response has read', async () => {
  const meter = createMeter({ model: 'grok-voice', readUsage: readRealtimeUsage, billsUnread: true, now: () => 0 })
  meter.ask({ type: 'input_audio_buffer.append', audio: audioFile(6, 48_000) })
  expect((await meter.takeRest())[0]?.measured.usage).toMatchObject({ audioInputTokens: 166 })
})

test('both forms of the events are counted, once each', async () => {
  const [older, newer] = [start(), start()]
  const item = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello there' }] }
  older.receive({ type: 'conversation.item.created', item })
  newer.receive({ type: 'conversation.item.added', item })
  newer.receive({ type: 'conversation.item.done', item })
  older.receive({ type: 'response.text.delta', delta: 'Good day' })
  newer.receive({ type: 'response.output_text.delta', delta: 'Good day' })
  const [first, second] = [await older.end(), await newer.end()]
  expect(first.usage).toMatchObject({ promptTokens: 2, completionTokens: 2 })
  expect(second).toEqual(first)
})

test('what the upstream writes of anything else, or in no form at all, counts nothing', async () => {
  const meter = start()
  for (const event of [{}, { type: 7 }, { type: 'session.updated' }, { type: 'conversation.item.added', item: 'x' }])
    expect(meter.receive(event)).toBe(false)
  for (const event of [{}, { type: 'session.update', session: 3 }, { type: 'input_audio_buffer.append', audio: {} }])
    meter.ask(event)
  expect((await meter.takeRest())[0]?.measured.usage.promptTokens).toBe(0)
})

test('images count as input until the upstream has counted them itself, one of low detail less', async () => {
  const meter = start()
  const image = (detail?: string) => ({ type: 'input_image', image_url: 'data:image/png;base64,AAAA', detail })
  const item = { type: 'message', role: 'user', content: [image(), image('low'), image('high')] }
  meter.ask({ type: 'conversation.item.create', item })
  expect(meter.soFar()).toMatchObject({ promptTokens: 255 + 85 + 255 })
  expect((await meter.end()).usage).toMatchObject({ promptTokens: 255 + 85 + 255, audioInputTokens: 0 })
  meter.ask({ type: 'response.create', response: { input: [{ ...item, content: [image()] }] } })
  expect(await meter.end({ usage: { input_tokens: 40, output_tokens: 60 } })).toMatchObject({ source: 'upstream' })
  expect((await meter.takeRest())[0]?.measured).toMatchObject({ source: 'none' })
})

test('all that a caller gives to a session or a response is set aside before its upstream repeats it', () => {
  const text = 'word '.repeat(400)
  const tool = { type: 'function', name: 'one', description: text, parameters: {} }
  const call = { type: 'function_call', call_id: 'c', name: 'one', arguments: text }
  const answer = { type: 'message', role: 'assistant', content: [{ type: 'output_audio', transcript: text }] }
  for (const event of [
    { type: 'session.update', session: { tools: [tool] } },
    { type: 'conversation.item.create', item: call },
    { type: 'conversation.item.create', item: answer },
    { type: 'response.create', response: { tools: [tool] } },
    { type: 'response.create', response: { input: [call] } },
    { type: 'response.create', response: { input: [answer] } },
  ]) {
    const meter = start()
    meter.ask(event)
    expect(meter.soFar().promptTokens, JSON.stringify(event).slice(0, 60)).toBeGreaterThan(400)
  }
})

test('what a response beside the conversation has read of it is set aside for the next', async () => {
  const meter = start()
  meter.ask({ type: 'response.create', response: { conversation: 'none' } })
  meter.receive({ type: 'response.created', response: { id: 'r' } })
  await meter.end({ id: 'r', usage: { input_tokens: 20_000, output_tokens: 60 } })
  expect(meter.soFar().promptTokens).toBe(20_000)
})

test('a response’s time begins when it is asked for, and its first part is remembered', async () => {
  const meter = start()
  meter.wait(5000)
  meter.ask({ type: 'response.create' })
  meter.wait(40)
  meter.receive({ type: 'response.created' })
  meter.wait(60)
  meter.receive({ type: 'response.output_audio.delta', delta: '' })
  expect(meter.receive({ type: 'response.done' })).toBe(true)
  const { times } = await meter.takeResponse({ response: {} })
  expect(times).toEqual({ startedAt: 5000, firstPartAt: 5100 })
  expect((await meter.takeRest())[0]?.times).toEqual({ startedAt: null, firstPartAt: null })
})

test('the results of functions, earlier answers and what one response alone is given count as input', async () => {
  const meter = start()
  meter.receive({ type: 'conversation.item.added', item: { type: 'function_call_output', output: 'Hello there' } })
  const earlier = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Good day' }] }
  meter.ask({ type: 'conversation.item.create', item: earlier })
  meter.receive({ type: 'conversation.item.added', item: earlier })
  const input = [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Good night' }] }]
  meter.ask({ type: 'response.create', response: { conversation: 'none', instructions: 'Be kind', input } })
  meter.receive({ type: 'response.output_text.delta', delta: 'So' })
  expect(meter.soFar().promptTokens).toBeGreaterThanOrEqual(8)
  expect((await meter.end()).usage).toMatchObject({ promptTokens: 8, completionTokens: 1 })
})

test('a session that goes on with an earlier one reads nobody knows how much, until a response has shown it', async () => {
  const meter = createMeter({ model: 'grok-voice', readUsage: readRealtimeUsage, resumes: true, now: () => 0 })
  meter.ask({ type: 'response.create' })
  expect(meter.unseen).toBe(1)
  // One without usage shows nothing of it.
  const cancelled = { type: 'response.done', response: { id: 'c', status: 'cancelled' } }
  meter.receive(cancelled)
  await meter.takeResponse(cancelled)
  meter.ask({ type: 'response.create' })
  expect(meter.unseen).toBe(1)
  const done = { type: 'response.done', response: { id: 'r', usage: { input_tokens: 9000, output_tokens: 10 } } }
  meter.receive(done)
  await meter.takeResponse(done)
  meter.ask({ type: 'response.create' })
  expect(meter.unseen).toBe(0)
  expect(meter.soFar().promptTokens).toBe(9010)
})

test.each(['session', 'transcription_session'])('the model that transcribes is learnt of a %s', (name) => {
  const meter = createMeter({ model: 'gpt-realtime', readUsage: readRealtimeUsage, now: () => 0 })
  meter.receive({ type: `${name}.updated`, session: { input_audio_transcription: { model: 'whisper-1' } } })
  expect(meter.transcriber).toBe('whisper-1')
})
