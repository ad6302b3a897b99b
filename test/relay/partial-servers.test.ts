import { afterEach, describe, expect, test, vi } from 'vitest'
import { json } from '#test/support/scripted-upstream.ts'
import { consumed } from './caller-dialects.ts'
import { richToken, startScriptedRelay } from './relay-world.ts'
import { type Route, serve, withOptions } from './serve.ts'

const { app, scripted, token } = await startScriptedRelay()
const { transport } = app.services
afterEach(() => {
  app.services.transport = transport
  vi.restoreAllMocks()
})

type Asked = { path: string; body: Record<string, unknown> }

const host = 'https://servers.test'
const usage = { prompt_tokens: 30, completion_tokens: 4, total_tokens: 34 }
const message = { role: 'assistant', content: 'A plover.' }
const chatAnswer = json({
  id: 'c',
  object: 'chat.completion',
  choices: [{ index: 0, message, finish_reason: 'stop' }],
  usage,
})
const output = [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'A plover.' }] }]
const responsesAnswer = json({
  id: 'resp_1',
  object: 'response',
  status: 'completed',
  output,
  usage: { input_tokens: 30, output_tokens: 4 },
})

/** A server that answers in the form it is asked in, but for what it refuses. */
async function serverThat(
  refuses: (asked: Asked) => object | undefined,
  { name, status = 400, ...channel }: Pick<Route, 'type' | 'statusCodeMapping'> & { name: string; status?: number },
) {
  const asked: Asked[] = []
  const answers = { chat: scripted.play(chatAnswer), responses: scripted.play(responsesAnswer) }
  app.services.transport = {
    ...transport,
    send: (request) => {
      const path = request.url.replace(host, '')
      const body = JSON.parse(Buffer.from(request.body ?? '').toString()) as Record<string, unknown>
      asked.push({ path, body })
      const error = refuses({ path, body })
      const headers = { 'content-type': 'application/json' }
      const base = error
        ? scripted.play({ status, headers, steps: [JSON.stringify({ error })] })
        : answers[path.endsWith('/responses') ? 'responses' : 'chat']
      return transport.send({ ...request, url: base + path })
    },
  }
  const { model, ids } = await serve(app, { ...channel, baseUrl: host, upstreamModel: name })
  const setChannel = async (field: string, value: string | number) => {
    await app.pool.query(`update channels set ${field} = $1 where id = $2`, [value, ids[0]])
    await app.settled()
  }
  // A channel that is read again is not known any more.
  await app.settled()
  return { model, asked, setChannel }
}

const now = performance.now.bind(performance)

/** So long after the test began. */
const atMinute = (minute: number) => vi.spyOn(performance, 'now').mockImplementation(() => now() + minute * 60_000)

const search = { type: 'function', name: 'find', parameters: { type: 'object', properties: {} } }
const namespace = { type: 'namespace', name: 'mcp__docs', description: 'docs', tools: [search] }

