import { setTimeout as pause } from 'node:timers/promises'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { hang, json, type Play, startScriptedUpstream, type Step } from '#test/support/scripted-upstream.ts'
import { serve, setOptions, withOptions } from './serve.ts'
import { chat, consumed, eventually, openHolds, say, type CallerDialect, callerDialects } from './caller-dialects.ts'
import { startRelay } from './relay-world.ts'

const { app, token } = await startRelay()
beforeEach(() => app.upstream.clear())

const kinds = [
  { name: 'an OpenAI channel', type: 1 },
  { name: 'an Anthropic channel', type: 14 },
  { name: 'a Gemini channel', type: 24 },
]

/** The one row of a call that was left: written, its hold gone, the upstream no longer busy with it. */
async function rowAfter(before: number) {
  const rows = await eventually(
    () => consumed(app),
    (all) => all.length > before,
  )
  await expect.poll(() => openHolds(app)).toBe(0)
  const fresh = (await consumed(app)).slice(before)
  expect(fresh, `${rows.length} rows`).toHaveLength(1)
  return fresh[0]
}

/** Reads a stream until the text holds, then leaves. */
async function leaveAfter(reply: Response, leave: AbortController, holds: (text: string) => boolean): Promise<string> {
  let text = ''
  const decoder = new TextDecoder()
  const reader = reply.body?.getReader()
  if (!reader) throw new Error('no body')
  for (;;) {
    const { value, done } = await reader.read()
    if (value) text += decoder.decode(value, { stream: true })
    if (done || holds(text)) break
  }
  leave.abort()
  await reader.closed.catch(() => {})
  return text
}

describe.each(kinds)('a caller of $name that hangs up', ({ type }) => {
  test.each(callerDialects)(
    'before the first byte stops the upstream and pays for the prompt, in $dialect',
    async (by) => {
      for (const stream of [false, true]) {
        app.upstream.clear()
        const { model } = await serve(app, { type, does: 'hang' })
        const before = (await consumed(app)).length
        const leave = new AbortController()
        const call = say(app, by, { token, model, stream, signal: leave.signal })
        call.catch(() => {})
        await expect.poll(() => app.upstream.open).toBe(1)
        leave.abort()
        await expect.poll(() => app.upstream.aborted).toBe(1)
        const row = await rowAfter(before)
        expect(row).toMatchObject({ completion_tokens: 0, is_stream: stream })
        expect(row?.other).toMatchObject({ end: 'hung-up', usage_source: 'estimated' })
        expect(Math.abs((row?.quota ?? 0) - (row?.prompt_tokens ?? 0) * 37.5)).toBeLessThan(1)
        expect(row?.prompt_tokens).toBeGreaterThan(0)
        expect(row?.prompt_tokens).toBeLessThan(20)
      }
    },
  )

  test.each(callerDialects)(
    'in the middle stops the upstream and pays for prompt and delivery, in $dialect',
    async (by) => {
      // The simulated Gemini reports the complete answer's usage with its first word, which would be charged.
      const { model } = await serve(app, { type, does: `events=400,gap=50${type === 24 ? ',nousage' : ''}` })
      const before = (await consumed(app)).length
      const leave = new AbortController()
      const reply = await say(app, by, { token, model, stream: true, signal: leave.signal })
      // The words of the answer repeat "You said: hello".
      const text = await leaveAfter(reply, leave, (seen) => seen.split('hello').length > 3)
      await expect.poll(() => app.upstream.aborted).toBe(1)
      const row = await rowAfter(before)
      // An id by chance may have a word in it.
      const words = text.replaceAll(/"(?:item_)?id":"[^"]*"/g, '').split(/You| said:| hello/).length - 1
      expect(row?.other).toMatchObject({ end: 'hung-up' })
      // "You" and "hello" are one token each, " said:" is two; a little more may have been on its way.
      expect(row?.completion_tokens).toBeGreaterThanOrEqual(words)
      expect(row?.completion_tokens).toBeLessThan(words * 2 + 60)
      const exact = ((row?.prompt_tokens ?? 0) + (row?.completion_tokens ?? 0)) * 37.5
      // Claude's formula rounds down.
      expect(row?.quota).toBe(type === 14 || by.dialect === 'messages' ? Math.floor(exact) : Math.round(exact))
    },
  )
})

