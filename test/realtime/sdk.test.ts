import OpenAI from 'openai'
import { OpenAIRealtimeWS as BetaWS } from 'openai/beta/realtime/ws'
import { OpenAIRealtimeWebSocket } from 'openai/realtime/websocket'
import { OpenAIRealtimeWS } from 'openai/realtime/ws'
import { afterAll, describe, expect, test } from 'vitest'
import { startTlsFront, trustTestCertificate } from './tls-front.ts'
import { chargesOf, model, payerWith, startRealtime, untilFree } from './world.ts'

trustTestCertificate()
const world = await startRealtime()
const front = await startTlsFront(Number(new URL(world.app.url).port))
afterAll(() => front.close())

const libraryFor = (key: string) =>
  new OpenAI({ apiKey: `sk-${key}`, baseURL: `https://localhost:${front.port}/v1`, dangerouslyAllowBrowser: true })

type Realtime = OpenAIRealtimeWS | OpenAIRealtimeWebSocket

/** Everything received until a response is over, and the failures reported on the way. */
function listen(realtime: Realtime) {
  const failures: Error[] = []
  const received: { type: string }[] = []
  const done = Promise.withResolvers<void>()
  realtime.on('error', (error) => {
    failures.push(error)
    done.reject(error)
  })
  realtime.on('event', (event) => void received.push(event))
  realtime.on('response.done', () => done.resolve())
  return { failures, received, done: done.promise }
}

const opened = (socket: Realtime['socket']): Promise<void> =>
  new Promise((resolve) => (socket as WebSocket).addEventListener('open', () => resolve()))

function say(realtime: Realtime, text: string): void {
  realtime.send({
    type: 'conversation.item.create',
    item: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
  })
  realtime.send({ type: 'response.create' })
}

const helpers = [
  ['over ws', (key: string) => new OpenAIRealtimeWS({ model }, libraryFor(key))],
  ['over the runtime’s own sockets', (key: string) => new OpenAIRealtimeWebSocket({ model }, libraryFor(key))],
] as const

test('the official library transcribes, naming its model in the first update alone', async () => {
  const { app } = world
  await app.make.channel({ models: 'whisper-1', baseUrl: app.upstream.url })
  const payer = await payerWith(app, 100_000)
  const realtime = new OpenAIRealtimeWS({ intent: 'transcription' }, libraryFor(payer.key))
  const text = new Promise<string>((resolve, reject) => {
    realtime.on('error', reject)
    realtime.on('conversation.item.input_audio_transcription.completed', ({ transcript }) => resolve(transcript))
  })
  realtime.on('session.created', () => {
    const audio = { input: { transcription: { model: 'whisper-1' }, turn_detection: null } } as const
    realtime.send({ type: 'session.update', session: { type: 'transcription', audio } })
    realtime.send({ type: 'input_audio_buffer.append', audio: Buffer.alloc(96_000, 1).toString('base64') })
    realtime.send({ type: 'input_audio_buffer.commit' })
  })
  expect(await text).toBe('words')
  realtime.close()
  await untilFree(app, payer.userId)
  expect(await chargesOf(app, payer.userId)).toMatchObject([{ model_name: 'whisper-1', quota: 33 * 15 }])
})