describe('a server that knows few tools of the responses form', () => {
  const pathsOf = (asked: readonly Asked[]) => asked.map(({ path }) => path.replace(/^.*\/v\d/, ''))
  const ask = (model: string, fields: object) => app.relay(token, '/v1/responses', { model, input: 'hi', ...fields })

  test.each([
    [1, 'qwen3.6-35b'],
    [1, 'openai/gpt-oss-120b'],
    [20, 'qwen/qwen3.6-35b'],
    [45, 'doubao-seed-2-0'],
  ])('is asked in a chat for those in namespaces, which keep their names: %i %s', async (type, name) => {
    const { model, asked } = await serverThat(() => undefined, { type, name })
    const reply = await ask(model, { tools: [namespace] })
    expect(await reply.json()).toMatchObject({ object: 'response', status: 'completed' })
    expect(pathsOf(asked)).toEqual(['/chat/completions'])
    expect(asked[0]?.body).toMatchObject({ tools: [{ type: 'function', function: { name: 'mcp__docs__find' } }] })
    await ask(model, { tools: [search] })
    expect(pathsOf(asked.slice(1))).toEqual(['/responses'])
  })

  test.each(['gpt-5.5', 'my-codex', 'azure-gpt-5.1-codex', 'ft:gpt-4.1:we', 'GPT-5'])(
    'is asked in its own form for a model that it may hand on to its maker: %s',
    async (name) => {
      const { model, asked } = await serverThat(() => undefined, { type: 1, name })
      await ask(model, { tools: [namespace] })
      expect(pathsOf(asked)).toEqual(['/responses'])
    },
  )

  test.each([
    ['a kind of tool', { message: 'Invalid', param: 'tools.0.type', code: 'invalid_string' }],
    ['a kind of tool, in words alone', { message: 'tool type namespace not supported' }],
    ['a field', { message: 'json: unknown field "prompt_cache_key"' }],
  ])('that refuses %s is asked once more, in a chat, and charged for the one answer', async (_, error) => {
    const refuses = ({ path }: Asked) => (path.endsWith('/responses') ? error : undefined)
    const { model, asked } = await serverThat(refuses, { type: 1, name: 'gpt-5.5' })
    const before = (await consumed(app)).length
    const reply = await ask(model, { tools: [namespace], prompt_cache_key: 'a' })
    expect(await reply.json()).toMatchObject({ object: 'response', status: 'completed' })
    expect(pathsOf(asked)).toEqual(['/responses', '/chat/completions'])
    const rows = (await consumed(app)).slice(before)
    expect(rows).toMatchObject([{ prompt_tokens: 30, completion_tokens: 4 }])
  })

  const ofTool = { message: 'Invalid', param: 'tools.0.type' }
  const refusesTools = ({ path }: Asked) => (path.endsWith('/responses') ? ofTool : undefined)

  test('is asked once more where callers do not read why, or read another status', async () => {
    const hidden = await serverThat(refusesTools, { type: 1, name: 'gpt-5.5' })
    await withOptions(app, { 'global.hide_upstream_error_enabled': 'true' }, async () => {
      expect((await ask(hidden.model, { tools: [namespace] })).status).toBe(200)
    })
    expect(pathsOf(hidden.asked)).toEqual(['/responses', '/chat/completions'])
    const statusCodeMapping = '{"400":"418"}'
    const mapped = await serverThat(refusesTools, { type: 1, name: 'gpt-5.5', statusCodeMapping })
    expect((await ask(mapped.model, { tools: [namespace] })).status).toBe(200)
    expect(pathsOf(mapped.asked)).toEqual(['/responses', '/chat/completions'])
  })

  test.each([
    [400, { message: 'unknown field "tools"' }],
    [404, { message: 'Not Found' }],
  ])('is not asked the same in a chat twice: %i', async (status, error) => {
    const { model, asked } = await serverThat(() => error, { type: 1, name: 'qwen3.6-35b', status })
    expect((await ask(model, { tools: [namespace] })).status).toBe(status)
    expect(pathsOf(asked)).toEqual(['/chat/completions'])
  })

  test('refuses in its own words what no chat can say', async () => {
    const { model, asked } = await serverThat(() => ofTool, { type: 1, name: 'qwen3.6-35b' })
    const reply = await ask(model, { tools: [namespace], prompt: { id: 'pmpt_1' } })
    expect(reply.status).toBe(400)
    expect(await reply.json()).toMatchObject({ error: { param: 'tools.0.type' } })
    expect(pathsOf(asked)).toEqual(['/responses'])
  })

  describe('once it took a call in a chat', () => {
    const both = ['/responses', '/chat/completions']

    test('is asked such calls in a chat at once, and others in their own form', async () => {
      const { model, asked } = await serverThat(refusesTools, { type: 1, name: 'gpt-5.5' })
      for (const tools of [[namespace], [namespace, namespace]])
        expect((await ask(model, { tools, input: 'and now?' })).status).toBe(200)
      expect(pathsOf(asked)).toEqual([...both, '/chat/completions'])
      await ask(model, { tools: [search] })
      await ask(model, { tools: [namespace], include: [] })
      await ask(model, {})
      expect(pathsOf(asked.slice(3))).toEqual([...both, ...both, ...both])
    })

    test('is not asked at the path that it lacks', async () => {
      const refuses = ({ path }: Asked) => (path.endsWith('/responses') ? { message: 'Not Found' } : undefined)
      const { model, asked } = await serverThat(refuses, { type: 1, name: 'gpt-5.5', status: 404 })
      await ask(model, {})
      await ask(model, { tools: [search] })
      expect(pathsOf(asked)).toEqual([...both, '/chat/completions'])
    })

    test('is asked in the form of the call again after a while', async () => {
      const { model, asked } = await serverThat(refusesTools, { type: 1, name: 'gpt-5.5' })
      for (const minute of [0, 14, 16]) {
        atMinute(minute)
        await ask(model, { tools: [namespace] })
      }
      expect(pathsOf(asked)).toEqual([...both, '/chat/completions', ...both])
    })

    test.each([
      ['key', 'key_encrypted', app.services.secrets.encrypt('sk-other')],
      ['address', 'base_url', `${host}/v2`],
      ['type', 'type', 20],
      ['settings', 'setting', '{"prompt_caching":false}'],
    ])('is asked so again where its %s has changed', async (_, field, value) => {
      const { model, asked, setChannel } = await serverThat(refusesTools, { type: 1, name: 'gpt-5.5' })
      await ask(model, { tools: [namespace] })
      await setChannel(field, value)
      await ask(model, { tools: [namespace] })
      expect(pathsOf(asked)).toEqual([...both, ...both])
    })

    test('is asked in the form of a call that no chat can say', async () => {
      const { model, asked } = await serverThat(refusesTools, { type: 1, name: 'gpt-5.5' })
      const prompt = { id: 'pmpt_1' }
      await ask(model, { tools: [namespace], prompt: null })
      expect((await ask(model, { tools: [namespace], prompt })).status).toBe(400)
      expect(pathsOf(asked)).toEqual([...both, '/responses'])
    })

    test('is asked at the path that it seems to lack for a call that no chat can say', async () => {
      const refuses = ({ path, body }: Asked) =>
        path.endsWith('/responses') && body['prompt'] === undefined ? { message: 'Not Found' } : undefined
      const { model, asked } = await serverThat(refuses, { type: 1, name: 'gpt-5.5', status: 404 })
      await ask(model, {})
      expect((await ask(model, { prompt: { id: 'pmpt_1' } })).status).toBe(200)
      expect(pathsOf(asked)).toEqual([...both, '/responses'])
    })

    test('is asked by others in the form of their call', async () => {
      const { model, asked } = await serverThat(refusesTools, { type: 1, name: 'gpt-5.5' })
      await ask(model, { tools: [namespace] })
      const body = { model, input: 'hi', tools: [namespace] }
      expect((await app.relay(await richToken(app), '/v1/responses', body)).status).toBe(200)
      expect(pathsOf(asked)).toEqual([...both, ...both])
    })

    test('is asked in the form of a call that it refuses in a chat, and of those after it', async () => {
      const isOdd = (body: Asked['body']) => JSON.stringify(body).includes('odd')
      const refuses = ({ path, body }: Asked) => (path.endsWith('/responses') !== isOdd(body) ? ofTool : undefined)
      const { model, asked } = await serverThat(refuses, { type: 1, name: 'gpt-5.5' })
      for (const input of ['hi', 'odd', 'odd'])
        expect((await ask(model, { tools: [namespace], input })).status).toBe(200)
      expect(pathsOf(asked)).toEqual([...both, '/chat/completions', '/responses', '/responses'])
    })
  })

  test('is asked in both forms as long as it refuses both', async () => {
    const { model, asked } = await serverThat(() => ofTool, { type: 1, name: 'gpt-5.5' })
    for (const input of ['hi', 'and now?']) expect((await ask(model, { tools: [namespace], input })).status).toBe(400)
    expect(pathsOf(asked)).toEqual(['/responses', '/chat/completions', '/responses', '/chat/completions'])
  })

  test('is taken at its word where it refuses anything else', async () => {
    const { model, asked } = await serverThat(() => ({ message: 'input is empty', param: 'input' }), {
      type: 1,
      name: 'gpt-5.5',
    })
    expect((await ask(model, {})).status).toBe(400)
    expect(pathsOf(asked)).toEqual(['/responses'])
  })
})

