import { describe, expect, test } from 'vitest'
import { channelsOf, serve, setOptions } from './serve.ts'
import { consumed, say, type CallerDialect, callerDialects } from './caller-dialects.ts'
import { json } from '#test/support/scripted-upstream.ts'
import { startScriptedRelay } from './relay-world.ts'
import { isTaken } from '#test/support/long.ts'

const { app, scripted, token } = await startScriptedRelay()

const kinds = [
  { name: 'an OpenAI channel', type: 1 },
  { name: 'an Anthropic channel', type: 14 },
  { name: 'a Gemini channel', type: 24 },
]

/** Answers that say 200 and are none. */
const everyFalseSuccess: { does: string; stream: boolean }[] = [
  ...['error200', 'html', 'empty', 'malformed=1', 'cut=0', 'fin=0'].map((does) => ({ does, stream: false })),
  ...['error200', 'html', 'empty', 'errorevent=0', 'cut=0', 'fin=0'].map((does) => ({
    does,
    stream: true,
  })),
]
/** A third of them for each channel and caller, another for the next. */
const falseSuccessesOf = (type: number, by: CallerDialect) =>
  everyFalseSuccess.filter((_, place) =>
    isTaken(
      3,
      place,
      kinds.findIndex((kind) => kind.type === type),
      callerDialects.indexOf(by),
    ),
  )

describe.each(kinds)('$name', ({ type }) => {
  test.each(callerDialects)(
    'that says 200 and gives none is passed over, unbilled, for $dialect',
    async (by: CallerDialect) => {
      await setOptions(app, { RetryTimes: '1' })
      for (const { does, stream } of falseSuccessesOf(type, by)) {
        const label = `${does} ${stream ? 'streamed' : 'whole'}`
        const { model, ids } = await serve(app, { type, priority: 1, does }, { type, does: 'usage=10:2' })
        const before = (await consumed(app)).length
        const reply = await say(app, by, { token, model, stream })
        expect(reply.status, label).toBe(200)
        const text = await reply.text()
        expect(text, label).toContain('hello')
        if (stream) expect(text, label).toMatch(by.closing)
        const rows = (await consumed(app)).slice(before)
        // (10 + 2) × 37.5
        expect(
          rows.map((row) => [row.quota, row.channel_id, channelsOf(row)]),
          label,
        ).toEqual([[450, ids[1], ids]])
      }
    },
  )

  test.each(callerDialects)(
    'that is the only one makes an error of it, unbilled, in $dialect',
    async (by: CallerDialect) => {
      await setOptions(app, { RetryTimes: '0' })
      for (const { does, stream } of falseSuccessesOf(type, by)) {
        const label = `${does} ${stream ? 'streamed' : 'whole'}`
        const { model } = await serve(app, { type, does })
        const before = (await consumed(app)).length
        const reply = await say(app, by, { token, model, stream })
        expect(reply.status, label).toBeGreaterThanOrEqual(400)
        expect(by.readError(await reply.json()).message, label).toContain('request id')
        expect(await consumed(app), label).toHaveLength(before)
      }
    },
  )
})

test.each(kinds)('JSON that is no answer is none to any caller of $name, and unbilled', async ({ type }) => {
  await setOptions(app, { RetryTimes: '1' })
  const before = (await consumed(app)).length
  const isNone = [{}, { code: 50, message: 'no such thing' }, { detail: 'Not Found' }, { error: null }, [], 'x', null]
  for (const by of callerDialects) {
    for (const answer of isNone) {
      const { model } = await serve(
        app,
        { type, priority: 1, baseUrl: scripted.play(json(answer)) },
        { type, baseUrl: scripted.play(json(answer)) },
      )
      for (const stream of [false, true]) {
        const reply = await say(app, by, { token, model, stream })
        const label = `${by.dialect} ${JSON.stringify(answer)} ${stream}`
        expect(reply.status, label).toBeGreaterThanOrEqual(400)
        expect(by.readError(await reply.json()).message, label).toContain('request id')
      }
    }
  }
  expect(await consumed(app)).toHaveLength(before)
})

