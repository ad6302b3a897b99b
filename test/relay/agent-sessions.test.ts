import { once } from 'node:events'
import { beforeEach, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import type { TestToken } from '#test/support/factories.ts'
import { json } from '#test/support/scripted-upstream.ts'
import { channelsOf, serve } from './serve.ts'
import { consumed, say, type CallerDialect, callerDialects } from './caller-dialects.ts'
import { richToken, startScriptedRelay } from './relay-world.ts'

const { app, scripted, token: mine } = await startScriptedRelay()
const theirs = await richToken(app)
beforeEach(() => app.upstream.clear())

const [, responses, messages] = callerDialects as [CallerDialect, CallerDialect, CallerDialect, CallerDialect]

describe('a conversation that is too long for the model', () => {
  const tellings = [
    {
      type: 1,
      body: {
        error: {
          message:
            "This model's maximum context length is 128000 tokens. However, your messages resulted in 130001 tokens.",
          type: 'invalid_request_error',
          param: 'messages',
          code: 'context_length_exceeded',
        },
      },
      figures: [130001, 128000],
    },
    {
      type: 14,
      body: {
        type: 'error',
        error: { type: 'invalid_request_error', message: 'prompt is too long: 210000 tokens > 200000 maximum' },
      },
      figures: [210000, 200000],
    },
    {
      type: 24,
      body: {
        error: {
          code: 400,
          message: 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
          status: 'INVALID_ARGUMENT',
        },
      },
      figures: [1200000, 1048576],
    },
  ]
  test.each(tellings)(
    'is reported in each dialect’s own words and code: type $type',
    async ({ type, body, figures }) => {
      const { model } = await serve(app, {
        type,
        baseUrl: scripted.play({
          status: 400,
          headers: { 'content-type': 'application/json' },
          steps: [JSON.stringify(body)],
        }),
      })
      const [tokens, limit] = figures
      for (const by of callerDialects) {
        const reply = await say(app, by, { token: mine, model })
        expect(reply.status).toBe(400)
        const { message, code, kind } = by.readError(await reply.json())
        if (by === messages)
          expect(message).toMatch(new RegExp(`^prompt is too long: ${tokens} tokens > ${limit} maximum`))
        else if (by.dialect === 'generateContent')
          expect(message).toContain(
            `input token count (${tokens}) exceeds the maximum number of tokens allowed (${limit})`,
          )
        else {
          expect({ code, kind }).toEqual({ code: 'context_length_exceeded', kind: 'invalid_request_error' })
          expect(message).toContain(`maximum context length is ${limit} tokens`)
        }
      }
    },
  )

  const [ofOpenAi] = tellings
  const refused = (body: object) => ({
    status: 400,
    headers: { 'content-type': 'application/json' },
    steps: [JSON.stringify(body)],
  })
  const created = { type: 'response.created', response: { id: 'resp_1', object: 'response', status: 'in_progress' } }
  const ended = { type: 'response.failed', response: { ...created.response, status: 'failed', ...ofOpenAi?.body } }
  const events = [created, ended].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)

  test.each([
    ['a vendor of responses', { type: 1, baseUrl: scripted.play({ steps: [events.join('')] }) }],
    ['a vendor of responses, by its status', { type: 1, baseUrl: scripted.play(refused(ofOpenAi?.body ?? {})) }],
    ['another vendor', { type: 14, baseUrl: scripted.play(refused(tellings[1]?.body ?? {})) }],
    ['the gateway', { type: 14 }],
  ])(
    'is a failed response in the stream of Codex, and a 400 to everybody else, as reported by %s',
    async (by, channel) => {
      const before = (await consumed(app)).length
      const { model, ids } = await serve(app, channel)
      if (by === 'the gateway') {
        await app.pool.query('update channels set max_input_tokens = 1 where id = $1', ids)
        await app.services.channels.reload()
      }
      const ask = (headers: Record<string, string>, stream = true) =>
        say(app, responses, { token: mine, model, stream, headers, text: 'too long' })
      for (const [name, value] of [
        ['originator', 'codex_vscode'],
        ['user-agent', 'Codex Desktop/1.0'],
      ] as const) {
        const headers = { [name]: value }
        const reply = await ask(headers)
        expect(reply.status).toBe(200)
        expect(reply.headers.get('content-type')).toContain('text/event-stream')
        const sent = (await reply.text()).trim().split('\n\n')
        expect(sent.map((event) => event.split('\n')[0])).toEqual([
          'event: response.created',
          'event: response.in_progress',
          'event: error',
          'event: response.failed',
        ])
        expect(JSON.parse(sent.at(-1)?.split('\ndata: ')[1] ?? '')).toMatchObject({
          response: { model, status: 'failed', error: { code: 'context_length_exceeded' } },
        })
        expect((await ask(headers, false)).status).toBe(400)
      }
      expect((await ask({ 'user-agent': 'OpenAI/JS 7.55' })).status).toBe(400)
      expect(await consumed(app)).toHaveLength(before)
    },
  )

  test('is a failed response over the socket of responses, whoever opened it', async () => {
    const { model } = await serve(app, { type: 14, baseUrl: scripted.play(refused(tellings[1]?.body ?? {})) })
    for (const originator of ['another', 'codex_cli_rs']) {
      const socket = new WebSocket(`${app.url.replace('http', 'ws')}/v1/responses`, {
        headers: { authorization: `Bearer sk-${mine.key}`, originator },
      })
      const received: { type: string; response?: object }[] = []
      socket.on('message', (data: Buffer) => void received.push(JSON.parse(data.toString()) as { type: string }))
      await once(socket, 'open')
      socket.send(JSON.stringify({ type: 'response.create', model, input: 'too long' }))
      await expect.poll(() => received.at(-1)?.type, { timeout: 60_000 }).toBe('response.failed')
      expect(received[0]?.type).toBe('response.created')
      expect(received.at(-1)?.response).toMatchObject({ model, error: { code: 'context_length_exceeded' } })
      socket.close()
    }
  })

  test('is refused with that reason where an operator hides what upstreams say, too', async () => {
    const { model } = await serve(app, {
      type: 43,
      baseUrl: scripted.play({
        status: 500,
        headers: { 'content-type': 'application/json' },
        steps: [JSON.stringify({ error: { message: 'Range of input length should be [1, 129024]' } })],
      }),
    })
    const reply = await say(app, messages, { token: mine, model })
    expect(reply.status).toBe(400)
    expect(messages.readError(await reply.json()).message).toMatch(/^prompt is too long/)
  })
})