describe('a model that cannot think', () => {
  const refuses = ({ body }: Asked) =>
    body['reasoning_effort'] === undefined ? undefined : { message: '"gemma3" does not support thinking' }

  test('is asked without thinking where an agent asks it to, which is named as lost', async () => {
    const { model, asked } = await serverThat(refuses, { type: 4, name: 'gemma3' })
    const thinking = { type: 'adaptive' }
    const messages = [{ role: 'user', content: 'hi' }]
    const reply = await app.relay(token, '/v1/messages', { model, max_tokens: 99, thinking, messages })
    expect(await reply.json()).toMatchObject({ content: [{ type: 'text', text: 'A plover.' }] })
    expect(reply.headers.get('x-translation-loss')).toContain('reasoning_effort')
    expect(asked.map(({ body }) => body['reasoning_effort'])).toEqual(['medium', undefined])
    const next = await app.relay(token, '/v1/messages', { model, max_tokens: 99, thinking, messages })
    expect(next.headers.get('x-translation-loss')).toContain('reasoning_effort')
    expect(asked.map(({ body }) => body['reasoning_effort'])).toEqual(['medium', undefined, undefined])
    const chat = { model, messages, reasoning_effort: 'medium' }
    expect((await app.relay(token, '/v1/chat/completions', chat)).status).toBe(400)
  })

  test('is asked in a chat, without thinking, where it was asked in the responses form of its server', async () => {
    const refusing = ({ body }: Asked) =>
      body['reasoning'] === undefined ? refuses({ path: '', body }) : { message: 'gemma3 does not support thinking' }
    const { model, asked } = await serverThat(refusing, { type: 1, name: 'gemma3' })
    const reply = await app.relay(token, '/v1/responses', { model, input: 'hi', reasoning: { effort: 'medium' } })
    expect(await reply.json()).toMatchObject({ object: 'response', status: 'completed' })
    expect(reply.headers.get('x-translation-loss')).toContain('reasoning_effort')
    expect(asked.map(({ path }) => path)).toEqual(['/v1/responses', '/v1/chat/completions'])
  })

  test('refuses a call that went out as it came but once', async () => {
    const refusing = () => ({ message: 'this model does not support thinking' })
    const { model, asked } = await serverThat(refusing, { type: 14, name: 'claude-3-haiku-20240307' })
    const thinking = { type: 'enabled', budget_tokens: 1024 }
    const messages = [{ role: 'user', content: 'hi' }]
    const reply = await app.relay(token, '/v1/messages', { model, max_tokens: 2000, thinking, messages })
    expect(reply.status).toBe(400)
    expect(asked.map(({ path }) => path)).toEqual(['/v1/messages'])
  })

  test('refuses callers of its own form in its words', async () => {
    const { model, asked } = await serverThat(refuses, { type: 4, name: 'gemma3' })
    const messages = [{ role: 'user', content: 'hi' }]
    const reply = await app.relay(token, '/v1/chat/completions', { model, messages, reasoning_effort: 'low' })
    expect(reply.status).toBe(400)
    expect(asked).toHaveLength(1)
  })
})
