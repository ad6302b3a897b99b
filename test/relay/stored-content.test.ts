import { expect, test } from 'vitest'
import { refuseRows } from '#test/support/ledger-world.ts'
import { recordProcessLog } from '#test/support/process-log.ts'
import { json } from '#test/support/scripted-upstream.ts'
import { callerDialects, chat, consumed, say } from './caller-dialects.ts'
import { startScriptedRelay } from './relay-world.ts'
import { serve } from './serve.ts'

const { app, token, scripted } = await startScriptedRelay({ options: { LogChatContentEnabled: 'true' } })

const longest = 64 * 1024

const stored = async (): Promise<Record<string, unknown>> => (await consumed(app)).at(-1)?.other ?? {}

/** What is stored of one call in chat completions. */
async function storedOf(messages: { role: string; content: string }[]): Promise<Record<string, unknown>> {
  const { model } = await serve(app, {})
  const reply = await say(app, chat, { token, body: { model, messages } })
  expect(reply.status, await reply.text()).toBe(200)
  return stored()
}

test.each(callerDialects)('of a reply its text is stored, without its reasoning, in $dialect', async (by) => {
  for (const type of [1, 14, 24]) {
    for (const stream of [false, true]) {
      const { model } = await serve(app, { type, does: 'thinking=3' })
      await (await say(app, by, { token, model, stream, text: 'hello' })).text()
      expect((await stored())['output_content'], `${type} ${stream}`).toBe('You said: hello')
    }
  }
})

test('of a reply that calls a tool no text is stored', async () => {
  for (const type of [1, 14]) {
    for (const stream of [false, true]) {
      const { model } = await serve(app, { type, does: 'tool=get_weather' })
      const tools = [{ type: 'function', function: { name: 'get_weather', parameters: { type: 'object' } } }]
      await (await say(app, chat, { token, body: { ...chat.body(model, 'hello', stream), tools } })).text()
      expect((await stored())['output_content'], `${type} ${stream}`).toBe('')
    }
  }
})

test('several answers are stored one after another', async () => {
  const chunk = (index: number, content: string, finish_reason: string | null = null) =>
    `data: ${JSON.stringify({ id: 'c', model: 'm', choices: [{ index, delta: { content }, finish_reason }] })}\n\n`
  const pieces = [chunk(0, 'on'), chunk(1, 'tw'), chunk(0, 'e'), chunk(1, 'o')]
  const steps = [...pieces, chunk(0, '', 'stop'), chunk(1, '', 'stop'), 'data: [DONE]\n\n']
  const choice = (index: number, content: string) => ({
    index,
    message: { role: 'assistant', content },
    finish_reason: 'stop',
  })
  const complete = json({
    id: 'c',
    object: 'chat.completion',
    model: 'm',
    choices: [choice(0, 'one'), choice(1, 'two')],
  })
  for (const [stream, play] of [
    [true, { steps }],
    [false, complete],
  ] as const) {
    const { model } = await serve(app, { baseUrl: scripted.play(play) })
    await (await say(app, chat, { token, body: { ...chat.body(model, 'hello', stream), n: 2 } })).text()
    expect((await stored())['output_content'], String(stream)).toBe('one\n\ntwo')
  }
})

test('the last message of the user is the input, else the last one; no message is stored twice', async () => {
  const [system, user, assistant] = ['system', 'user', 'assistant'].map((role) => ({ role, content: `of ${role}` }))
  if (!system || !user || !assistant) throw new Error('unreachable')
  expect(await storedOf([system, user, assistant])).toMatchObject({
    system_prompt: 'of system',
    context: [assistant],
    input_content: user,
  })
  expect(await storedOf([system, assistant, { ...assistant, content: 'more' }])).toMatchObject({
    context: [assistant],
    input_content: { role: 'assistant', content: 'more' },
  })
  expect(await storedOf([system])).toMatchObject({ system_prompt: 'of system', context: [], input_content: '' })
})

test('each part is 64 KiB long at most, cut between letters; a conversation loses its oldest messages', async () => {
  const bytes = (value: unknown): number => Buffer.byteLength(typeof value === 'string' ? value : JSON.stringify(value))
  const long = '好'.repeat(30_000)
  const prefix = '好'.repeat(Math.floor(longest / 3))
  const turns = Array.from({ length: 40 }, (_, turn) => ({
    role: turn % 2 === 0 ? 'user' : 'assistant',
    content: `${turn} ${'"字'.repeat(700)}`,
  }))
  const content = await storedOf([{ role: 'system', content: long }, ...turns, { role: 'user', content: long }])
  expect(content['system_prompt']).toBe(prefix)
  expect(content['input_content']).toEqual({ role: 'user', content: prefix })
  const output = String(content['output_content'])
  expect(`You said: ${long}`.startsWith(output)).toBe(true)
  expect(bytes(output)).toBeGreaterThan(longest - 3)
  expect(bytes(output)).toBeLessThanOrEqual(longest)
  const context = content['context'] as typeof turns
  expect(bytes(context)).toBeLessThanOrEqual(longest)
  expect(bytes(context)).toBeGreaterThan(longest - 4000)
  const [oldest, ...others] = context
  expect(others).toEqual(turns.slice(-others.length))
  expect(turns.at(-context.length)?.content.startsWith(oldest?.content ?? '?')).toBe(true)
})

test('a message that is longer than the conversation may be is cut', async () => {
  const { context } = await storedOf([
    { role: 'user', content: 'lost' },
    { role: 'assistant', content: 'x'.repeat(100_000) },
    { role: 'user', content: 'hello' },
  ])
  expect(context).toEqual([{ role: 'assistant', content: expect.stringMatching(/^x{65000,}$/) }])
  expect(Buffer.byteLength(JSON.stringify(context))).toBeLessThanOrEqual(longest)
})

test('the line in the log about a charge that cannot be booked says nothing of what was written in the call', async () => {
  await refuseRows(app.pool)
  const lines = recordProcessLog(app)
  const model = 'refused-model'
  const { id } = await app.make.channel({ baseUrl: app.upstream.url, models: model })
  await app.services.channels.reload(id)
  await (await say(app, chat, { token, model, stream: true, text: 'the prompt' })).text()
  await expect.poll(() => lines.join()).toContain('a charge cannot be booked')
  expect(lines.join()).toContain('"modelName":"refused-model"')
  expect(lines.join()).not.toContain('the prompt')
  const [stored] = (await app.pool.query('select "row" from failed_charges')).rows
  expect(stored?.row).toContain('You said: the prompt')
})
