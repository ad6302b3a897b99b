import { describe, expect, test } from 'vitest'
import { cut, hang, json, type Step } from '#test/support/scripted-upstream.ts'
import { type CallerDialect, callerDialects, chat, consumed, say } from './caller-dialects.ts'
import { startScriptedRelay } from './relay-world.ts'
import { serve } from './serve.ts'

const { app, scripted, token } = await startScriptedRelay({ options: { RetryTimes: '0' } })

const words = ' word'.repeat(10)
const frame = (value: object): string => `data: ${JSON.stringify(value)}\n\n`
const head = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' }
const chunk = (delta: object, finish: string | null = null, more: object = {}, index = 0): string =>
  frame({ ...head, choices: [{ index, delta, finish_reason: finish }], ...more })
const end = 'data: [DONE]\n\n'
const usageOf = (completion: number) => ({
  usage: { prompt_tokens: 10, completion_tokens: completion, total_tokens: 10 + completion },
})

const completions: CallerDialect = {
  ...chat,
  dialect: 'completions',
  path: () => '/v1/completions',
  body: (model, text, stream) => ({ model, prompt: text, stream }),
}
const interactions: CallerDialect = {
  ...chat,
  dialect: 'interactions',
  path: () => '/v1/interactions',
  body: (model, text, stream) => ({ model, input: text, stream }),
}
const [, responses, messages, gemini] = callerDialects as [CallerDialect, CallerDialect, CallerDialect, CallerDialect]

type Caller = { name: string; by: CallerDialect; setting: object; type?: number }

const callers: Caller[] = [
  { name: 'chat completions, passed through', by: chat, setting: {} },
  { name: 'chat completions, written anew', by: chat, setting: { force_format: true } },
  ...[completions, messages, gemini, interactions].map((by) => ({ name: by.dialect, by, setting: {} })),
  // Where the upstream has no form of its own for them.
  { name: 'responses', by: responses, setting: {}, type: 43 },
]

async function ask({ by, setting, type = 1 }: Caller, steps: Step[], owner = token) {
  const play = scripted.play({ steps })
  const { model } = await serve(app, { type, baseUrl: play, setting: JSON.stringify({ idle_timeout: 2, ...setting }) })
  const reply = await say(app, by, { token: owner, model, stream: true })
  const text = await reply.text()
  const rows = (await consumed(app)).filter((row) => row.model_name === model)
  // The closing events of two dialects hold the complete answer once more.
  const streamed = text.replaceAll(/event: (interaction\.completed|response\.(?!output_text\.delta))[^\n]*\n.*/g, '')
  return { text, rows, words: streamed.match(/word/g)?.length ?? 0 }
}

const cutReason = /length|max_tokens|MAX_TOKENS|incomplete/
const lastReason = (text: string): string | undefined =>
  text.match(/"(?:finish_reason|stop_reason|finishReason|status)":"\w+"/g)?.at(-1)

/** Twenty pieces of ten words, each with what stands beside it. */
const pieces = (of: (index: number) => string): string[] => Array.from({ length: 20 }, (_, index) => of(index))

const ways: { way: string; steps: Step[]; reports: boolean }[] = [
  {
    way: 'in every chunk, beside growing usage',
    steps: [...pieces((index) => chunk({ content: words }, 'stop', usageOf(10 * (index + 1)))), end],
    reports: true,
  },
  { way: 'in every chunk', steps: [...pieces(() => chunk({ content: words }, 'stop')), end], reports: false },
  { way: 'in every chunk, the last of which', steps: pieces(() => chunk({ content: words }, 'stop')), reports: false },
  {
    way: 'in every chunk, before a break that',
    steps: [...pieces(() => chunk({ content: words }, 'stop')), cut],
    reports: false,
  },
  {
    way: 'in every chunk, before a silence that',
    steps: [...pieces(() => chunk({ content: words }, 'stop')), hang],
    reports: false,
  },
  {
    way: 'in the first chunk alone',
    steps: pieces((index) => chunk({ content: words }, index === 0 ? 'stop' : null)).concat(end),
    reports: false,
  },
  {
    way: 'before the answer, and again behind it with its usage,',
    steps: [
      chunk({ role: 'assistant', content: '' }, 'stop'),
      ...pieces(() => chunk({ content: words })),
      chunk({}, 'stop'),
      frame({ ...head, choices: [], ...usageOf(200) }),
      end,
    ],
    reports: true,
  },
  {
    way: 'beside all of the answer',
    steps: [chunk({ content: words.repeat(20) }, 'stop')],
    reports: false,
  },
]

