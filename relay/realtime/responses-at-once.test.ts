import { describe, expect, test } from 'vitest'
import { readRealtimeUsage } from '#relay/providers/openai-compatible/realtime.ts'
import { createMeter } from './meter.ts'

function start() {
  const meter = createMeter({ model: 'gpt-4o-realtime-preview', readUsage: readRealtimeUsage, now: () => 0 })
  return {
    ...meter,
    readersNow: () => ({ ...meter.readers, unseen: meter.unseen }),
    end: async (response: Record<string, unknown> = {}) =>
      (await meter.takeResponse({ type: 'response.done', response: { status: 'completed', ...response } })).measured,
  }
}

const unseenOf = (meter: ReturnType<typeof start>): number => meter.readersNow().unseen

test('of two responses at once, the end of one leaves what the other has said, and the conversation, to be paid', async () => {
  const meter = createMeter({ model: 'gpt-4o-realtime-preview', readUsage: readRealtimeUsage, now: () => 0 })
  const end = (response: Record<string, unknown>) => meter.takeResponse({ type: 'response.done', response })
  await end({ id: 'earlier', usage: { input_tokens: 900, output_tokens: 100 } })
  for (const id of ['spoken', 'beside']) meter.receive({ type: 'response.created', response: { id } })
  meter.receive({ type: 'response.output_text.delta', response_id: 'spoken', delta: 'Good ' })
  meter.receive({ type: 'response.output_text.delta', response_id: 'beside', delta: 'sorted' })
  meter.receive({ type: 'response.output_text.delta', response_id: 'spoken', delta: 'day' })
  const usage = { input_tokens: 40, output_tokens: 60 }
  const { measured } = await end({ id: 'beside', conversation_id: null, usage })
  expect(measured.usage).toMatchObject({ promptTokens: 40, completionTokens: 60 })
  expect(meter.responding).toBe(true)
  expect(meter.soFar()).toMatchObject({ promptTokens: 1000, completionTokens: 3 })
  expect((await meter.takeRest())[0]?.measured.usage).toMatchObject({ promptTokens: 1000, completionTokens: 2 })
})

test('the end of a response that never began leaves the two that are under way to be paid', async () => {
  const meter = start()
  for (const [id, delta] of [
    ['spoken', 'Good day'],
    ['beside', 'sorted'],
  ]) {
    meter.receive({ type: 'response.created', response: { id } })
    meter.receive({ type: 'response.output_text.delta', response_id: id, delta })
  }
  expect(await meter.end({ id: 'refused', status: 'failed' })).toMatchObject({ source: 'none' })
  expect(meter.soFar()).toMatchObject({ completionTokens: 4 })
  expect((await meter.end({ id: 'beside', usage: { input_tokens: 4, output_tokens: 6 } })).usage.completionTokens).toBe(
    6,
  )
  // Of the only one left it is the end, by whatever name.
  expect((await meter.end({ id: 'another' })).usage).toMatchObject({ completionTokens: 2 })
  expect((await meter.takeRest())[0]?.measured).toMatchObject({ source: 'none' })
})

test('the end of a response that never began leaves the only one that is under way to be paid, once', async () => {
  const meter = start()
  meter.receive({ type: 'response.created', response: { id: 'spoken' } })
  meter.receive({ type: 'response.output_text.delta', response_id: 'spoken', delta: 'Good day' })
  expect(await meter.end({ id: 'refused', status: 'failed' })).toMatchObject({ source: 'none' })
  expect(meter.soFar()).toMatchObject({ completionTokens: 2 })
  expect(await meter.end({ id: 'spoken', status: 'failed' })).toMatchObject({ usage: { completionTokens: 2 } })
  expect((await meter.takeRest())[0]?.measured).toMatchObject({ source: 'none' })
})

describe('a late part without a name begins nothing where the upstream says what begins', () => {
  const late = { type: 'response.output_audio_transcript.delta', delta: 'late' }
  const created = (id?: string) => ({ type: 'response.created', response: id === undefined ? {} : { id } })
  const usage = { input_tokens: 900, output_tokens: 100 }

  test.each([
    ['by its name', 'r', 'r'],
    ['by another name', 'r', 'another'],
    ['without a name', 'r', undefined],
    ['having begun without a name', undefined, undefined],
  ])('of a response that has ended %s', async (_, id, endId) => {
    const meter = start()
    const response = { status: 'completed', usage, ...(endId === undefined ? {} : { id: endId }) }
    for (const event of [created(id), { ...late, delta: 'word' }]) meter.receive(event)
    expect(meter.receive({ type: 'response.done', response })).toBe(true)
    await meter.end(response)
    meter.receive(late)
    expect(meter.readersNow().all).toBe(0)
    expect((await meter.takeRest())[0]?.measured).toMatchObject({ source: 'none' })
  })

  test('nor takes it the place of one that was asked for', async () => {
    const meter = start()
    meter.receive(created('r'))
    meter.receive({ type: 'response.done', response: { id: 'r' } })
    await meter.end({ id: 'r', usage })
    meter.ask({ type: 'response.create' })
    for (const event of [late, created('next'), { ...late, delta: 'word' }]) meter.receive(event)
    expect(meter.readersNow().all).toBe(1)
    meter.receive({ type: 'response.done', response: { id: 'next' } })
    expect((await meter.end({ id: 'next' })).usage).toMatchObject({ promptTokens: 1000, completionTokens: 1 })
    expect(meter.readersNow().all).toBe(0)
  })

  test('beside one that is under way it is of that', async () => {
    const meter = start()
    for (const id of ['r', 'beside']) meter.receive(created(id))
    meter.receive({ type: 'response.done', response: { id: 'beside' } })
    await meter.end({ id: 'beside', usage })
    meter.receive(late)
    expect(meter.readersNow()).toMatchObject({ all: 1, silent: 0 })
    meter.receive({ type: 'response.done', response: { id: 'r' } })
    await meter.end({ id: 'r', usage })
    expect(meter.readersNow().all).toBe(0)
  })
})

