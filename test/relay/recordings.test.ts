import { afterAll, describe, expect, test } from 'vitest'
import { startApp } from '#test/support/app.ts'
import { json, startScriptedUpstream } from '#test/support/scripted-upstream.ts'
import {
  aiff,
  au,
  chunk,
  flac,
  framedFlac,
  liveWebm,
  m4a,
  mp3,
  ogg,
  opus,
  rf64,
  statedMp3,
  vorbis,
  w64,
  wav,
  webm,
} from '#test/support/audio-files.ts'
import { amr, caf, mp4 } from '#test/support/packed-audio.ts'
import { closeWithoutViolations, consumed } from './caller-dialects.ts'
import { allowUnpriced, serve } from './serve.ts'

const app = await startApp()
const scripted = await startScriptedUpstream()
await allowUnpriced(app)
const token = await app.make.token(await app.make.user({ quota: 1_000_000_000 }))
afterAll(async () => {
  await closeWithoutViolations(app)
  await scripted[Symbol.asyncDispose]()
})

let priority = 0
/** What the gateway replies to a recording, of a model that a channel of its own answers for. */
async function sendRecording(
  operation: string,
  model: string,
  recording: { file: Buffer; type: string; answer: object },
) {
  const { file, type, answer } = recording
  priority += 1
  const { id } = await app.make.channel({ baseUrl: scripted.play(json(answer)), models: model, priority })
  await app.services.channels.reload(id)
  const form = new FormData()
  form.set('model', model)
  form.set('file', new Blob([new Uint8Array(file)], { type }), 'recording')
  const headers = { authorization: `Bearer sk-${token.key}` }
  return fetch(`${app.url}/v1/audio/${operation}`, { method: 'POST', headers, body: form })
}

async function transcribe(file: Buffer, type: string, answer: object = { text: 'yes' }): Promise<number | undefined> {
  const reply = await sendRecording('transcriptions', 'whisper-1', { file, type, answer })
  expect(reply.status).toBe(200)
  await reply.text()
  return (await consumed(app)).at(-1)?.quota
}