describe.each(callers)('$name', (caller) => {
  test.each(ways)('has and is charged all of an answer whose reason to finish stands $way', async (of) => {
    const { text, rows, words: delivered } = await ask(caller, of.steps)
    expect(delivered).toBe(200)
    expect(text).not.toMatch(/"error":\{/)
    expect(text).toMatch(caller.by.closing)
    expect(rows).toHaveLength(1)
    const [row] = rows
    expect(row).toMatchObject({
      completion_tokens: 200,
      other: { usage_source: of.reports ? 'upstream' : 'estimated' },
    })
    expect(row?.other).not.toHaveProperty('end')
    if (of.reports) expect(row?.prompt_tokens).toBe(10)
    expect(row?.quota).toBe(Math.round((Number(row?.prompt_tokens) + 200) * 37.5))
  })

  test('has the last reason to finish, behind others', async () => {
    const { text } = await ask(caller, [
      ...pieces(() => chunk({ content: words }, 'stop')),
      chunk({ content: words }, 'length'),
      end,
    ])
    expect(lastReason(text)).toMatch(cutReason)
  })

  test('reads no end of an answer that was cut behind its first reason to finish', async () => {
    const steps: Step[] = [chunk({ content: words }, 'stop'), chunk({ content: words }), cut]
    const { text, rows, words: delivered } = await ask(caller, steps)
    expect(delivered).toBe(20)
    expect(text.trimEnd().split('\n\n').at(-1)).toContain('error')
    expect(text).not.toMatch(caller.by.closing)
    expect(rows).toMatchObject([{ completion_tokens: 20, other: { end: 'failed' } }])
  })

  const failedEnds: [string, Step[]][] = [
    ['alone', [chunk({}, 'error')]],
    ['behind another reason', [chunk({}, 'stop'), chunk({}, 'error')]],
    ['behind another reason, beside usage', [chunk({}, 'stop'), chunk({}, 'error', usageOf(10))]],
  ]
  test.each(failedEnds)('has an error at the end of words whose reason to finish is one, %s', async (_, ends) => {
    const { text, rows, words: delivered } = await ask(caller, [chunk({ content: words }), ...ends, end])
    expect(delivered).toBe(10)
    expect(text.trimEnd().split('\n\n').at(-1)).toContain('error')
    expect(text).toContain('request id')
    expect(text).not.toMatch(caller.by.closing)
    expect(rows).toMatchObject([{ completion_tokens: 10, other: { end: 'failed' } }])
  })

  test('is refused, free, where a reason that is a failure stands in place of an answer', async () => {
    for (const reason of ['error', 'network_error', 'insufficient_system_resource']) {
      const { text, rows } = await ask(caller, [chunk({ role: 'assistant', content: '' }), chunk({}, reason), end])
      expect(JSON.parse(text)).toHaveProperty('error.message', expect.stringContaining(reason))
      expect(rows).toEqual([])
    }
  })

  test('is refused, free, where an answer in one piece ends in an error', async () => {
    const message = { role: 'assistant', content: words }
    const answer = { id: 'c', object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'error' }] }
    const { model } = await serve(app, {
      type: caller.type ?? 1,
      baseUrl: scripted.play(json({ ...answer, ...usageOf(10) })),
      setting: JSON.stringify(caller.setting),
    })
    const reply = await say(app, caller.by, { token, model, stream: false })
    expect(reply.status).toBe(503)
    expect(await reply.text()).not.toContain('word')
    expect((await consumed(app)).filter((row) => row.model_name === model)).toEqual([])
  })

  test('reads an answer while it is written, though every chunk has a reason to finish', async () => {
    const { promise: read, resolve } = Promise.withResolvers<void>()
    const one = chunk({ content: words }, 'stop')
    const { model } = await serve(app, {
      type: caller.type ?? 1,
      baseUrl: scripted.play({ steps: [one, one, read, one, end] }),
      setting: JSON.stringify(caller.setting),
    })
    const reply = await say(app, caller.by, { token, model, stream: true })
    let text = ''
    for await (const piece of reply.body!.pipeThrough(new TextDecoderStream())) {
      text += piece
      if (text.includes(' word')) resolve()
    }
    expect(text).toMatch(caller.by.closing)
  })

  const endless = Array.from({ length: 600 })
  const floods: [string, Step[]][] = [
    ['stands in every chunk', [...endless.map(() => chunk({ content: words }, 'stop')), end]],
    ['comes first', [chunk({ content: 'a' }, 'stop'), ...endless.map(() => chunk({ content: words })), end]],
  ]
  test.each(floods)('pays for no more than there is where the reason to finish %s', async (_, steps) => {
    const user = await app.make.user({ quota: 20_000 })
    const { text, rows, words: delivered } = await ask(caller, steps, await app.make.token(user))
    expect(delivered).toBeLessThan(550)
    expect(text.includes(': cut short')).toBe(caller.by !== gemini)
    expect(lastReason(text)).toMatch(cutReason)
    expect(rows).toMatchObject([{ other: { end: 'unpaid' } }])
    // What has no room before the end is the last piece at most.
    expect(rows[0]?.completion_tokens).toBeGreaterThanOrEqual(delivered)
    const { rows: left } = await app.pool.query('select quota::int from users where id = $1', [user.id])
    expect(left).toEqual([{ quota: 20_000 - Number(rows[0]?.quota) }])
    expect(left[0]?.quota).toBeGreaterThanOrEqual(0)
  })
})

