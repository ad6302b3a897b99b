import { describe, expect, test, vi } from 'vitest'
import { channelsOf, serve, withOptions } from './serve.ts'
import { chat, consumed, say, type CallerDialect, callerDialects } from './caller-dialects.ts'
import { startScriptedRelay } from './relay-world.ts'
import { hang, json, type Step } from '#test/support/scripted-upstream.ts'

const { app, scripted, token } = await startScriptedRelay({ options: { RetryTimes: '1' } })

const data = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`
const named = (type: string, rest: object = {}): string => `event: ${type}\n${data({ type, ...rest })}`
const chunk = (delta: object): string =>
  data({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: null }] })
const candidate = (parts: object[]): string => data({ candidates: [{ content: { role: 'model', parts } }] })

const overloaded = { type: 'overloaded_error', message: 'so busy' }
const ping = named('ping')
const start = named('message_start', {
  message: { id: 'm', role: 'assistant', content: [], usage: { input_tokens: 50_000, output_tokens: 1 } },
})
const block = named('content_block_start', { index: 0, content_block: { type: 'text', text: '' } })
const thinking = named('content_block_start', { index: 0, content_block: { type: 'thinking', thinking: '' } })
const response = { id: 'r', object: 'response', status: 'in_progress', output: [] }
const item = { type: 'message', id: 'i', role: 'assistant', content: [] }

/** How upstreams open a stream and then fail, and which word of theirs would be the first. */
const vendors: { name: string; type: number; error: string; word: string; openings: Record<string, string[]> }[] = [
  {
    name: 'Anthropic',
    type: 14,
    error: named('error', { error: overloaded }),
    word: named('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'word' } }),
    openings: {
      'a ping': [ping],
      'a start with usage': [start],
      'all that opens': [start, block, ping],
      'a thought without words': [start, thinking, named('content_block_stop', { index: 0 })],
    },
  },
  {
    name: 'OpenAI',
    type: 1,
    error: data({ error: overloaded }),
    word: chunk({ content: 'word' }),
    openings: {
      'a role': [chunk({ role: 'assistant', content: '' })],
      'filter results': [data({ choices: [], prompt_filter_results: [{}] }), chunk({ role: 'assistant' })],
    },
  },
  {
    name: 'Gemini',
    type: 24,
    error: data({ error: { code: 503, message: 'so busy', status: 'UNAVAILABLE' } }),
    word: candidate([{ text: 'word' }]),
    openings: {
      'usage alone': [data({ candidates: [], usageMetadata: { promptTokenCount: 50_000 } })],
      'an empty text': [candidate([{ text: '' }])],
    },
  },
  {
    name: 'Cohere',
    type: 34,
    error: named('message-end', {
      delta: { finish_reason: 'ERROR', error: 'so busy', usage: { tokens: { input_tokens: 5000, output_tokens: 0 } } },
    }),
    word: named('content-delta', { index: 0, delta: { message: { content: { text: 'word' } } } }),
    openings: {
      'a start': [named('message-start', { id: 'm', delta: { message: { role: 'assistant', content: [] } } })],
    },
  },
]
/** What an OpenAI channel says to callers of responses, who are passed through. */
const responses = {
  error: named('error', { code: 'server_error', message: 'so busy' }),
  word: named('response.output_text.delta', { item_id: 'i', output_index: 0, content_index: 0, delta: 'word' }),
  openings: {
    'a start': [named('response.created', { response }), named('response.in_progress', { response })],
    'an item': [
      named('response.created', { response }),
      named('response.output_item.added', { output_index: 0, item }),
      named('response.content_part.added', { item_id: 'i', part: { type: 'output_text', text: '' } }),
    ],
  },
}

/** The events that a caller's channel of this kind sends. */
const spoken = (vendor: (typeof vendors)[number], by: CallerDialect) =>
  vendor.type === 1 && by.dialect === 'responses' ? { ...vendor, ...responses } : vendor
const cases = vendors.flatMap((vendor) =>
  callerDialects.map((by) => ({ name: vendor.name, vendor, by, to: by.dialect })),
)

const charged = async (model: string) => (await consumed(app)).filter((row) => row.model_name === model)
const failing = (type: number, steps: Step[]) => ({ type, priority: 1, baseUrl: scripted.play({ steps }) })

describe.each(cases)('a stream of $name that only opened, for $to', ({ vendor, by }) => {
  const { openings, error, word } = spoken(vendor, by)
  const { type } = vendor

  test('is another channel’s to answer, unbilled, whether it fails at once, later or breaks off', async () => {
    for (const [what, opening] of Object.entries(openings)) {
      for (const [way, steps] of Object.entries({
        'at once': [[...opening, error].join('')],
        later: [...opening.flatMap((event) => [event, 20]), error],
        'broken off': opening,
      })) {
        const { model, ids } = await serve(app, failing(type, steps), { type, does: 'usage=10:2' })
        const text = await (await say(app, by, { token, model, stream: true })).text()
        expect(text, `${what} ${way}`).toContain('hello')
        expect(text, `${what} ${way}`).toMatch(by.closing)
        expect(text.match(/event: message_start|event: response.created/g) ?? [], what).toHaveLength(
          ['messages', 'responses'].includes(by.dialect) ? 1 : 0,
        )
        const rows = await charged(model)
        // (10 + 2) × 37.5
        expect(rows.map((row) => [row.quota, channelsOf(row)])).toEqual([[450, ids]])
      }
    }
  })

  test('is a refusal, unbilled, where nobody else can answer', async () => {
    for (const [what, opening] of Object.entries(openings)) {
      const { model } = await serve(app, failing(type, [...opening, error]))
      const reply = await say(app, by, { token, model, stream: true })
      expect(reply.status, what).toBeGreaterThanOrEqual(400)
      expect(by.readError(await reply.json()).message, what).toContain('so busy')
      expect(await charged(model), what).toEqual([])
    }
  })

  test('leaves with its first word, and is paid for from there on', async () => {
    const opening = Object.values(openings).at(-1) ?? []
    let go = (): void => {}
    const seen = new Promise<void>((resolve) => (go = resolve))
    const { model } = await serve(app, failing(type, [...opening, 20, word, seen, error]), { type })
    const reply = await say(app, by, { token, model, stream: true })
    const reader = reply.body?.getReader()
    const first = new TextDecoder().decode((await reader?.read())?.value as Uint8Array | undefined)
    expect(first).toContain('word')
    go()
    let rest = ''
    for (let read = await reader?.read(); read && !read.done; read = await reader?.read())
      rest += new TextDecoder().decode(read.value as Uint8Array)
    expect(rest).toContain('so busy')
    const [row] = await charged(model)
    expect(row?.other).toMatchObject({ end: 'failed' })
    expect(row?.quota).toBeGreaterThan(0)
  })
})

test('keep-alive comments go on while an answer only opens, and another channel can answer behind them', async () => {
  const options = { 'general_setting.ping_interval_enabled': 'true', 'general_setting.ping_interval_seconds': '1' }
  await withOptions(app, options, async () => {
    await Promise.all(
      callerDialects.map(async (by) => {
        const { model, ids } = await serve(app, failing(14, [start, 1300, named('error', { error: overloaded })]), {
          type: 14,
          does: 'usage=10:2',
        })
        const text = await (await say(app, by, { token, model, stream: true })).text()
        expect(text.startsWith(by.ping), text.slice(0, 100)).toBe(true)
        expect(text).toMatch(by.closing)
        expect((await charged(model)).map((row) => [row.quota, channelsOf(row)])).toEqual([[450, ids]])
      }),
    )
  })
})

test('callers of generateContent are sent empty answers, not comments, while a channel that cannot stream answers', async () => {
  const message = { role: 'assistant', content: 'look' }
  const answer = { id: 'c', object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'stop' }] }
  const setting = '{"stream_support":"NON_STREAM_ONLY"}'
  const { model } = await serve(app, { type: 31, setting, baseUrl: scripted.play(json(answer)) })
  const interactions = { ...chat, path: () => '/v1/interactions', body: () => ({ model, input: 'hi', stream: true }) }
  for (const by of [...callerDialects, interactions]) {
    const text = await (await say(app, by, { token, model, stream: true })).text()
    const first = by.dialect === 'generateContent' ? by.ping : ': WAITING FOR UPSTREAM\n\n'
    expect(text.slice(0, first.length), by.dialect).toBe(first)
    expect(text, by.dialect).toContain('look')
  }
})

/** Withholds openings for ever instead of five seconds, within the scope that has it by `using`; `withheld` resolves with the first. */
function withholdOpenings() {
  const { promise: withheld, resolve } = Promise.withResolvers<void>()
  const { setTimeout: usual } = globalThis
  const noted = (act: () => void, ms?: number, ...given: []): NodeJS.Timeout => {
    if (ms !== 5000) return usual(act, ms, ...given)
    resolve()
    return usual(act, 2 ** 31 - 1)
  }
  const spy = vi.spyOn(globalThis, 'setTimeout').mockImplementation(noted as typeof setTimeout)
  return { withheld, [Symbol.dispose]: () => spy.mockRestore() }
}

describe('an answer that opens and then takes its time', () => {
  const late = callerDialects.filter(({ dialect }) => dialect !== 'generateContent')
  test.each(late.flatMap((by) => [1, 14].map((type) => ({ by, type, to: by.dialect }))))(
    'begins after some seconds and, failing then, ends in an error that costs nothing: type $type, for $to',
    async ({ by, type }) => {
      const vendor = vendors.find((each) => each.type === type) ?? vendors[0]
      if (!vendor) throw new Error('no vendor')
      const { openings, error } = spoken(vendor, by)
      let go = (): void => {}
      const seen = new Promise<void>((resolve) => (go = resolve))
      const steps = [...(Object.values(openings).at(-1) ?? []), seen, error]
      const { model } = await serve(app, failing(type, steps), { type })
      const since = performance.now()
      const reply = await say(app, by, { token, model, stream: true })
      expect(performance.now() - since).toBeGreaterThan(4500)
      go()
      const text = await reply.text()
      expect(reply.status).toBe(200)
      expect(text.match(/so busy/g)?.length).toBeGreaterThanOrEqual(1)
      expect(text).toContain(`request id: ${reply.headers.get('x-request-id')}`)
      expect(text).not.toMatch(by.closing)
      expect(await charged(model)).toEqual([])
    },
  )

  test('is paid for by a caller who leaves meanwhile', async () => {
    const [messages] = callerDialects.filter(({ dialect }) => dialect === 'messages')
    if (!messages) throw new Error('no such caller')
    const { model } = await serve(app, failing(14, [start, hang]))
    using openings = withholdOpenings()
    const leaving = new AbortController()
    const calling = fetch(app.url + messages.path(model, true), {
      method: 'POST',
      headers: { authorization: `Bearer sk-${token.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(messages.body(model, 'hello', true)),
      signal: leaving.signal,
    })
    // Its beginning has been read by then.
    const left = openings.withheld.then(() => leaving.abort())
    await expect(calling).rejects.toThrow()
    await left
    await expect.poll(async () => (await charged(model))[0]?.prompt_tokens).toBe(50_000)
  })

  test('is not kept back whole where its opening has no end', async () => {
    const role = chunk({ role: 'assistant', content: '' })
    const { model } = await serve(app, failing(1, [role.repeat(12_000), hang]))
    const [by] = callerDialects
    if (!by) throw new Error('no such caller')
    using _ = withholdOpenings()
    const reply = await say(app, by, { token, model, stream: true })
    expect(reply.status).toBe(200)
    await reply.body?.cancel()
  })
})

