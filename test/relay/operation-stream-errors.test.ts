import { describe, expect, test } from 'vitest'
import { key, startFailingOperations, words } from './failing-operations.ts'
import { channelsOf, serve, setOptions } from './serve.ts'

const { app, scripted, post, postFile, rowsOf } = await startFailingOperations()

const draw = (model: string, n = 1) => post('/images/generations', { model, prompt: 'a cat', n, stream: true })
const speak = (model: string) => post('/audio/speech', { model, input: 'hi', voice: 'alloy', stream_format: 'sse' })
const transcribe = (model: string) => postFile('/audio/transcriptions', { model, stream: 'true' })

const data = (value: object): string => `data: ${JSON.stringify(value)}\n\n`
const named = (value: { type: string }): string => `event: ${value.type}\n${data(value)}`
const usage = { input_tokens: 10, output_tokens: 2, total_tokens: 12 }

const streams = [
  {
    name: 'an image',
    ask: draw,
    part: data({ type: 'image_generation.partial_image', b64_json: 'AAAA' }),
    done: data({ type: 'image_generation.completed', b64_json: 'AAAA', usage }),
  },
  {
    name: 'speech',
    ask: speak,
    part: data({ type: 'speech.audio.delta', audio: 'AAAA' }),
    done: data({ type: 'speech.audio.done', usage }),
  },
  {
    name: 'a transcription',
    ask: transcribe,
    part: data({ type: 'transcript.text.delta', delta: 'hello' }),
    done: data({ type: 'transcript.text.done', text: 'hello', usage }),
  },
]

const message = JSON.stringify(words)
const forms: readonly [name: string, text: string][] = [
  ['with blanks', `data: { "error" : { "message" : ${message} } }\n\n`],
  ['behind another field', data({ code: 500, error: { message: words } })],
  ['as a text', data({ error: words })],
  ['named as failed', named({ type: 'image_generation.failed', error: { message: words } } as { type: string })],
  ['flat', named({ type: 'error', code: 'server_error', message: words } as { type: string })],
  ['with escapes', `data: {"err\\u006fr":{"message":${message.replace('Zx81', '\\u005ax\\u00381')}}}\n\n`],
  ['without error', data({ code: 500, message: words })],
  ['of several', data({ errors: [{ message: words }] })],
  ['of a framework', data({ detail: words })],
  ['in several lines', `data: {\r\ndata: "error":\r\ndata: {"message":${message}}}\r\n\r\n`],
  ['with line ends of both kinds', `data: {"error":{"message":${message}}}\n\r\n`],
  ['without its last line end', data({ error: { message: words } }).trimEnd()],
  ['in no field', `{"error":{"message":${message}}}\n\n`],
]

describe.each(streams)('a stream of $name', ({ ask, part, done }) => {
  test.each(forms)('that ends with an error %s shows no key of the channel, and has failed', async (_, failure) => {
    const { model } = await serve(app, { key, baseUrl: scripted.play({ steps: [part, failure] }) })
    const text = await (await ask(model)).text()
    expect(text.startsWith(part)).toBe(true)
    expect(text).toContain('overloaded, says ***')
    expect(text).not.toContain('Zx81')
    expect(text).not.toContain('\\u005a')
    expect(await rowsOf(model)).toMatchObject([{ other: { end: 'failed' } }])
  })

  test('shows no key of the channel in its comments', async () => {
    const comment = `: busy, says ${key}\n`
    const steps = [`${comment}\n`, comment + part, part + comment, comment + done, `${comment}\n`]
    const { model } = await serve(app, { key, baseUrl: scripted.play({ steps }) })
    const text = await (await ask(model)).text()
    expect(text).toBe(`:\n\n:\n${part}${part}:\n:\n${done}:\n\n`)
    expect((await rowsOf(model))[0]?.other).not.toHaveProperty('end')
  })

  test('that begins with an error is asked for elsewhere, and charged once', async () => {
    for (const [form, failure] of forms) {
      const { model, ids } = await serve(
        app,
        { key, priority: 1, baseUrl: scripted.play({ steps: [failure] }) },
        { baseUrl: scripted.play({ steps: [part, done] }) },
      )
      expect(await (await ask(model)).text(), form).toBe(part + done)
      expect((await rowsOf(model)).map((row) => [row.channel_id, channelsOf(row)])).toEqual([[ids[1], ids]])
    }
  })

  test('shows no word of the upstream where those are hidden, before the first byte and after it', async () => {
    await setOptions(app, { RetryTimes: '0', 'global.hide_upstream_error_enabled': 'true' })
    for (const [form, failure] of forms) {
      for (const steps of [[failure], [part, failure]]) {
        const { model } = await serve(app, { key, baseUrl: scripted.play({ steps }) })
        const text = await (await ask(model)).text()
        expect(text, form).toContain('upstream returned status 500')
        expect(text, form).not.toMatch(/overloaded|Zx81|server_error/)
      }
    }
  })
})

