import { describe, expect, test } from 'vitest'
import { callerDialects, consumed, say } from './caller-dialects.ts'
import { startScriptedRelay } from './relay-world.ts'
import { serve } from './serve.ts'
import { hang, type Step } from '#test/support/scripted-upstream.ts'

const { app, scripted, token } = await startScriptedRelay()

const chunk = (delta: object, finish: string | null = null): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`

const answer = [
  chunk({ role: 'assistant', content: 'hello' }),
  chunk({}, 'stop'),
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [], usage: { prompt_tokens: 9, completion_tokens: 1, total_tokens: 10 } })}\n\n`,
  'data: [DONE]\n\n',
]
const megabyte = chunk({ content: 'x'.repeat(1_048_576) })

const waysOn: [string, Step[]][] = [
  ['only keeps the connection open', Array.from({ length: 20_000 }, () => [': still here\n\n', 50]).flat()],
  ['goes on without end', [...Array.from({ length: 64 }, () => megabyte), hang]],
]

describe.each(waysOn)('an upstream that after the end of its answer %s', (_, after) => {
  // Responses go through to an upstream of this kind in a form of their own.
  const callers = callerDialects
    .filter(({ dialect }) => dialect !== 'responses')
    .flatMap((by) => [true, false].map((stream) => ({ by, stream, name: by.dialect })))
  test.each(callers)('keeps no caller waiting for it: $name, streamed $stream', async ({ by, stream }) => {
    const { model } = await serve(app, {
      baseUrl: scripted.play({ steps: [...answer, ...after] }),
      setting: JSON.stringify({ idle_timeout: 2 }),
    })
    const reply = await say(app, by, { token, model, stream })
    const text = await reply.text()
    expect(reply.status).toBe(200)
    if (stream) expect(text).toMatch(new RegExp(by.closing.source.replace(/\$$/, '')))
    else expect(JSON.parse(text)).toBeTruthy()
    expect(text.length).toBeLessThan(20 * 1_048_576)
    // (9 + 1) × 37.5
    expect((await consumed(app)).at(-1)).toMatchObject({ quota: 375, model_name: model })
    expect((await consumed(app)).at(-1)?.other['end']).toBeUndefined()
  })
})

const frame = (type: string, fields: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`
const message = { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null }
const stopped = frame('content_block_stop', { index: 0 })
const reason = (counts: object): string =>
  frame('message_delta', { delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: counts })
const claude = [
  frame('message_start', { message: { ...message, usage: { input_tokens: 9, output_tokens: 1 } } }),
  frame('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
  frame('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'hello' } }),
]
const pings = Array.from({ length: 20_000 }, () => [frame('ping', {}), 50]).flat()
const nameless = Array.from({ length: 20_000 }, () => ['data: {"type": "ping"}\n\n', 50]).flat()
const counts = { output_tokens: 1 }

describe.each<[string, Step[]]>([
  ['ends neither its block nor its message', [reason(counts), hang]],
  ['ends its block alone', [reason(counts), stopped, hang]],
  ['then only keeps the connection open', [stopped, reason(counts), ...pings]],
  ['then keeps it open by events without a name', [reason(counts), ...nameless]],
  ['has told another before', [reason({}), claude[2] as string, reason(counts), hang]],
])('a Claude upstream that reports why it stops and %s', (_, steps) => {
  const callers = callerDialects.flatMap((by) => [true, false].map((stream) => ({ by, stream, name: by.dialect })))
  test.concurrent.each(callers)(
    'has completed its answer, which is charged by what it reports: $name, streamed $stream',
    async ({ by, stream }) => {
      const { model } = await serve(app, {
        type: 14,
        baseUrl: scripted.play({ steps: [...claude, ...steps] }),
        setting: JSON.stringify({ idle_timeout: 1 }),
      })
      const reply = await say(app, by, { token, model, stream })
      const text = await reply.text()
      expect(reply.status).toBe(200)
      expect(text).toContain('hello')
      if (stream) expect(text).toMatch(by.closing)
      const rows = (await consumed(app)).filter((row) => row.model_name === model)
      // (9 + 1) × 37.5
      expect(rows).toMatchObject([{ quota: 375 }])
      expect(rows[0]?.other).not.toHaveProperty('end')
    },
  )
})
