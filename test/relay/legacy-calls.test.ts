import { describe, expect, test } from 'vitest'
import { json } from '#test/support/scripted-upstream.ts'
import { serve, withOptions } from './serve.ts'
import { consumed } from './caller-dialects.ts'
import { startScriptedRelay } from './relay-world.ts'

const { app, scripted, token } = await startScriptedRelay()

const completion = (...texts: string[]) => ({
  id: 'cmpl-1',
  object: 'text_completion',
  created: 1,
  model: 'upstream',
  choices: texts.map((text, index) => ({ text, index, logprobs: null, finish_reason: 'stop' })),
  usage: { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 },
})
const chatAnswer = {
  choices: [{ text: 'a', index: 0, message: { role: 'assistant', content: 'a' }, finish_reason: 'stop' }],
}
const lastBody = () => JSON.parse(String(scripted.received.at(-1)?.bytes)) as Record<string, unknown>

describe('a legacy completion', () => {
  test.each([
    ['several texts', ['one', 'two']],
    ['the tokens of one text', [1, 2, 3]],
    ['the tokens of several texts', [[1, 2], [3]]],
  ])('of %s goes to the upstream as it came, and so does its answer', async (_, prompt) => {
    const { model } = await serve(app, { baseUrl: scripted.play(json(completion('a', 'b'))) })
    const reply = await app.relay(token, '/v1/completions', { model, prompt, n: 1 })
    expect(await reply.json()).toEqual({ ...completion('a', 'b'), model })
    expect(scripted.received.at(-1)?.path).toBe('/v1/completions')
    expect(lastBody()).toEqual({ model, prompt, n: 1 })
    expect((await consumed(app)).at(-1)).toMatchObject({ prompt_tokens: 7, completion_tokens: 2 })
  })

  test('of what no chat can say goes there too, in a stream', async () => {
    const chunk = (text: string, index: number, finish: string | null) =>
      `data: ${JSON.stringify({ id: 'c', object: 'text_completion', choices: [{ text, index, finish_reason: finish }] })}\n\n`
    const steps = [
      chunk('a', 0, null),
      chunk('', 0, 'stop'),
      chunk('b', 1, null),
      chunk('', 1, 'stop'),
      'data: [DONE]\n\n',
    ]
    const { model } = await serve(app, { baseUrl: scripted.play({ steps }) })
    const reply = await app.relay(token, '/v1/completions', { model, prompt: 'x', suffix: 'y', stream: true })
    const text = await reply.text()
    expect(text).toContain('"text":"b"')
    expect(text).toMatch(/data: \[DONE\]\n\n$/)
    expect(lastBody()).toMatchObject({ suffix: 'y', stream: true, stream_options: { include_usage: true } })
    // Nothing was reported: "a" and "b" are one token, the prompt 1 + 1 and its frame of 6.
    expect((await consumed(app)).at(-1)).toMatchObject({ prompt_tokens: 8, completion_tokens: 1 })
  })

  test('of one text is put to chat models as a chat', async () => {
    const { model } = await serve(app, {})
    const reply = await app.relay(token, '/v1/completions', { model, prompt: ['hello'] })
    expect(await reply.json()).toMatchObject({ object: 'text_completion', choices: [{ text: 'You said: hello' }] })
  })

  test('of one text that passes through goes to the upstream as it came, and so does its answer', async () => {
    const setting = '{"pass_through_body_enabled":true}'
    const { model } = await serve(app, { setting, baseUrl: scripted.play(json(completion('a'))) })
    const body = { model, prompt: 'hello', odd: [1] }
    const reply = await app.relay(token, '/v1/completions', body)
    expect(await reply.json()).toEqual({ ...completion('a'), model })
    expect(scripted.received.at(-1)?.path).toBe('/v1/completions')
    expect(lastBody()).toEqual(body)
    expect((await consumed(app)).at(-1)).toMatchObject({ prompt_tokens: 7, completion_tokens: 2 })
  })

  test('of several texts is refused by upstreams without completions', async () => {
    const { model } = await serve(app, { type: 14 })
    const reply = await app.relay(token, '/v1/completions', { model, prompt: ['a', 'b'] })
    expect(reply.status).toBe(400)
    expect(await reply.json()).toMatchObject({ error: { message: expect.stringContaining('prompt') } })
  })

  test('of a model of Cloudflare’s that only goes on with a text is sent as it is, streamed and not, and charged', async () => {
    const usage = { prompt_tokens: 4, completion_tokens: 2 }
    const pieces = [{ response: ' ret' }, { response: 'urn', usage }].map(
      (piece) => `data: ${JSON.stringify(piece)}\n\n`,
    )
    for (const stream of [false, true]) {
      const answer = json({ result: { response: ' return', usage }, success: true })
      const baseUrl = scripted.play(stream ? { steps: [...pieces, 'data: [DONE]\n\n'] } : answer)
      const { model } = await serve(app, {
        type: 39,
        other: 'acc',
        baseUrl,
        upstreamModel: '@hf/x/coder-base',
      })
      const reply = await app.relay(token, '/v1/completions', { model, prompt: 'def f():', max_tokens: 9, stream })
      const text = await reply.text()
      expect(reply.status, text).toBe(200)
      expect(text).toContain(stream ? '"text":"urn"' : '"text":" return"')
      expect(scripted.received.at(-1)?.path).toBe('/client/v4/accounts/acc/ai/run/@hf/x/coder-base')
      expect(lastBody()).toEqual({ prompt: 'def f():', raw: true, max_tokens: 9, ...(stream && { stream }) })
      expect((await consumed(app)).at(-1)).toMatchObject({ prompt_tokens: 4, completion_tokens: 2, quota: 225 })
    }
  })

  test('of token numbers reserves for each of them', async () => {
    const { model } = await serve(app, { baseUrl: scripted.play(json(completion('a'))) })
    // 20,000 tokens at 37.5 are 750,000.
    const poor = await app.make.token(await app.make.user({ quota: 700_000 }))
    const prompt = Array.from({ length: 20_000 }, () => 1)
    expect((await app.relay(poor, '/v1/completions', { model, prompt, max_tokens: 1 })).status).toBe(403)
  })
})