describe('what a recording costs', () => {
  // 90.2 s are 91 whole ones: round(91 / 60 × 1000) = 1517 tokens at 15.
  const ninety = 1517 * 15

  test.each([
    ['wav', wav, 'audio/wav'],
    ['mp3', mp3, 'audio/mpeg'],
    ['mp3 with a table', statedMp3, 'audio/mpeg'],
    ['flac', flac, 'audio/flac'],
    ['m4a', m4a, 'audio/mp4'],
    ['webm', webm, 'audio/webm'],
    ['webm as browsers record it', liveWebm, 'audio/webm'],
    ['ogg', ogg, 'audio/ogg'],
    ['opus', opus, 'audio/ogg'],
    ['vorbis', vorbis, 'audio/ogg'],
    ['flac in frames', framedFlac, 'audio/flac'],
    ['rf64', rf64, 'audio/wav'],
    ['w64', w64, 'audio/x-w64'],
    ['aiff', aiff, 'audio/aiff'],
    ['au', au, 'audio/basic'],
    ['amr', amr, 'audio/amr'],
    ['amr of the wide form', (seconds: number) => amr(seconds, { isWide: true }), 'audio/amr-wb'],
    ['caf', (seconds: number) => caf({ data: Buffer.alloc(seconds * 8000) }), 'audio/x-caf'],
    ['m4a with its packets', mp4, 'audio/mp4'],
    ['mp4 in fragments', (seconds: number) => mp4(seconds, { stated: 0, fragments: 50 }), 'video/mp4'],
  ])('is billed by its own length: %s', async (_, make, type) => {
    expect(await transcribe(make(90.2), type)).toBe(ninety)
    // Whatever its sender calls it.
    expect(await transcribe(make(90.2), 'application/octet-stream')).toBe(ninety)
  })

  test.each([
    ['mp3, one behind the other', Buffer.concat([statedMp3(60), statedMp3(30.2)]), 'audio/mpeg'],
    ['mp3 that states less', statedMp3(90.2, 1), 'audio/mpeg'],
    ['opus, one behind the other', Buffer.concat([opus(60), opus(30.2)]), 'audio/ogg'],
    ['opus that states less', opus(90.2, 1), 'audio/ogg'],
    ['vorbis that states less', vorbis(90.3, 1), 'audio/ogg'],
    ['flac that states less', framedFlac(90.2, 1), 'audio/flac'],
    ['wav from a pipe', wav(90.2, { stated: 0 }), 'audio/wav'],
    ['wav from a pipe at a false rate', wav(90.2, { stated: 0, byteRate: 8_000_000 }), 'audio/wav'],
    ['wav of the largest length', wav(90.2, { stated: 0xffffffff }), 'audio/wav'],
    ['wav of false blocks', wav(90.2, { block: 2000 }), 'audio/wav'],
    ['wav of fewer samples', wav(90.2, { before: chunk('fact', Buffer.from([1, 0, 0, 0])) }), 'audio/wav'],
    ['wav that a reader refuses', wav(90.2, { before: chunk('fact', Buffer.alloc(2)) }), 'audio/wav'],
    ['aiff of fewer samples', aiff(90.2, { samples: 8000 }), 'audio/aiff'],
    ['mp4 that states less', mp4(90.2, { stated: 1, ticks: 1 }), 'audio/mp4'],
    ['mp3 behind bytes that are none', Buffer.concat([Buffer.alloc(9000), mp3(90.2)]), 'audio/mpeg'],
  ])('is that of all that it plays: %s', async (_, file, type) => {
    expect(await transcribe(file, type)).toBe(ninety)
  })

  test('is that of a minute where the length cannot be read', async () => {
    for (const file of [Buffer.from('no sound at all'), Buffer.alloc(5000), wav(90.2).subarray(0, 30)]) {
      expect(await transcribe(file, 'audio/wav')).toBe(1000 * 15)
    }
  })

  test('is taken from the answer where that reports it', async () => {
    // 30 s: 500 tokens.
    expect(await transcribe(wav(90.2), 'audio/wav', { text: 'yes', duration: 30 })).toBe(500 * 15)
    const seconds = { text: 'yes', usage: { type: 'duration', seconds: 30 } }
    expect(await transcribe(wav(90.2), 'audio/wav', seconds)).toBe(500 * 15)
    const tokens = { text: 'yes', usage: { type: 'tokens', input_tokens: 14, output_tokens: 0, total_tokens: 14 } }
    expect(await transcribe(wav(90.2), 'audio/wav', tokens)).toBe(14 * 15)
  })

  test.each([0, -1_000_000, 1e308])(
    'is that of its own length where the answer reports %d seconds',
    async (duration) => {
      expect(await transcribe(wav(90.2), 'audio/wav', { text: 'yes', duration })).toBe(ninety)
      expect((await consumed(app)).at(-1)?.other).toMatchObject({ usage_corrected: true })
    },
  )
})

test.each([
  // (10 + 600 × 2.4 + 150 × 4) × 1.25 = 2562.5.
  ['transcriptions', 'gpt-4o-transcribe', { quota: 2563, other: { audio_input: 600, text_input: 10 } }],
  ['translations', 'gpt-4o-transcribe', { quota: 2563, other: { audio_input: 600, text_input: 10 } }],
  // What sound costs of a model of that name is not listed: (610 + 150) × 37.5.
  ['transcriptions', 'our-transcriber', { quota: 28_500, prompt_tokens: 610 }],
])('tokens of sound cost what sound is listed at, or what text costs: %s, %s', async (operation, model, charged) => {
  const usage = {
    type: 'tokens',
    input_tokens: 610,
    input_token_details: { audio_tokens: 600, text_tokens: 10 },
    output_tokens: 150,
    total_tokens: 760,
  }
  const answer = { text: 'yes', usage }
  const reply = await sendRecording(operation, model, { file: wav(1), type: 'audio/wav', answer })
  expect([reply.status, await reply.json()]).toEqual([200, { text: 'yes', usage }])
  expect((await consumed(app)).at(-1)).toMatchObject(charged)
})

test('a recording that its owner cannot pay for is refused before it is sent', async () => {
  const poor = await app.make.token(await app.make.user({ quota: 20_000 }))
  const before = scripted.received.length
  const form = new FormData()
  form.set('file', new Blob([new Uint8Array(ogg(3600))], { type: 'audio/ogg' }), 'recording.ogg')
  const reply = await fetch(`${app.url}/v1/audio/transcriptions`, {
    method: 'POST',
    headers: { authorization: `Bearer sk-${poor.key}` },
    body: form,
  })
  expect(reply.status).toBe(403)
  expect(scripted.received.length).toBe(before)
})