describe.each(helpers)('the official library %s', (_, connect) => {
  test('receives a text answer and is charged for it', async () => {
    const { app } = world
    const payer = await payerWith(app, 100_000)
    const realtime = connect(payer.key)
    const { received, done, failures } = listen(realtime)
    let text = ''
    realtime.on('response.output_text.delta', ({ delta }) => (text += delta))
    await opened(realtime.socket)
    realtime.send({ type: 'session.update', session: { type: 'realtime', output_modalities: ['text'] } })
    say(realtime, '[[usage=100:20]] Hello')
    await done
    expect(text).toBe('You said: Hello')
    expect(failures).toEqual([])
    expect(received[0]?.type).toBe('session.created')
    realtime.close()
    await untilFree(app, payer.userId)
    // (100 + 20 × 4) × 2.5.
    expect(await app.balanceOf(payer.userId)).toBe(100_000 - 450)
  })

  test('receives a spoken answer to spoken words: 2425', async () => {
    const { app } = world
    const payer = await payerWith(app, 100_000)
    const realtime = connect(payer.key)
    const { done } = listen(realtime)
    let bytes = 0
    let words = ''
    realtime.on('response.output_audio.delta', ({ delta }) => (bytes += Buffer.from(delta, 'base64').length))
    realtime.on('response.output_audio_transcript.delta', ({ delta }) => (words += delta))
    await opened(realtime.socket)
    realtime.send({ type: 'input_audio_buffer.append', audio: Buffer.alloc(48_000).toString('base64') })
    realtime.send({ type: 'input_audio_buffer.commit' })
    say(realtime, '[[usage=40:60,audio=30:40,words=10]] Hello')
    await done
    expect(bytes).toBe(10 * 4800)
    expect(words.trim().split(' ')).toHaveLength(10)
    realtime.close()
    await untilFree(app, payer.userId)
    expect((await chargesOf(app, payer.userId)).map((row) => row.quota)).toEqual([2425])
  })

  test('calls a function and receives what its result makes of the answer', async () => {
    const { app } = world
    const payer = await payerWith(app, 100_000)
    const realtime = connect(payer.key)
    const first = listen(realtime)
    await opened(realtime.socket)
    realtime.send({
      type: 'session.update',
      session: {
        type: 'realtime',
        output_modalities: ['text'],
        tools: [
          {
            type: 'function',
            name: 'weather',
            parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          },
        ],
      },
    })
    const call = Promise.withResolvers<{ call_id: string; arguments: string }>()
    realtime.on('response.function_call_arguments.done', (event) => call.resolve(event))
    say(realtime, 'weather in Paris')
    const { call_id, arguments: words } = await call.promise
    expect(JSON.parse(words)).toEqual({ city: 'Paris' })
    await first.done
    let text = ''
    realtime.on('response.output_text.done', (event) => (text = event.text))
    const second = new Promise<void>((resolve) => realtime.on('response.done', () => resolve()))
    realtime.send({
      type: 'conversation.item.create',
      item: { type: 'function_call_output', call_id, output: 'Sunny' },
    })
    realtime.send({ type: 'response.create' })
    await second
    expect(text).toBe('The tool says: Sunny')
    realtime.close()
    await untilFree(app, payer.userId)
    expect(await chargesOf(app, payer.userId)).toHaveLength(2)
  })

  test('receives that it cannot pay, as an error of the API', async () => {
    const payer = await payerWith(world.app, 10)
    const realtime = connect(payer.key)
    const { done } = listen(realtime)
    await expect(done).rejects.toMatchObject({ error: { code: 'insufficient_user_quota' } })
    realtime.close()
  })
})

test('the older helper speaks the older form', async () => {
  const { app } = world
  const payer = await payerWith(app, 100_000)
  const realtime = new BetaWS({ model }, libraryFor(payer.key))
  const done = Promise.withResolvers<void>()
  let words = ''
  realtime.on('error', (error) => done.reject(error))
  realtime.on('response.audio_transcript.delta', ({ delta }) => (words += delta))
  realtime.on('response.done', () => done.resolve())
  await new Promise((resolve) => realtime.socket.on('open', resolve))
  realtime.send({
    type: 'conversation.item.create',
    item: {
      type: 'message',
      role: 'user',
      content: [{ type: 'input_text', text: '[[usage=40:60,audio=30:40]] Hello' }],
    },
  })
  realtime.send({ type: 'response.create' })
  await done.promise
  expect(words).toBe('You said: Hello')
  realtime.close()
  await untilFree(app, payer.userId)
  expect(await app.balanceOf(payer.userId)).toBe(100_000 - 2425)
})
