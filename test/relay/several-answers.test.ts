import { describe, expect, test } from 'vitest'
import { chunks, cut, hang, type Step } from '#test/support/scripted-upstream.ts'
import { type CallerDialect, callerDialects, chat, consumed, say } from './caller-dialects.ts'
import { startScriptedRelay } from './relay-world.ts'
import { serve } from './serve.ts'

const { app, scripted, token } = await startScriptedRelay({ options: { RetryTimes: '0' } })

const gemini = callerDialects.find(({ dialect }) => dialect === 'generateContent') as CallerDialect

const frame = (value: object): string => `data: ${JSON.stringify(value)}\n\n`
const choice = (index: number, delta: object, finish: string | null = null): string =>
  frame({ id: 'c', object: 'chat.completion.chunk', created: 1, choices: [{ index, delta, finish_reason: finish }] })
const candidate = (index: number, text: string, finishReason?: string): string =>
  frame({
    candidates: [{ index, content: { role: 'model', parts: [{ text }] }, ...(finishReason && { finishReason }) }],
  })

/** Both begin, the first ends, and the second goes on: "You said: hello" are 4 tokens. */
const ofChat = [
  choice(0, { role: 'assistant', content: '' }),
  choice(1, { role: 'assistant', content: '' }),
  choice(0, { content: 'You said:' }),
  choice(0, {}, 'stop'),
  choice(1, { content: ' hello' }),
]
const ofGemini = [candidate(0, 'You said:'), candidate(0, '', 'STOP'), candidate(1, ' hello')]

const callers = [
  { by: chat, type: 1, body: { n: 2 }, steps: ofChat, last: choice(1, {}, 'stop') },
  {
    by: gemini,
    type: 24,
    body: { generationConfig: { candidateCount: 2 } },
    steps: ofGemini,
    last: candidate(1, '', 'STOP'),
  },
  // Translated.
  {
    by: gemini,
    type: 1,
    body: { generationConfig: { candidateCount: 2 } },
    steps: ofChat,
    last: choice(1, {}, 'stop'),
  },
].map((caller) => ({ ...caller, name: `${caller.by.dialect} of a channel of type ${caller.type}` }))

type Caller = Pick<(typeof callers)[number], 'by' | 'type' | 'body'>

async function ask({ by, type, body }: Caller, steps: Step[], stream = true) {
  const { model } = await serve(app, { type, setting: '{"idle_timeout":0.3}', baseUrl: scripted.play({ steps }) })
  const reply = await say(app, by, { token, model, stream, body: { ...by.body(model, 'hello', stream), ...body } })
  const text = await reply.text()
  const rows = (await consumed(app)).filter((row) => row.model_name === model)
  return { status: reply.status, text, rows }
}

const endings: [string, Step[]][] = [
  ['is reset', [cut]],
  ['ends without an end', []],
  ['falls silent', [hang]],
]

describe.each(callers)('of two answers, in $name', ({ last, steps, ...caller }) => {
  test.each(endings)(
    'one that is cut when the other has ended is a failure, where the stream %s',
    async (_, ending) => {
      const { text, rows } = await ask(caller, [...steps, ...ending])
      expect(text).toContain(' hello')
      expect(text.trimEnd().split('\n\n').at(-1)).toContain('"error"')
      expect(text).not.toContain('[DONE]')
      expect(text.match(/"(stop|STOP)"/g)?.length ?? 0).toBeLessThan(2)
      // 8 of the prompt, 4 of the answers: each 37.5.
      expect(rows).toMatchObject([
        { quota: 450, prompt_tokens: 8, completion_tokens: 4, other: { end: 'failed', usage_source: 'estimated' } },
      ])
    },
  )

  test.each(endings)('both are whole once both have ended, where the stream %s then', async (_, ending) => {
    const { text, rows } = await ask(caller, [...steps, last, ...ending])
    expect(text).not.toContain('"error"')
    expect(text.match(/"(stop|STOP)"/g)).toHaveLength(2)
    expect(rows).toMatchObject([{ quota: 450, prompt_tokens: 8, completion_tokens: 4 }])
    expect(rows[0]?.other).not.toHaveProperty('end')
  })

  test('the second is missing where the stream is reset before it begins, and not where it ends', async () => {
    const first = steps.filter((step) => step.includes('"index":0'))
    const broken = await ask(caller, [...first, cut])
    expect(broken.text.trimEnd().split('\n\n').at(-1)).toContain('"error"')
    // 8 of the prompt, 3 of the answer.
    expect(broken.rows).toMatchObject([{ quota: Math.round(11 * 37.5), other: { end: 'failed' } }])
    const ended = await ask(caller, first)
    expect(ended.text).not.toContain('"error"')
    expect(ended.rows).toMatchObject([{ quota: Math.round(11 * 37.5) }])
    expect(ended.rows[0]?.other).not.toHaveProperty('end')
  })
})

test('of two answers the second reaches its caller while it is written, though the first has ended', async () => {
  const { promise: read, resolve } = Promise.withResolvers<void>()
  const steps = [...ofChat, read, choice(1, {}, 'stop'), 'data: [DONE]\n\n']
  const { model } = await serve(app, { baseUrl: scripted.play({ steps }) })
  const reply = await say(app, chat, { token, model, stream: true, body: { ...chat.body(model, 'hello', true), n: 2 } })
  let text = ''
  for await (const piece of reply.body!.pipeThrough(new TextDecoderStream())) {
    text += piece
    if (text.includes(' hello')) resolve()
  }
  expect(text).toMatch(chat.closing)
})

test('an upstream that gives one answer of two and says so has given all there is', async () => {
  const { steps } = chunks()
  const one = ofChat.filter((step) => step.includes('"index":0'))
  for (const caller of callers.filter(({ type }) => type === 1)) {
    const { text, rows } = await ask(caller, [...one, ...steps, cut])
    expect(text).not.toContain('"error"')
    expect(rows[0]?.other).not.toHaveProperty('end')
  }
})

test('of two answers that an upstream streams unasked a cut one is no answer, and is not charged', async () => {
  const caller = { by: chat, type: 1, body: { n: 2 } }
  const { status, rows } = await ask(caller, [...ofChat, cut], false)
  expect([status, rows]).toEqual([500, []])
  const complete = await ask(caller, [...ofChat, choice(1, {}, 'stop'), cut], false)
  expect(complete.status).toBe(200)
  expect(complete.rows).toMatchObject([{ quota: 450 }])
})