test.each([
  ['an override', { paramOverride: '{"temperature":0.2}' }],
  ['passing bodies through', { setting: '{"pass_through_body_enabled":true}' }],
])('a recording reaches an upstream that reads no forms, whatever %s of its channel says', async (_name, route) => {
  const answer = json({ success: true, result: { text: 'yes' } })
  const { model } = await serve(app, { type: 39, other: 'acc', baseUrl: scripted.play(answer), ...route })
  const form = new FormData()
  form.set('model', model)
  form.set('file', new Blob([new Uint8Array(wav(1))], { type: 'audio/wav' }), 'recording')
  const headers = { authorization: `Bearer sk-${token.key}` }
  const reply = await fetch(`${app.url}/v1/audio/transcriptions`, { method: 'POST', headers, body: form })
  expect([reply.status, await reply.json()]).toEqual([200, expect.objectContaining({ text: 'yes' })])
  expect(scripted.received.at(-1)?.bytes.equals(wav(1))).toBe(true)
})

test('a form of hundreds of parts is read, and one of thousands refused: each takes the memory of a file', async () => {
  const { id } = await app.make.channel({
    baseUrl: scripted.play(json({ text: 'yes' })),
    models: 'whisper-1',
    priority: 1000,
  })
  await app.services.channels.reload(id)
  const send = async (parts: number) => {
    const form = new FormData()
    form.set('model', 'whisper-1')
    form.set('file', new Blob([new Uint8Array(wav(1))], { type: 'audio/wav' }), 'recording')
    for (let part = 0; part < parts; part += 1) form.append('more', new Blob([]), 'empty')
    const headers = { authorization: `Bearer sk-${token.key}` }
    const reply = await fetch(`${app.url}/v1/audio/transcriptions`, { method: 'POST', headers, body: form })
    return `${reply.status} ${await reply.text()}`
  }
  expect(await send(900)).toMatch(/^200 /)
  expect(await send(2000)).toMatch(/^400 .*too many parts/)
})

test('a form with a second recording is refused: which of them an upstream reads nobody knows', async () => {
  const form = new FormData()
  form.set('model', 'whisper-1')
  for (const seconds of [1, 3600]) form.append('file', new Blob([new Uint8Array(wav(seconds))]), `${seconds}.wav`)
  const before = scripted.received.length
  const headers = { authorization: `Bearer sk-${token.key}` }
  const reply = await fetch(`${app.url}/v1/audio/transcriptions`, { method: 'POST', headers, body: form })
  expect([reply.status, await reply.text()]).toEqual([400, expect.stringContaining('more than one file')])
  expect(scripted.received.length).toBe(before)
})

test('a form in which a text stands twice is refused, whatever it asks for; a list is none', async () => {
  const { model } = await serve(app, { baseUrl: scripted.play(json({ text: 'yes' })) })
  const send = async (path: string, texts: readonly (readonly [string, string])[], file: string) => {
    const form = new FormData()
    form.set('model', model)
    form.set(file, new Blob([new Uint8Array(wav(1))], { type: 'audio/wav' }), 'given')
    for (const text of texts) form.append(...text)
    const headers = { authorization: `Bearer sk-${token.key}` }
    const reply = await fetch(`${app.url}/v1/${path}`, { method: 'POST', headers, body: form })
    return `${reply.status} ${await reply.text()}`
  }
  const prompt = ['prompt', 'a dog'] as const
  const before = scripted.received.length
  for (const [path, file, texts] of [
    ['images/edits', 'image', [prompt, ['n', '10'], ['n', '1']]],
    ['images/edits', 'image', [prompt, ['size', '1024x1024'], ['size', '256x256']]],
    ['images/edits', 'image', [prompt, prompt]],
    ['images/edits', 'n', [prompt, ['n', '1']]],
    ['audio/transcriptions', 'file', [['model', model]]],
    ['audio/translations', 'file', [prompt, prompt]],
  ] as const)
    expect(await send(path, texts, file)).toMatch(/^400 .*the form has \S+ more than once/)
  expect(scripted.received.length).toBe(before)
  const granularities = ['word', 'segment'].map((value) => ['timestamp_granularities[]', value] as const)
  expect(await send('audio/transcriptions', granularities, 'file')).toMatch(/^200 /)
  expect(scripted.received.at(-1)?.bytes.toString('latin1')).toMatch(/word[^]*segment/)
})
