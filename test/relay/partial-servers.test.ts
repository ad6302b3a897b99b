import { afterEach, describe, expect, test } from 'vitest'
import { json } from '#test/support/scripted-upstream.ts'
import { consumed } from './caller-dialects.ts'
import { startScriptedRelay } from './relay-world.ts'
import { serve } from './serve.ts'

const { app, scripted, token } = await startScriptedRelay()
const { transport } = app.services
afterEach(() => {
  app.services.transport = transport
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
  { type, name }: { type: number; name: string },
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
        ? scripted.play({ status: 400, headers, steps: [JSON.stringify({ error })] })
        : answers[path.endsWith('/responses') ? 'responses' : 'chat']
      return transport.send({ ...request, url: base + path })
    },
  }
  const { model } = await serve(app, { type, baseUrl: host, upstreamModel: name })
  return { model, asked }
}

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
  })

  test('refuses callers of its own form in its words', async () => {
    const { model, asked } = await serverThat(refuses, { type: 4, name: 'gemma3' })
    const messages = [{ role: 'user', content: 'hi' }]
    const reply = await app.relay(token, '/v1/chat/completions', { model, messages, reasoning_effort: 'low' })
    expect(reply.status).toBe(400)
    expect(asked).toHaveLength(1)
  })
})
