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
