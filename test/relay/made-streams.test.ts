import OpenAI, { toFile } from 'openai'
import { expect, test } from 'vitest'
import { json } from '#test/support/scripted-upstream.ts'
import { pixel } from '#test/simulator/media.ts'
import { consumed } from './caller-dialects.ts'
import { startScriptedRelay } from './relay-world.ts'
import { serve } from './serve.ts'

const { app, scripted, token } = await startScriptedRelay({ options: { RetryTimes: '0' } })
const client = new OpenAI({ apiKey: `sk-${token.key}`, baseURL: `${app.url}/v1`, maxRetries: 0 })

const drawn = pixel.toString('base64')

async function collect<Event>(stream: AsyncIterable<Event>): Promise<Event[]> {
  const events: Event[] = []
  for await (const event of stream) events.push(event)
  return events
}

const draw = async (model: string, more: { n?: number; response_format?: 'url' } = {}) =>
  collect(await client.images.generate({ model, prompt: 'a dot', stream: true, ...more }))

const chargesOf = async (model: string) => (await consumed(app)).filter((row) => row.model_name === model)

test('an image of a vendor without streams comes as the event that its caller waits for', async () => {
  const parts = [{ inlineData: { mimeType: 'image/png', data: drawn } }]
  const gemini = json({ candidates: [{ content: { parts }, finishReason: 'STOP' }] })
  const png = { headers: { 'content-type': 'image/png' }, steps: [pixel] }
  for (const route of [
    { type: 24, upstreamModel: 'gemini-2.5-flash-image', baseUrl: scripted.play(gemini) },
    { type: 39, other: 'acc', upstreamModel: '@cf/a/b', baseUrl: scripted.play(png) },
    // Given by its address, which an event has no place for.
    { type: 17, upstreamModel: 'qwen-image' },
  ]) {
    const { model } = await serve(app, route)
    expect(await draw(model), String(route.type)).toEqual([{ type: 'image_generation.completed', b64_json: drawn }])
    expect(await chargesOf(model)).toMatchObject([{ is_stream: true }])
  }
})

test('images are one event each, with what is said of all, and what all took once', async () => {
  const usage = { input_tokens: 10, output_tokens: 2, total_tokens: 12 }
  const answer = { created: 7, size: '1024x1024', data: [{ b64_json: 'AA' }, { b64_json: 'BB' }], usage }
  const { model } = await serve(app, { baseUrl: scripted.play(json(answer)) })
  const about = { type: 'image_generation.completed', created_at: 7, size: '1024x1024' }
  expect(await draw(model, { n: 2 })).toEqual([
    { ...about, b64_json: 'AA' },
    { ...about, b64_json: 'BB', usage },
  ])
  expect(await chargesOf(model)).toMatchObject([{ prompt_tokens: 10, completion_tokens: 2 }])
})

test('whoever wants addresses gets them in the events too', async () => {
  const { model } = await serve(app, { type: 17, upstreamModel: 'qwen-image' })
  const events = await draw(model, { response_format: 'url' })
  expect(events).toEqual([{ type: 'image_generation.completed', url: expect.stringContaining('/media/pixel.png') }])
})

test('an edited image comes as an event of its kind', async () => {
  const { model } = await serve(app, { type: 17, upstreamModel: 'qwen-image-edit-plus' })
  const image = await toFile(pixel, 'dot.png', { type: 'image/png' })
  const stream = await client.images.edit({ model, image, prompt: 'a hat', stream: true })
  expect(await collect(stream)).toEqual([{ type: 'image_edit.completed', b64_json: drawn }])
})

test('speech of a vendor without streams comes as events where those are wanted', async () => {
  const audio = Buffer.from('sound').toString('base64')
  const { model } = await serve(app, { type: 42, baseUrl: scripted.play(json({ audio_data: audio })) })
  const ask = { model, input: 'hello', voice: 'alloy' } as const
  const reply = await client.audio.speech.create({ ...ask, stream_format: 'sse' })
  expect(reply.headers.get('content-type')).toContain('text/event-stream')
  const events = (await reply.text()).split('\n\n').flatMap((event) => event.split('data: ')[1] ?? [])
  const [row] = await chargesOf(model)
  expect(events.map((event) => JSON.parse(event))).toEqual([
    { type: 'speech.audio.delta', audio },
    { type: 'speech.audio.done', usage: expect.objectContaining({ input_tokens: row?.prompt_tokens }) },
  ])
  expect(await (await client.audio.speech.create(ask)).text()).toBe('sound')
})

test('a transcription of a vendor without streams comes as events', async () => {
  const baseUrl = scripted.play(json({ success: true, result: { text: 'hello' } }))
  const { model } = await serve(app, { type: 39, other: 'acc', upstreamModel: '@cf/openai/whisper', baseUrl })
  const file = await toFile(Buffer.alloc(100), 'a.wav', { type: 'audio/wav' })
  const stream = await client.audio.transcriptions.create({ model, file, stream: true })
  expect(await collect(stream)).toEqual([
    { type: 'transcript.text.delta', delta: 'hello' },
    { type: 'transcript.text.done', text: 'hello' },
  ])
})