describe('a thread of messages', () => {
  let made = 0
  const answer = () => {
    made += 1
    const id = `msg_thread_${made}`
    const content = [{ type: 'text', text: 'yes' }]
    const usage = { input_tokens: 3, output_tokens: 1 }
    return {
      id,
      play: json({ id, type: 'message', role: 'assistant', model: 'm', content, stop_reason: 'end_turn', usage }),
    }
  }
  const ask = (token: TestToken, model: string, thread: object) =>
    say(app, messages, {
      token,
      headers: { 'anthropic-beta': 'message-threads-2026-08-12' },
      body: { ...messages.body(model, 'hi', false), thread },
    })
  const detailsOf = async (reply: Response) =>
    ((await reply.json()) as { error: { details?: { error_code: string } } }).error.details?.error_code

  test.each([
    ['Gemini', 24],
    ['chat completions', 43],
    ['Bedrock', 33],
  ])('is refused where the upstream keeps none, so that its client sends everything again: %s', async (_name, type) => {
    const { model } = await serve(app, { type, key: 'id|secret|us-east-1' })
    for (const thread of [{ type: 'create' }, { type: 'continue', previous_message_id: undefined }]) {
      const reply = await ask(mine, model, thread)
      expect(reply.status).toBe(400)
      expect(await detailsOf(reply)).toBe('thread_unsupported_request')
    }
    expect(app.upstream.total).toBe(0)
  })

  test('is gone on with by its maker alone, where it is kept', async () => {
    const { id, play } = answer()
    const route = { type: 14, key: 'key-one,key-two', baseUrl: scripted.play(play) }
    const { model } = await serve(app, route, route, route)
    expect((await ask(mine, model, { type: 'create' })).status).toBe(200)
    const [channel] = channelsOf((await consumed(app)).at(-1))
    const key = scripted.received.at(-1)?.headers['x-api-key']
    for (let turn = 0; turn < 6; turn += 1) {
      expect((await ask(mine, model, { type: 'continue', previous_message_id: id })).status).toBe(200)
      expect(channelsOf((await consumed(app)).at(-1))).toEqual([channel])
      expect(scripted.received.at(-1)?.headers['x-api-key']).toBe(key)
    }
    const before = scripted.received.length
    const refused = await ask(theirs, model, { type: 'continue', previous_message_id: id })
    expect(refused.status).toBe(404)
    expect(await detailsOf(refused)).toBe('thread_not_found')
    const thread = { type: 'continue', previous_message_id: id }
    const counting = { ...messages.body(model, 'hi', false), thread }
    expect((await app.relay(theirs, '/v1/messages/count_tokens', counting)).status).toBe(404)
    const requests = [{ custom_id: 'a', params: counting }]
    expect((await app.relay(theirs, '/v1/messages/batches', { requests })).status).toBe(400)
    expect(scripted.received.length).toBe(before)
  })

  test('keeps what the vendor says to programs in its refusals', async () => {
    const details = { error_code: 'thread_already_continued' }
    const error = { type: 'invalid_request_error', message: 'already continued', details }
    const baseUrl = scripted.play({
      status: 409,
      headers: { 'content-type': 'application/json' },
      steps: [JSON.stringify({ type: 'error', error })],
    })
    const { model } = await serve(app, { type: 14, baseUrl })
    expect(await detailsOf(await ask(mine, model, { type: 'create' }))).toBe('thread_already_continued')
  })
})