describe('a second answer that nobody asked for', () => {
  const second = Array.from({ length: 600 }, () => chunk({ content: words }, null, {}, 1))
  const steps = [
    chunk({ content: ' one' }),
    chunk({ content: ' two' }, null, {}, 1),
    chunk({}, 'stop'),
    ...second,
    chunk({}, 'stop', {}, 1),
    end,
  ]

  test.each(callers)('is paid for as far as it is delivered: $name', async (caller) => {
    const user = await app.make.user({ quota: 20_000 })
    const { text, rows, words: delivered } = await ask(caller, steps, await app.make.token(user))
    const isDelivered = [chat, completions, gemini].includes(caller.by)
    if (isDelivered) {
      expect(delivered).toBeGreaterThan(0)
      expect(delivered).toBeLessThan(550)
      expect(text.includes(': cut short')).toBe(caller.by !== gemini)
      expect(rows).toMatchObject([{ other: { end: 'unpaid' } }])
    } else {
      expect(delivered).toBe(0)
      expect(text).toMatch(caller.by.closing)
      expect(rows).toMatchObject([{ completion_tokens: 1 }])
    }
    const { rows: left } = await app.pool.query('select quota::int from users where id = $1', [user.id])
    expect(left).toEqual([{ quota: 20_000 - Number(rows[0]?.quota) }])
    expect(left[0]?.quota).toBeGreaterThanOrEqual(0)
  })
})

test.each(callers)('what comes behind the end mark is nothing: $name', async (caller) => {
  const steps = [
    chunk({ content: words }, 'stop'),
    end,
    chunk({ content: words }),
    frame({ error: { message: 'late' } }),
  ]
  const { text, rows, words: delivered } = await ask(caller, steps)
  expect(delivered).toBe(10)
  expect(text).toMatch(caller.by.closing)
  expect(rows).toMatchObject([{ completion_tokens: 10 }])
})

test.each(callers.slice(1))('a call is complete though its parts have reasons to finish: $name', async (caller) => {
  const part = (fields: object) => chunk({ tool_calls: [{ index: 0, ...fields }] }, 'stop')
  const { text } = await ask(caller, [
    part({ id: 'a', type: 'function', function: { name: 'look', arguments: '' } }),
    part({ function: { arguments: '{"city":' } }),
    part({ function: { arguments: '"Paris"}' } }),
    end,
  ])
  if (caller.by !== completions) expect(text).toContain('Paris')
  expect(text).not.toMatch(/"error":\{/)
})