describe('tools that a conversation has changed are paid for as they were sent, by whoever hangs up:', () => {
  const words = 'word '.repeat(1000)
  const schema = { type: 'object', properties: {} }
  const user = { role: 'user', content: 'hi' }
  const removal = { type: 'tool_removal', tool: { type: 'tool_reference', name: 'a' } }
  const withdrawn = {
    path: '/v1/messages',
    body: {
      max_tokens: 9,
      tools: ['a', 'b'].map((name) => ({ name, description: name === 'a' ? words : name, input_schema: schema })),
      messages: [user, { role: 'system', content: [removal] }],
    },
  }
  const tools = [{ type: 'function', name: 'a', description: words, parameters: schema }]
  const twice = ['1', '2'].flatMap((id) => [
    { type: 'tool_search_call', call_id: id, execution: 'client', arguments: {} },
    { type: 'tool_search_output', call_id: id, execution: 'client', status: 'completed', tools },
  ])
  const repeated = {
    path: '/v1/responses',
    body: { tools: [{ type: 'tool_search', execution: 'client' }], input: [user, ...twice] },
  }

  test.each([
    ['withdrawn where they stand', 1, withdrawn, { type: 14, upstreamModel: 'claude-opus-4-8' }],
    ['taken out for a model that takes no changes', 0, withdrawn, { type: 14, upstreamModel: 'claude-sonnet-5' }],
    ['left out of another form', 0, withdrawn, { type: 1 }],
    ['found twice', 2, repeated, { type: 1, upstreamModel: 'gpt-5.4' }],
    ['found twice and named once in another form', 1, repeated, { type: 43 }],
  ])('%s', async (_, times, { path, body }, route) => {
    app.upstream.clear()
    const { model } = await serve(app, { ...route, does: 'hang' })
    const before = (await consumed(app)).length
    const leave = new AbortController()
    const call = app.relay(token, path, { model, stream: true, ...body }, { signal: leave.signal })
    call.catch(() => {})
    await expect.poll(() => app.upstream.open).toBe(1)
    leave.abort()
    const { prompt_tokens: paid = 0 } = (await rowAfter(before)) ?? {}
    expect(Math.floor(paid / 1000)).toBe(times)
  })
})

test('whoever’s own time ran out at an upstream that never said a word pays nothing; who leaves sooner does', async () => {
  const user = await app.make.user({ quota: 1_000_000_000 })
  const own = await app.make.token(user)
  const { model } = await serve(app, { does: 'hang' })
  for (const [by, seconds, free] of [
    [callerDialects[0], '10', true],
    [callerDialects[0], '600', false],
    // Nobody could answer in that time.
    [callerDialects[0], '0.5', false],
  ] as const) {
    const before = (await consumed(app)).length
    const headers = { 'x-stainless-timeout': seconds }
    const leave = new AbortController()
    const asked = app.upstream.total
    const left = say(app, by as CallerDialect, { token: own, model, headers, signal: leave.signal }).catch(
      (error: unknown) => error,
    )
    await expect.poll(() => app.upstream.total).toBe(asked + 1)
    const now = performance.now.bind(performance)
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + 10_000)
    try {
      leave.abort()
      expect(await left).toMatchObject({ name: 'AbortError' })
      await expect.poll(() => openHolds(app)).toBe(0)
    } finally {
      clock.mockRestore()
    }
    expect((await consumed(app)).length - before).toBe(free ? 0 : 1)
  }
})

const frame = (value: unknown): string => `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`
const chunk = (delta: object, finish: string | null = null, usage?: object): string =>
  frame({
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason: finish }],
    ...(usage ? { usage } : {}),
  })
const twoWords = [chunk({ role: 'assistant', content: 'You' }), chunk({ content: ' said:' })]

test('a caller that hangs up while the usage is awaited pays for prompt and delivery, once', async () => {
  await using upstream = await startScriptedUpstream()
  for (const steps of [
    [...twoWords, hang],
    [...twoWords, chunk({}, 'stop'), hang],
  ] as Step[][]) {
    const { model } = await serve(app, { baseUrl: upstream.play({ steps }) })
    const before = (await consumed(app)).length
    const leave = new AbortController()
    const reply = await say(app, chat, { token, model, stream: true, signal: leave.signal })
    const reader = reply.body?.getReader()
    let text = ''
    while (reader && !text.includes(' said:')) text += new TextDecoder().decode((await reader.read()).value)
    // So that the end without a usage is there where there is one.
    await pause(100)
    leave.abort()
    const row = await rowAfter(before)
    // 8 of the prompt and 3 of "You said:"
    expect(row).toMatchObject({ quota: Math.round(11 * 37.5), prompt_tokens: 8, completion_tokens: 3 })
    expect(row?.other).toMatchObject({ end: 'hung-up', usage_source: 'estimated' })
  }
})

test('a price per call is due in full when the caller hangs up', async () => {
  const { model } = await serve(app, { does: 'hang' })
  await withOptions(app, { ModelPrice: JSON.stringify({ [model]: 0.02 }) }, async () => {
    const before = (await consumed(app)).length
    const leave = new AbortController()
    say(app, chat, { token, model, signal: leave.signal }).catch(() => {})
    await expect.poll(() => app.upstream.open).toBe(1)
    leave.abort()
    // 0.02 × 500000
    expect((await rowAfter(before))?.quota).toBe(10_000)
  })
})