test('an answer that begins with a copy of its long request is served in full', async () => {
  const user = await app.make.user({ quota: 1_000_000_000 })
  const token = await app.make.token(user)
  const { model } = await serve(app, { type: 1 })
  const tools = Array.from({ length: 40 }, (_, index) => ({
    type: 'function',
    name: `tool_${index}`,
    description: 'what this tool does, at length. '.repeat(40),
    parameters: { type: 'object', properties: {} },
  }))
  const reply = await app.relay(token, '/v1/responses', { model, stream: true, input: 'hello [[usage=9:2]]', tools })
  expect(await reply.text()).toContain('"type":"response.completed"')
  expect((await consumed(app)).at(-1)).toMatchObject({ prompt_tokens: 9, completion_tokens: 2 })
})

test('an account that is shown no summaries of reasoning is asked without, unless its caller wants them', async () => {
  const openAi = 'https://api.openai.com'
  const error = {
    message: 'Your organization must be verified to generate reasoning summaries.',
    type: 'invalid_request_error',
    param: 'reasoning.summary',
    code: 'unsupported_value',
  }
  const refusing = scripted.play({
    status: 400,
    headers: { 'content-type': 'application/json' },
    steps: [JSON.stringify({ error })],
  })
  const message = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'A plover.' }] }
  const usage = { input_tokens: 30, output_tokens: 4 }
  const answering = scripted.play(
    json({ id: 'resp_1', object: 'response', status: 'completed', output: [message], usage }),
  )
  const asked: unknown[] = []
  const { transport } = app.services
  // Only at the vendor's own address tools want the other call.
  app.services.transport = {
    ...transport,
    send: (request) => {
      const { reasoning } = JSON.parse(Buffer.from(request.body ?? '').toString()) as {
        reasoning?: { summary?: string }
      }
      asked.push(reasoning)
      const base = reasoning?.summary === undefined ? answering : refusing
      return transport.send({ ...request, url: request.url.replace(openAi, base) })
    },
  }
  try {
    const { model, ids } = await serve(app, { type: 1, baseUrl: openAi })
    const mapping = JSON.stringify({ [model]: 'gpt-5.5' })
    await app.pool.query('update channels set model_mapping = $1 where id = $2', [mapping, ids[0]])
    await app.services.channels.reload(ids[0] ?? 0)
    const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } }]
    const body = { model, reasoning_effort: 'high', tools, messages: [{ role: 'user', content: 'hi' }] }
    const reply = await app.relay(mine, '/v1/chat/completions', body)
    expect(await reply.json()).toMatchObject({ choices: [{ message: { content: 'A plover.' } }] })
    expect(asked).toEqual([{ effort: 'high', summary: 'auto' }, { effort: 'high' }])
    const own = await app.relay(mine, '/v1/responses', { model, input: 'hi', reasoning: { summary: 'auto' } })
    expect({ status: own.status, body: await own.json() }).toMatchObject({
      status: 400,
      body: { error: { param: 'reasoning.summary' } },
    })
    expect(asked.length).toBe(3)
  } finally {
    app.services.transport = transport
  }
})