test('a plain text in an event that is named as an error is masked', async () => {
  const [stream] = streams
  const failure = `event: error\ndata: ${words}\n\n`
  const { model } = await serve(app, { key, baseUrl: scripted.play({ steps: [stream!.part, failure] }) })
  expect(await (await draw(model)).text()).toBe(`${stream!.part}event: error\ndata: overloaded, says ***\n\n`)
})

const eachImage = 0.0025 * 37.5 * 500_000

describe('an image of several that failed', () => {
  const failed = named({
    type: 'image_generation.partial_failed',
    image_index: 0,
    error: { code: 'OutputImageFailed', message: words },
  } as { type: string })
  const shown = failed.replace(key, '***')
  const image = named({ type: 'image_generation.partial_succeeded', url: 'https://i.test/a.png' } as { type: string })
  const closing = named({ type: 'image_generation.completed', usage: { generated_images: 1 } } as { type: string })

  test.each([
    ['first', [failed, image, closing], shown + image + closing],
    ['last', [image, failed, closing], image + shown + closing],
    ['in one piece with all others', [failed + image + closing], shown + image + closing],
    ['without an event behind them', [image, failed], image + shown],
  ])('leaves the others as they are, and is not charged: %s', async (_, steps, expected) => {
    const { model } = await serve(app, { key, baseUrl: scripted.play({ steps }) })
    expect(await (await draw(model, 2)).text()).toBe(expected)
    const rows = await rowsOf(model)
    expect(rows).toMatchObject([{ quota: eachImage }])
    expect(rows[0]?.other).not.toHaveProperty('end')
  })

  test('shows no word of the upstream where those are hidden', async () => {
    await setOptions(app, { 'global.hide_upstream_error_enabled': 'true' })
    const { model } = await serve(app, { key, baseUrl: scripted.play({ steps: [failed, image, failed + closing] }) })
    const text = await (await draw(model, 3)).text()
    expect(text.match(/^event: .*$/gm)).toEqual(
      ['partial_failed', 'partial_succeeded', 'partial_failed', 'completed'].map(
        (type) => `event: image_generation.${type}`,
      ),
    )
    expect(text.match(/upstream returned status 500/g)).toHaveLength(2)
    expect(text).not.toMatch(/overloaded|OutputImageFailed|Zx81/)
  })

  test('is asked for elsewhere where no other came', async () => {
    const drawn = data({ type: 'image_generation.completed', b64_json: 'AAAA', usage })
    for (const steps of [[failed, failed], [failed, failed, closing], [failed + failed + closing], [closing]]) {
      const { model, ids } = await serve(
        app,
        { key, priority: 1, baseUrl: scripted.play({ steps }) },
        { baseUrl: scripted.play({ steps: [drawn] }) },
      )
      expect(await (await draw(model)).text()).toBe(drawn)
      expect((await rowsOf(model)).map((row) => [row.channel_id, channelsOf(row)])).toEqual([[ids[1], ids]])
    }
  })
})