test('where the operator wants it the answer is read to its end and charged as reported', async () => {
  await withOptions(app, { 'global.finish_after_hangup_enabled': 'true' }, async () => {
    await using upstream = await startScriptedUpstream()
    const usage = { prompt_tokens: 500, completion_tokens: 60, total_tokens: 560 }
    const streamed = (left: Promise<unknown>): Play => ({
      steps: [...twoWords, left, chunk({ content: ' hello' }, 'stop', usage), frame('[DONE]')],
    })
    const unstreamed = (left: Promise<unknown>): Play => {
      const message = { role: 'assistant', content: 'hello' }
      const { steps, ...rest } = json({
        id: 'c',
        object: 'chat.completion',
        created: 1,
        model: 'm',
        choices: [{ index: 0, message, finish_reason: 'stop' }],
        usage,
      })
      return { ...rest, steps: [left, ...steps] }
    }
    for (const [play, stream, by] of [
      [streamed, true, chat],
      [unstreamed, false, chat],
      [streamed, true, callerDialects[2] as CallerDialect],
    ] as const) {
      const left = Promise.withResolvers<void>()
      const { model } = await serve(app, { baseUrl: upstream.play(play(left.promise)) })
      const before = (await consumed(app)).length
      const asked = upstream.received.length
      const leave = new AbortController()
      const call = say(app, by, { token, model, stream, signal: leave.signal })
      call.catch(() => {})
      await expect.poll(() => upstream.received.length).toBeGreaterThan(asked)
      if (stream) await leaveAfter(await call, leave, (text) => text.includes('said'))
      else leave.abort()
      // The gateway sees that first.
      await expect.poll(() => app.services.underWay.size).toBe(0)
      left.resolve()
      const row = await rowAfter(before)
      // (500 + 60) × 37.5
      expect(row?.quota, play.name).toBe(21_000)
      expect(row?.other).toMatchObject({ end: 'hung-up', usage_source: 'upstream' })
    }
  })
})

test('a caller that left is not tried for on other channels, and a failed attempt costs it nothing', async () => {
  await withOptions(app, { 'global.finish_after_hangup_enabled': 'true' }, async () => {
    const { model } = await serve(app, { does: 'gate=left,status=500' }, { priority: -1 })
    const before = await consumed(app)
    const leave = new AbortController()
    say(app, chat, { token, model, signal: leave.signal }).catch(() => {})
    await expect.poll(() => app.upstream.open).toBe(1)
    leave.abort()
    // The gateway sees that first.
    await expect.poll(() => app.services.underWay.size).toBe(0)
    app.upstream.openGate('left')
    await expect.poll(() => app.upstream.open).toBe(0)
    await expect.poll(() => openHolds(app)).toBe(0)
    expect(await consumed(app)).toHaveLength(before.length)
    expect(app.upstream.total).toBe(1)
  })
})

test('a caller that leaves before anything was asked pays nothing', async () => {
  // The image never comes, so the upstream is never asked.
  const { model } = await serve(app, { type: 24 })
  const before = await consumed(app)
  const leave = new AbortController()
  const url = `${app.upstream.withDirectives('hang')}/media/pixel.png`
  const content = [{ type: 'image_url', image_url: { url } }]
  const body = { model, messages: [{ role: 'user', content }] }
  say(app, chat, { token, body, signal: leave.signal }).catch(() => {})
  await expect.poll(() => app.upstream.open).toBe(1)
  leave.abort()
  await expect.poll(() => openHolds(app)).toBe(0)
  expect(await consumed(app)).toHaveLength(before.length)
})

test('two hundred callers that hang up at random leave the ledger balanced', async () => {
  const { model } = await serve(app, { does: 'events=20,gap=5' })
  await setOptions(app, { RetryTimes: '2' })
  const before = (await consumed(app)).length
  await Promise.all(
    Array.from({ length: 200 }, async (_, index) => {
      const leave = new AbortController()
      const timer = setTimeout(() => leave.abort(), (index * 7) % 180)
      await say(app, callerDialects[index % 4] as CallerDialect, { token, model, stream: true, signal: leave.signal })
        .then((reply) => reply.text())
        .catch(() => '')
      clearTimeout(timer)
    }),
  )
  await expect.poll(() => openHolds(app)).toBe(0)
  const rows = (await consumed(app)).slice(before)
  expect(new Set(rows.map((row) => row.request_id)).size).toBe(rows.length)
  await expect.poll(() => app.upstream.open).toBe(0)
  expect(await app.violations()).toEqual([])
})
