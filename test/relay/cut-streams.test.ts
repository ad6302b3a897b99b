import { describe, expect, test } from 'vitest'
import { serve, withOptions } from './serve.ts'
import { chat, consumed, say, type CallerDialect, callerDialects } from './caller-dialects.ts'
import { startScriptedRelay } from './relay-world.ts'
import { cut, type Step } from '#test/support/scripted-upstream.ts'
import { isTaken } from '#test/support/long.ts'

const { app, token, scripted } = await startScriptedRelay({ options: { RetryTimes: '1' } })

const kinds = [
  { name: 'an OpenAI channel', type: 1 },
  { name: 'an Anthropic channel', type: 14 },
  { name: 'a Gemini channel', type: 24 },
]

/** The error event that ends a broken stream, in exactly the dialect's form. */
function endingError(by: CallerDialect, text: string) {
  const events = text.trimEnd().split('\n\n')
  const [before, data] = [events.at(-2), events.at(-1)].map(
    (event = '') => JSON.parse(/^data: (.*)$/m.exec(event)?.[1] ?? 'null') as Record<string, unknown> | null,
  )
  if (by.dialect === 'responses') return responsesError(before, data)
  // An event needs no id of its own: the message carries it.
  return by.readError(by.dialect === 'messages' ? { request_id: '', ...data } : data)
}

type Data = Record<string, unknown> | null | undefined

/** The error has an event, and the response fails as a whole: clients read the one or the other. */
function responsesError(error: Data, ending: Data) {
  const failed = ending?.['response'] as { id: string; status: string; error: { message: string } } | undefined
  expect(error?.['type']).toBe('error')
  expect(ending).toMatchObject({ type: 'response.failed', response: { status: 'failed' } })
  expect(failed?.id).toMatch(/^resp/)
  expect(Number(ending?.['sequence_number'])).toBe(Number(error?.['sequence_number']) + 1)
  expect(failed?.error.message).toBe(error?.['message'])
  return { message: String(failed?.error.message) }
}

const scenarios = [
  { way: 'is reset', directive: 'cut' },
  { way: 'ends without an end', directive: 'fin' },
]

describe.each(kinds)('a stream of $name', ({ type }) => {
  const kind = kinds.findIndex((each) => each.type === type)
  describe.each(scenarios)('that $way', ({ directive }) => {
    const way = scenarios.findIndex((each) => each.directive === directive)
    test.each(callerDialects.filter((_, place) => isTaken(2, kind, way, place)))(
      'after any event is another channel’s before the first byte and an error event after it, in $dialect',
      async (by: CallerDialect) => {
        for (const after of [0, 1, 2, 3, 5]) {
          const label = `${directive}=${after}`
          const broken = { type, priority: 1, does: `events=8,${directive}=${after}` }
          const { model, ids } = await serve(app, broken, { type, does: 'events=8' })
          const before = (await consumed(app)).length
          const reply = await say(app, by, { token, model, stream: true })
          const text = await reply.text()
          expect(reply.status, label).toBe(200)
          const [row, ...others] = (await consumed(app)).slice(before)
          expect(others, label).toEqual([])
          expect(row?.quota, label).toBeGreaterThan(0)
          if (row?.channel_id === ids[1]) {
            expect(text, label).toMatch(by.closing)
            expect(row?.other['end'], label).toBeUndefined()
            // What vendors say before their first word only opens the answer.
            const opening = type === 1 && by.dialect === 'responses' ? 5 : type === 14 ? 4 : 3
            expect(after, label).toBeLessThan(opening)
          } else {
            expect(text, label).not.toMatch(by.closing)
            expect(endingError(by, text).message, label).toContain('request id')
            expect(row?.other, label).toMatchObject({ end: 'failed' })
            expect(after, label).toBeGreaterThan(0)
          }
        }
      },
    )
  })
})

