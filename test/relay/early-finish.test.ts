import { describe, expect, test } from 'vitest'
import { cut, type Step } from '#test/support/scripted-upstream.ts'
import { type CallerDialect, callerDialects, chat, consumed, say } from './caller-dialects.ts'
import { startScriptedRelay } from './relay-world.ts'
import { serve } from './serve.ts'

// Each token costs 37.5 units.
const { app, scripted } = await startScriptedRelay({ options: { RetryTimes: '0' } })
const [, responses, messages, gemini] = callerDialects as [CallerDialect, CallerDialect, CallerDialect, CallerDialect]

const words = ' word'.repeat(10)
const frame = (type: string, fields: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`

/** The opening, an end, and what each piece of ten words is sent as. */
type Form = { by: CallerDialect; type: number; opening: string[]; end: string; piece: string }

const stop = frame('message_stop', {})
const message = { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null }
const claude: Form = {
  by: messages,
  type: 14,
  opening: [
    frame('message_start', { message: { ...message, usage: { input_tokens: 5, output_tokens: 1 } } }),
    frame('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
  ],
  end: frame('message_delta', { delta: { stop_reason: 'end_turn', stop_sequence: null } }),
  piece: frame('content_block_delta', { index: 0, delta: { type: 'text_delta', text: words } }),
}
const google = (finishReason?: string): string =>
  `data: ${JSON.stringify({ candidates: [{ content: { role: 'model', parts: [{ text: words }] }, finishReason, index: 0 }] })}\n\n`
const finished: Form = { by: gemini, type: 24, opening: [], end: google('STOP'), piece: google('STOP') }
const unfinished: Form = { ...finished, piece: google() }

async function ask({ by, type, opening, end, piece }: Form, quota: number, steps: Step[]) {
  const { model } = await serve(app, { type, baseUrl: scripted.play({ steps: [...opening, end, ...steps] }) })
  const user = await app.make.user({ quota })
  const limit = by === messages ? { max_tokens: 30_000 } : {}
  const body = { ...by.body(model, 'hi', true), ...limit }
  const reply = await say(app, by, { token: await app.make.token(user), model, stream: true, body })
  const reader = (reply.body as ReadableStream<Uint8Array>).getReader()
  return { reader, model, user, piece }
}

async function rest(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<string> {
  let text = ''
  for (let read = await reader.read(); !read.done; read = await reader.read())
    text += new TextDecoder().decode(read.value)
  return text
}

test.each([
  ['messages', claude],
  ['generateContent, once', unfinished],
  ['generateContent, in every chunk', finished],
])('what comes behind a reason to finish is delivered as it comes, metered and charged: %s', async (_name, form) => {
  const gate = Promise.withResolvers<undefined>()
  const rich = await ask(form, 1e9, [form.piece, form.piece, gate.promise, form.piece, form.end])
  let first = ''
  while (!first.includes('word')) first += new TextDecoder().decode((await rich.reader.read()).value)
  gate.resolve(undefined)
  const text = first + (await rest(rich.reader))
  expect(text.match(/word/g)?.length).toBeGreaterThanOrEqual(30)

  const many: Step[] = Array.from({ length: 600 }, () => [form.piece, 1]).flat()
  const poor = await ask(form, 40_000, [...many, form.end])
  const cut = await rest(poor.reader)
  expect(cut.match(/word/g)?.length).toBeLessThan(2000)
  const row = (await consumed(app)).find(({ model_name: name }) => name === poor.model)
  expect(row?.completion_tokens).toBeGreaterThan(500)
  const { rows } = await app.pool.query('select quota::int from users where id = $1', [poor.user.id])
  // One chunk and its estimate at most.
  expect(rows[0].quota).toBeGreaterThan(-2000)
})

test('what comes behind the closing event is nothing', async () => {
  const completed = frame('response.completed', {
    response: {
      id: 'r',
      object: 'response',
      status: 'completed',
      output: [],
      usage: { input_tokens: 5, output_tokens: 10 },
    },
  })
  const delta = frame('response.output_text.delta', { item_id: 'i', output_index: 0, content_index: 0, delta: words })
  const created = frame('response.created', {
    response: { id: 'r', object: 'response', status: 'in_progress', output: [] },
  })
  const form: Form = { by: responses, type: 1, opening: [created, delta], end: completed, piece: delta }
  const { reader, model } = await ask(
    form,
    1e9,
    Array.from({ length: 100 }, () => delta),
  )
  expect((await rest(reader)).match(/word/g)).toHaveLength(10)
  expect((await consumed(app)).find(({ model_name: name }) => name === model)?.completion_tokens).toBe(10)

  const closed: Form = { ...claude, end: claude.piece + claude.end + stop }
  for (const by of [messages, chat, gemini]) {
    const more = Array.from({ length: 100 }, () => claude.piece)
    const after = await ask({ ...closed, by }, 1e9, more)
    const text = await rest(after.reader)
    expect(text.match(/word/g), by.dialect).toHaveLength(10)
    expect(text, by.dialect).toMatch(by.closing)
  }
})

const nothing = google().replace(words, '')
const sources: { source: string; type: number; opening: string[]; end: string; piece: string; ending: Step[] }[] = [
  { source: 'Claude', ...claude, ending: [claude.end] },
  { source: 'Claude, by its last event', ...claude, ending: [stop] },
  { source: 'Gemini', ...finished, end: google('STOP').replace(words, ''), piece: google(), ending: [google('STOP')] },
]

describe.each(sources)('an answer of $source that stops before it ends', ({ type, opening, end, piece, ending }) => {
  const receive = async (by: CallerDialect, steps: Step[], stream = true) => {
    const { model } = await serve(app, { type, baseUrl: scripted.play({ steps: [...opening, ...steps] }) })
    const user = await app.make.user({ quota: 1e9 })
    const reply = await say(app, by, { token: await app.make.token(user), model, stream })
    const text = await reply.text()
    const rows = (await consumed(app)).filter((row) => row.model_name === model)
    return { text, rows, status: reply.status }
  }
  const early: [string, Step[]][] = [
    ['stood first', [end, piece, piece]],
    ['stood behind each piece', [piece, end, piece, end, piece]],
  ]
  const breaks: Step[][] = [[], [cut]]

  test.each(callerDialects)(
    'is broken where it is cut behind it, and complete with another end: $dialect',
    async (by) => {
      for (const [way, steps] of early) {
        for (const breaking of breaks) {
          const broken = await receive(by, [...steps, ...breaking])
          expect(broken.text, way).not.toMatch(by.closing)
          expect(broken.text.trimEnd().split('\n\n').at(-1), way).toContain('error')
          expect(broken.rows, way).toMatchObject([{ other: { end: 'failed' } }])
          expect(broken.rows[0]?.completion_tokens, way).toBeGreaterThanOrEqual(20)
        }
        const complete = await receive(by, [...steps, ...ending])
        expect(complete.text, way).toMatch(by.closing)
        expect(complete.rows[0]?.other, way).not.toHaveProperty('end')
        const unstreamed = await receive(by, steps, false)
        expect(unstreamed.status, way).toBe(500)
        expect(unstreamed.rows, way).toEqual([])
      }
    },
  )

  test.each(callerDialects)('is complete where nothing of it follows: $dialect', async (by) => {
    const empty = type === 24 ? nothing : frame('content_block_stop', { index: 0 })
    for (const breaking of breaks) {
      const { text, rows } = await receive(by, [piece, end, empty, ...breaking])
      expect(text).not.toContain('"error":{')
      expect(rows[0]?.other).not.toHaveProperty('end')
    }
  })
})

describe.each(callerDialects)('a call of a Claude stream, asked for by $dialect,', (by) => {
  const opened = claude.opening.slice(0, 1)
  const begun = frame('content_block_start', {
    index: 0,
    content_block: { type: 'tool_use', id: 't', name: 'look', input: {} },
  })
  const part = (partial_json: string) =>
    frame('content_block_delta', { index: 0, delta: { type: 'input_json_delta', partial_json } })
  const stopped = frame('content_block_stop', { index: 0 })
  const reason = frame('message_delta', { delta: { stop_reason: 'tool_use', stop_sequence: null } })
  const ping = frame('ping', {})
  const [empty, first, second] = [part(''), part('{"city":'), part('"Paris"}')]

  const ways: [string, string[]][] = [
    ['before its block', [reason, begun, empty, first, ping, second, stopped]],
    ['before its arguments', [begun, reason, empty, first, second, stopped]],
    ['between them', [begun, empty, first, reason, ping, second, stopped]],
    ['behind each of them', [begun, reason, first, reason, second, reason, stopped]],
  ]
  test.each(ways)('has all its arguments where a reason to finish stands %s', async (_, steps) => {
    const { model } = await serve(app, {
      type: 14,
      baseUrl: scripted.play({ steps: [...opened, ...steps, reason, stop] }),
    })
    const user = await app.make.user({ quota: 1e9 })
    const reply = await say(app, by, { token: await app.make.token(user), model, stream: true })
    const text = await reply.text()
    expect(text).toMatch(by.closing)
    expect(argumentsIn(text)).toEqual({ city: 'Paris' })
    expect((await consumed(app)).find((row) => row.model_name === model)?.other).not.toHaveProperty('end')
  })

  test('is broken where it is cut behind an early reason to finish', async () => {
    const steps: Step[] = [...opened, begun, first, reason, second, cut]
    const { model } = await serve(app, { type: 14, baseUrl: scripted.play({ steps }) })
    const user = await app.make.user({ quota: 1e9 })
    const reply = await say(app, by, { token: await app.make.token(user), model, stream: true })
    const text = await reply.text()
    expect(text).not.toMatch(by.closing)
    expect(text.trimEnd().split('\n\n').at(-1)).toContain('error')
  })
})

/** The arguments of the only call of a stream, in whichever dialect. */
function argumentsIn(text: string): unknown {
  const events = [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => JSON.parse(data ?? ''))
  const complete = events
    .flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? [])
    .find((part) => part.functionCall)
  if (complete) return complete.functionCall.args
  const pieces = events.map(
    ({ choices, type, delta }) =>
      choices?.[0]?.delta?.tool_calls?.[0]?.function?.arguments ??
      (type === 'response.function_call_arguments.delta' ? delta : delta?.partial_json) ??
      '',
  )
  return JSON.parse(pieces.join(''))
}