describe('a legacy edit', () => {
  test('is answered by a chat model with an instruction, on every kind of channel', async () => {
    for (const type of [1, 14, 24]) {
      const { model } = await serve(app, { type })
      const reply = await app.relay(token, '/v1/edits', { model, instruction: 'shout', input: 'hello' })
      const answer = await reply.json()
      expect(answer).toMatchObject({
        object: 'edit',
        choices: [{ index: 0 }],
        usage: { total_tokens: expect.any(Number) },
      })
      expect(answer.choices[0].text, String(type)).toContain('hello')
      expect((await consumed(app)).at(-1)?.quota).toBeGreaterThan(0)
    }
  })

  test.each([
    [{ instruction: 'x' }, 'model is required'],
    [{ model: 'm', input: 'x' }, 'instruction is required'],
    [{ model: 'm', instruction: 1 }, 'instruction is invalid'],
  ])('is refused without what it needs: %j', async (body, message) => {
    const reply = await app.relay(token, '/v1/edits', body)
    expect(reply.status).toBe(400)
    expect(await reply.json()).toMatchObject({
      error: { code: 'invalid_text_request', message: expect.stringContaining(message) },
    })
  })
})

describe('a channel’s own system prompt, which is for chats,', () => {
  const systemPrompt = 'channel '.repeat(500)
  const settings = ['{}', '{"system_prompt_override":true}']

  test.each(settings)('leaves an edit its instruction, under %s', async (setting) => {
    await withOptions(app, { LogChatContentEnabled: 'true' }, async () => {
      for (const type of [1, 14, 24]) {
        const { model } = await serve(app, { type, systemPrompt, setting })
        const reply = await app.relay(token, '/v1/edits', { model, instruction: 'shout', input: 'hello' })
        expect(reply.status, await reply.text()).toBe(200)
        const sent = JSON.stringify(app.upstream.requests.at(-1)?.body)
        expect(sent, String(type)).toContain('shout')
        expect(sent, String(type)).not.toContain('channel')
        const { other } = (await consumed(app)).at(-1) ?? {}
        expect(other).toMatchObject({ system_prompt: 'shout', own_system_prompt: true })
        expect(other).not.toHaveProperty('system_prompt_override')
      }
    })
  })

  test.each([
    ['as it came', { prompt: ['a', 'b'] }],
    ['as a chat', { prompt: 'hello' }],
  ])('is neither sent, charged nor logged of a completion that goes %s', async (_, body) => {
    const answer = { ...completion('a'), ...chatAnswer, usage: undefined }
    await withOptions(app, { LogChatContentEnabled: 'true' }, async () => {
      const rows = []
      for (const route of [{}, { systemPrompt }]) {
        const { model } = await serve(app, { ...route, baseUrl: scripted.play(json(answer)) })
        const reply = await app.relay(token, '/v1/completions', { model, ...body })
        expect(reply.status, await reply.text()).toBe(200)
        expect(JSON.stringify(lastBody())).not.toContain('channel')
        rows.push((await consumed(app)).at(-1))
      }
      expect(rows[0]?.prompt_tokens).toBeGreaterThan(0)
      expect(rows[1]?.prompt_tokens).toBe(rows[0]?.prompt_tokens)
      expect(rows[1]?.other).toMatchObject({ system_prompt: '', own_system_prompt: true })
    })
  })

  test.each([
    ['/v1/completions', { prompt: 'hello', max_tokens: 100 }],
    ['/v1/completions', { prompt: ['hello', 'you'], max_tokens: 100 }],
    ['/v1/edits', { instruction: 'shout', input: 'hello' }],
  ])('is not set aside for a call of %s', async (path, body) => {
    const { model } = await serve(app, {
      systemPrompt,
      baseUrl: scripted.play(json({ ...completion('a', 'b'), ...chatAnswer })),
    })
    // 500 tokens at 37.5, of which the prompt of the channel alone would take all.
    const poor = await app.make.token(await app.make.user({ quota: 500 * 37.5 }))
    const reply = await app.relay(poor, path, { model, ...body })
    expect(reply.status, await reply.text()).toBe(200)
  })
})

test('an engine’s embeddings are those of the model in the path, unless the body names one', async () => {
  const vectors = json({ object: 'list', data: [], usage: { prompt_tokens: 1, total_tokens: 1 } })
  const { model } = await serve(app, { baseUrl: scripted.play(vectors) })
  expect((await app.relay(token, `/v1/engines/${model}/embeddings`, { input: 'a' })).status).toBe(200)
  expect(lastBody()).toMatchObject({ model, input: 'a' })
  expect((await app.relay(token, '/v1/engines/other/embeddings', { model, input: 'a' })).status).toBe(200)
  expect(lastBody()).toMatchObject({ model })
})