test('what was delivered of a broken stream is charged by our own count, and the log says so', async () => {
  // "hello" after the role, the message and the answer's beginning: 1 + 1 + 3 + 3 = 8 tokens.
  // "You said: hello You" is 1, 3, 4 and 5 tokens long after each word.
  const delivered = [0, 1, 3, 4, 5]
  for (const [words, tokens] of delivered.entries()) {
    if (words === 0) continue
    const { model } = await serve(app, { does: `events=20,cut=${words + 1}` })
    await withOptions(app, { RetryTimes: '0' }, async () => {
      const text = await (await say(app, chat, { token, model, stream: true })).text()
      expect(text.match(/"content":"[^"]+"/g)).toHaveLength(words)
    })
    const row = (await consumed(app)).at(-1)
    expect(row).toMatchObject({ prompt_tokens: 8, completion_tokens: tokens, quota: Math.round((8 + tokens) * 37.5) })
    expect(row?.other).toMatchObject({ usage_source: 'estimated', end: 'failed' })
  }
})

test('a stream cut after its finish is complete, with its usage or without', async () => {
  // Two words: role, word, word, finish, usage, end marker.
  for (const [after, source] of [
    [4, 'estimated'],
    [5, 'upstream'],
  ] as const) {
    for (const directive of ['fin', 'cut']) {
      const { model } = await serve(app, { does: `events=2,usage=10:2,${directive}=${after}` })
      const text = await (await say(app, chat, { token, model, stream: true })).text()
      expect(text, `${directive}=${after}`).toContain('"finish_reason":"stop"')
      expect(text).not.toContain('"error"')
      expect(text, `${directive}=${after}`).toMatch(chat.closing)
      const row = (await consumed(app)).at(-1)
      // (10 + 2) × 37.5, or 8 of the prompt and 3 of "You said:"
      expect(row?.quota).toBe(source === 'upstream' ? 450 : Math.round(11 * 37.5))
      expect(row?.other).toMatchObject({ usage_source: source })
    }
  }
})

const chunk = (rest: object): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', ...rest })}\n\n`
const choice = (index: number, delta: object, finish_reason: string | null = null) => ({ index, delta, finish_reason })
const usage = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 }
const named = (type: string, rest: object = {}): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`

describe('a passthrough stream that has come to its end', () => {
  // What is sent up to the end, in the events after which it has come, and the mark that closes it, if the dialect has one.
  const streams: { dialect: string; type: number; begun: string; ends: string[]; mark: string; quota: number }[] = [
    {
      dialect: 'chat completions',
      type: 1,
      begun: chunk({ choices: [choice(0, { role: 'assistant', content: 'You said' })] }),
      ends: [chunk({ choices: [choice(0, {}, 'stop')], usage }), chunk({ choices: [], usage })],
      mark: 'data: [DONE]\n\n',
      quota: 450,
    },
    {
      dialect: 'messages',
      type: 14,
      begun:
        named('message_start', { message: { id: 'm', role: 'assistant', content: [], usage: { input_tokens: 10 } } }) +
        named('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }) +
        named('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'You said' } }) +
        named('content_block_stop', { index: 0 }),
      ends: [named('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } })],
      mark: named('message_stop'),
      quota: 450,
    },
    {
      dialect: 'generateContent',
      type: 24,
      begun: `data: ${JSON.stringify({ candidates: [{ content: { role: 'model', parts: [{ text: 'You said' }] } }] })}\n\n`,
      ends: [
        `data: ${JSON.stringify({ usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 2, totalTokenCount: 12 }, candidates: [{ content: { role: 'model', parts: [{ text: '' }] }, finishReason: 'STOP' }] })}\n\n`,
      ],
      mark: '',
      quota: 450,
    },
  ]

  const marksIn = (text: string, mark: string): number => (mark === '' ? 1 : text.split(mark).length - 1)

  test.each(streams)(
    'has its closing mark once, whether the upstream sent it or not, in $dialect',
    async ({ dialect, type, begun, ends, mark, quota }) => {
      const by = callerDialects.find((known) => known.dialect === dialect) ?? chat
      const finished = ends.slice(0, 1).join('')
      const ways: Record<string, Step[]> = {
        'with all': [begun, ...ends, mark],
        // As hosts do that speak both dialects.
        'with more after its mark': [begun, ...ends, mark, ...(type === 14 ? ['data: [DONE]\n\n'] : [])],
        'without its mark': [begun, ...ends],
        'after its finish': [begun, finished],
        'broken after its finish': [begun, finished, cut],
        'broken in its mark': [begun, finished, mark.slice(0, -4), cut],
      }
      for (const [label, steps] of Object.entries(ways)) {
        const { model } = await serve(app, { type, baseUrl: scripted.play({ steps }) })
        const text = await (await say(app, by, { token, model, stream: true })).text()
        if (label === 'with more after its mark') expect(text).toContain(mark)
        else expect(text, label).toMatch(by.closing)
        expect(marksIn(text, mark), label).toBe(1)
        expect(text, label).not.toContain('"error"')
        const row = (await consumed(app)).at(-1)
        expect(row, label).toMatchObject({ model_name: model, quota, prompt_tokens: 10, completion_tokens: 2 })
        expect(row?.other['end'], label).toBeUndefined()
      }
    },
  )

  test('has the usage chunk that its caller asked for before the mark, where the upstream sent neither', async () => {
    const steps = [
      chunk({ choices: [choice(0, { role: 'assistant', content: 'You said:' })] }),
      chunk({ choices: [choice(0, {}, 'stop')] }),
    ]
    const { model } = await serve(app, { baseUrl: scripted.play({ steps }) })
    const body = { ...chat.body(model, 'hello', true), stream_options: { include_usage: true } }
    const text = await (await say(app, chat, { token, body })).text()
    expect(text).toMatch(/data: \{[^\n]*"choices":\[\],"usage":\{[^\n]*\}\n\ndata: \[DONE\]\n\n$/)
    // 8 of the prompt and 3 of "You said:".
    expect((await consumed(app)).at(-1)?.quota).toBe(Math.round(11 * 37.5))
  })

  test('has no mark while one of its answers was being written', async () => {
    const steps: Step[] = [
      chunk({ choices: [choice(0, { role: 'assistant', content: 'one' }), choice(1, { content: 'two' })] }),
      chunk({ choices: [choice(0, {}, 'stop')] }),
      cut,
    ]
    const { model } = await serve(app, { baseUrl: scripted.play({ steps }) })
    const text = await (await say(app, chat, { token, body: { ...chat.body(model, 'hello', true), n: 2 } })).text()
    expect(text).toContain('"finish_reason":"stop"')
    expect(text).not.toContain('[DONE]')
  })

  test('has the mark of the calls before chats, too', async () => {
    const steps = [
      chunk({ object: 'text_completion', choices: [{ index: 0, text: 'You said', finish_reason: 'stop' }] }),
    ]
    const { model } = await serve(app, { baseUrl: scripted.play({ steps }) })
    const reply = await app.relay(token, '/v1/completions', { model, prompt: 'x', suffix: 'y', stream: true })
    expect(await reply.text()).toMatch(/"finish_reason":"stop"[^\n]*\n\ndata: \[DONE\]\n\n$/)
  })
})

test('an error inside a stream is sent in the caller’s dialect, with the upstream’s message', async () => {
  for (const { type } of kinds) {
    for (const by of callerDialects) {
      const { model } = await serve(app, { type, does: 'events=30,errorevent=8,message=it broke' })
      const reply = await say(app, by, { token, model, stream: true })
      const text = await reply.text()
      const label = `${type} ${by.dialect}`
      expect(endingError(by, text).message, label).toBe(`it broke (request id: ${reply.headers.get('x-request-id')})`)
      expect(text, label).not.toMatch(by.closing)
      // Where the vendor has a field for it too.
      if (by.dialect === 'claude') expect(text, label).toContain(`"request_id":"${reply.headers.get('x-request-id')}"`)
    }
  }
})

describe('time', () => {
  test('a long gap does not end a stream; the caller is sent keep-alive comments', async () => {
    await withOptions(
      app,
      { 'general_setting.ping_interval_enabled': 'true', 'general_setting.ping_interval_seconds': '1' },
      async () => {
        const { model: late } = await serve(app, { does: 'events=1,delay=1250' })
        const { model: slow } = await serve(app, { does: 'events=1,gap=1250' })
        const ask = async (by: CallerDialect, model: string) => {
          const text = await (await say(app, by, { token, model, stream: true })).text()
          expect(text).toMatch(by.closing)
          expect(text).toContain(by.ping)
          if (by.dialect === 'generateContent') expect(text).not.toMatch(/^:/m)
        }
        await Promise.all([...callerDialects.map((by) => ask(by, late)), ask(chat, slow)])
      },
    )
  })

  test('an upstream idle beyond the channel’s limit ends in an error event, and what was delivered is charged', async () => {
    // Long enough for the five events to come first on a machine that stalls.
    const { model } = await serve(app, { setting: '{"idle_timeout":3}', does: 'events=20,stall=5' })
    const text = await (await say(app, chat, { token, model, stream: true })).text()
    expect(endingError(chat, text).message).toContain('上游响应超时')
    expect(text).not.toMatch(chat.closing)
    expect((await consumed(app)).at(-1)).toMatchObject({ completion_tokens: 5, quota: Math.round(13 * 37.5) })
  })

  test('a call that fails after a keep-alive comment ends in an error event', async () => {
    await withOptions(
      app,
      {
        RetryTimes: '0',
        'general_setting.ping_interval_enabled': 'true',
        'general_setting.ping_interval_seconds': '1',
      },
      async () => {
        const { model } = await serve(app, { does: 'delay=1300,status=400,message=no' })
        await Promise.all(
          callerDialects.map(async (by) => {
            const reply = await say(app, by, { token, model, stream: true })
            expect(reply.status).toBe(200)
            const text = await reply.text()
            expect(text).toContain(by.ping)
            expect(endingError(by, text).message).toContain('no (request id')
            expect(text).not.toMatch(by.closing)
          }),
        )
      },
    )
  })
})