test('an answer of an unknown shape that reports usage goes out as it came, and is charged by it', async () => {
  await setOptions(app, { RetryTimes: '0' })
  const answer = { output: { text: 'hello' }, usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 } }
  const { model } = await serve(app, { type: 1, baseUrl: scripted.play(json(answer)) })
  const before = (await consumed(app)).length
  const reply = await app.relay(token, '/v1/chat/completions', { model, messages: [{ role: 'user', content: 'hi' }] })
  expect(await reply.json()).toEqual(answer)
  // (10 + 2) × 37.5
  expect((await consumed(app)).slice(before).map(({ quota }) => quota)).toEqual([450])
})

test.each([
  ['images', '/v1/images/generations', { prompt: 'a cat' }],
  ['vectors', '/v1/embeddings', { input: 'hi' }],
  ['a ranking', '/v1/rerank', { query: 'q', documents: ['a', 'b'] }],
  ['a verdict', '/v1/moderations', { input: 'hi' }],
])('an answer without %s is none, and unbilled', async (_what, path, body) => {
  await setOptions(app, { RetryTimes: '0' })
  const before = (await consumed(app)).length
  for (const answer of [{}, { data: [] }, { code: 50, message: 'no such thing' }]) {
    const { model } = await serve(app, { type: 1, baseUrl: scripted.play(json(answer)) })
    const reply = await app.relay(token, path, { model, ...body })
    expect(reply.status, JSON.stringify(answer)).toBe(500)
    expect(((await reply.json()) as { error: { message: string } }).error.message).toContain('request id')
  }
  expect(await consumed(app)).toHaveLength(before)
})

test('images are charged as they come where a vendor draws more than were asked for', async () => {
  await setOptions(app, { RetryTimes: '0' })
  const images = ['a', 'b', 'c'].map((name) => ({ url: `https://i.test/${name}.png` }))
  const drawings = [
    { type: 40, answer: { images }, body: { batch_size: 3 } },
    {
      type: 56,
      answer: { status: 'succeeded', output: images.map(({ url }) => url) },
      body: { input: { num_outputs: 3 } },
    },
    { type: 45, answer: { data: images }, body: { sequential_image_generation: 'auto' } },
    // What was asked for is charged, also where less of it could be drawn.
    { type: 1, answer: { data: images.slice(0, 2) }, body: { n: 3 } },
  ]
  for (const { type, answer, body } of drawings) {
    const before = (await consumed(app)).length
    const { model } = await serve(app, { type, baseUrl: scripted.play(json(answer)) })
    const reply = await app.relay(token, '/v1/images/generations', { model, prompt: 'a cat', ...body })
    expect(reply.status, await reply.text()).toBe(200)
    // 3 × 0.0025 dollars × 37.5 × 500,000
    expect(
      (await consumed(app)).slice(before).map(({ quota }) => quota),
      String(type),
    ).toEqual([140_625])
  }
})

test.each([
  ['MiniMax', 35, [{ base_resp: { status_code: 0, status_msg: 'success' }, data: null }, { data: { audio: '' } }]],
  ['Mistral', 42, [{}, { audio_data: '' }]],
])('an answer of %s without audio is none, and unbilled', async (_vendor, type, answers) => {
  await setOptions(app, { RetryTimes: '0' })
  const before = (await consumed(app)).length
  for (const answer of answers) {
    const { model } = await serve(app, { type, baseUrl: scripted.play(json(answer)) })
    const reply = await app.relay(token, '/v1/audio/speech', { model, input: 'hello', voice: 'alloy' })
    expect(reply.status, JSON.stringify(answer)).toBe(500)
  }
  expect(await consumed(app)).toHaveLength(before)
})