test('how much others read beside a first response is unknown until one has ended, and of what an upstream reads by itself for ever', async () => {
  const meter = start()
  for (const unseen of [0, 1, 2]) {
    meter.ask({ type: 'response.create' })
    expect(unseenOf(meter)).toBe(unseen)
  }
  meter.receive({ type: 'response.created', response: { id: 'r' } })
  expect(unseenOf(meter)).toBe(2)
  await meter.end({ id: 'r', usage: { input_tokens: 40, output_tokens: 60 } })
  expect(unseenOf(meter)).toBe(0)
  meter.ask({ type: 'response.create', response: { prompt: { id: 'pmpt_1' } } })
  expect(unseenOf(meter)).toBe(3)
  const served = start()
  served.receive({ type: 'session.updated', session: { tools: [{ type: 'mcp', server_label: 'docs' }] } })
  await served.end({ usage: { input_tokens: 40, output_tokens: 60 } })
  for (const unseen of [1, 2]) {
    served.ask({ type: 'response.create' })
    expect(unseenOf(served)).toBe(unseen)
  }
})

describe('where an upstream reads what was named to it, one that it may begin by itself', () => {
  const second = { type: 'input_audio_buffer.append', audio: Buffer.alloc(48_000).toString('base64') }
  const speak = (settings: Record<string, unknown>) => {
    const meter = start()
    meter.ask({ type: 'session.update', session: { prompt: { id: 'pmpt_1' } } })
    meter.receive({ type: 'session.updated', session: settings })
    expect(unseenOf(meter)).toBe(0)
    meter.ask(second)
    return meter
  }

  test.each([
    {},
    { turn_detection: { type: 'server_vad' } },
    { audio: { input: { turn_detection: { type: 'semantic_vad', create_response: true } } } },
  ])('counts as soon as somebody speaks: %j', (settings) => {
    const meter = speak(settings)
    expect(unseenOf(meter)).toBe(1)
    meter.receive({ type: 'response.created', response: { id: 'by itself' } })
    expect(unseenOf(meter)).toBe(1)
    meter.ask({ type: 'response.create' })
    expect(unseenOf(meter)).toBe(2)
  })

  test.each([
    { turn_detection: null },
    { audio: { input: { turn_detection: null } } },
    { audio: { input: { turn_detection: { type: 'server_vad', create_response: false } } } },
  ])('does not count where it begins none: %j', (settings) => {
    expect(unseenOf(speak(settings))).toBe(0)
  })
})

test('one that an upstream begins by itself needs no more than before beside one that was asked for', () => {
  const meter = start()
  meter.receive({ type: 'response.created', response: { id: 'by itself' } })
  meter.ask({ type: 'response.create', response: { conversation: 'none' } })
  expect(meter.readersNow()).toMatchObject({ all: 2, unseen: 0 })
})

describe('responses in doubt', () => {
  const refuse = (meter: ReturnType<typeof start>, event_id: string) =>
    meter.receive({ type: 'error', error: { message: 'Conversation already has an active response', event_id } })
  const ask = (meter: ReturnType<typeof start>, event_id: string) => meter.ask({ type: 'response.create', event_id })

  test.each([
    ['before the first count', 0, async () => {}],
    [
      'in a session with a server of tools',
      // The one under way, and the next one.
      2,
      async (meter: ReturnType<typeof start>) => {
        meter.receive({ type: 'session.updated', session: { tools: [{ type: 'mcp', server_label: 'docs' }] } })
        await meter.end({ usage: { input_tokens: 40, output_tokens: 60 } })
      },
    ],
  ])('one that was refused makes the next no second one that reads unseen: %s', async (_, unseen, prepare) => {
    const meter = start()
    await prepare(meter)
    meter.receive({ type: 'response.created', response: { id: 'by itself' } })
    ask(meter, 'first')
    refuse(meter, 'first')
    ask(meter, 'second')
    expect(meter.readersNow()).toMatchObject({ all: 3, silent: 3, unseen })
  })

  test('once nothing more is delivered an error that names none of them puts none in doubt: it may be of our own cancelling', async () => {
    const meter = start()
    for (const name of ['first', 'second']) ask(meter, name)
    meter.stop()
    meter.receive({ type: 'error', error: { message: 'Cancellation failed: no active response found' } })
    refuse(meter, 'evt_1')
    expect(meter.readersNow()).toMatchObject({ all: 2, doubted: 0 })
    refuse(meter, 'second')
    expect(meter.readersNow()).toMatchObject({ all: 2, doubted: 1 })
  })

  test('errors of other events that have their names let no more than one begin beside them', () => {
    const meter = start()
    for (const [name, unseen] of [
      ['first', 0],
      ['second', 0],
      ['third', 1],
      ['fourth', 2],
    ] as const) {
      ask(meter, name)
      expect(meter.readersNow().unseen).toBe(unseen)
      refuse(meter, name)
    }
    meter.receive({ type: 'response.created', response: { id: 'r' } })
    expect(meter.readersNow()).toMatchObject({ all: 4, unseen: 2 })
  })
})