describe('an error in words that are not the dialect’s', () => {
  test.each([
    [14, 'messages', 'bare', data({ error: { message: 'so busy' } }), 'so busy'],
    [14, 'messages', 'named', `event: error\n${data({ message: 'so busy' })}`, 'so busy'],
    [14, 'messages', 'a mere message', data({ message: 'so busy' }), 'request id'],
    [
      24,
      'generateContent',
      'in a list',
      data([{ error: { code: 503, message: 'so busy', status: 'UNAVAILABLE' } }]),
      'so busy',
    ],
    [24, 'generateContent', 'no candidates', data({ candidates: [] }), 'request id'],
  ])('as the only event is tried elsewhere, unbilled: type %i, %s, %s', async (type, own, _what, event, message) => {
    for (const by of callerDialects.filter(({ dialect }) => dialect === own || dialect === 'chat completions')) {
      const { model, ids } = await serve(app, failing(type, [event]), { type, does: 'usage=10:2' })
      expect(await (await say(app, by, { token, model, stream: true })).text()).toMatch(by.closing)
      expect((await charged(model)).map((row) => [row.quota, channelsOf(row)])).toEqual([[450, ids]])
      const { model: alone } = await serve(app, failing(type, [event]))
      const reply = await say(app, by, { token, model: alone, stream: true })
      expect(reply.status).toBeGreaterThanOrEqual(400)
      if (by.dialect === own) expect(by.readError(await reply.json()).message).toContain(message)
      expect(await charged(alone)).toEqual([])
    }
  })
})
