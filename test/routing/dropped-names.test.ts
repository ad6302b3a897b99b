import { beforeEach, expect, test } from 'vitest'
import { consumed, say, callerDialects } from '../relay/caller-dialects.ts'
import { startRelay } from '../relay/relay-world.ts'
import { serve } from '../relay/serve.ts'

const { app, token } = await startRelay()
beforeEach(() => app.upstream.clear())

const lossesOf = (reply: Response): string[] => reply.headers.get('x-translation-loss')?.split(',').toSorted() ?? []

const misleading = {
  service_tier: 'priority',
  speed: 'fast',
  route: 'fallback',
  extra_body: { enable_thinking: false },
  providerOptions: { gateway: { models: ['dearer'] } },
  plugins: [{ id: 'fusion' }],
  STREAM: true,
}
const names = [
  'STREAM',
  'extra_body.enable_thinking',
  'plugins.fusion',
  'providerOptions.gateway',
  'route',
  'service_tier',
  'speed',
]

const passing = { setting: '{"pass_through_body_enabled":true}' }
const ways = ['unstreamed', 'streamed', 'passed through'] as const

test.each(callerDialects)('a caller learns what was taken out of a call, in $dialect', async (by) => {
  const ownType = { messages: 14, generateContent: 24 }[by.dialect] ?? 1
  const routes: [number, string][] = [
    ...ways.map((way): [number, string] => [ownType, way]),
    [ownType === 24 ? 14 : 24, 'translated'],
  ]
  for (const [type, way] of routes) {
    const { model } = await serve(app, { type, ...(way === 'passed through' ? passing : {}) })
    const stream = way === 'streamed'
    const asked = by.body(model, 'hello', stream)
    const { STREAM, ...others } = misleading
    // It passes for another field only where there is one.
    const body = { ...asked, ...others, ...('stream' in asked ? { STREAM } : {}) }
    const own = names.filter((name) => name in body || name.includes('.'))
    const reply = await say(app, by, { token, model, body, stream })
    expect([type, way, reply.status]).toEqual([type, way, 200])
    await reply.text()
    expect(lossesOf(reply)).toEqual(expect.arrayContaining(own))
    expect((await consumed(app)).at(-1)?.other['losses']).toEqual(expect.arrayContaining(own))
  }
})

test('a call without anything of the kind loses nothing', async () => {
  const { model } = await serve(app, { type: 20 })
  const messages = [{ role: 'user', content: 'hello' }]
  const harmless = { service_tier: 'flex', provider: { order: ['a'] }, transforms: [] }
  const reply = await app.relay(token, '/v1/chat/completions', { model, messages, ...harmless })
  expect([reply.status, lossesOf(reply)]).toEqual([200, []])
  expect(app.upstream.requests[0]?.body).toMatchObject(harmless)
})

test('a call whose only tool is taken out is sent no choice of tools, which vendors refuse without any', async () => {
  const { model } = await serve(app, { type: 20 })
  const messages = [{ role: 'user', content: 'hello' }]
  const tools = [{ type: 'openrouter:advisor', model: 'dearer' }]
  const body = { model, messages, tools, tool_choice: 'auto', parallel_tool_calls: true }
  const reply = await app.relay(token, '/v1/chat/completions', body)
  expect([reply.status, lossesOf(reply)]).toEqual([200, ['tools.openrouter:advisor']])
  for (const name of ['tools', 'tool_choice', 'parallel_tool_calls'])
    expect(app.upstream.requests[0]?.body).not.toHaveProperty(name)
})

test('what an operator sets for a channel is sent, whatever is taken from callers', async () => {
  const paramOverride = '{"service_tier":"priority","models":["cheaper"]}'
  const { model } = await serve(app, { type: 20, paramOverride })
  const body = { model, messages: [{ role: 'user', content: 'hello' }], service_tier: 'priority', models: ['dearer'] }
  expect((await app.relay(token, '/v1/chat/completions', body)).status).toBe(200)
  const set = { service_tier: 'priority', models: ['cheaper'] }
  expect(app.upstream.requests[0]?.body).toMatchObject(set)
})

test('operations beside chat say it too, by their answer and their log row', async () => {
  const { model } = await serve(app, {})
  const form = new FormData()
  form.set('model', model)
  form.set('api_base', 'http://127.0.0.1:9')
  form.set('file', new Blob([new Uint8Array(2000)]), 'sound.wav')
  const headers = { authorization: `Bearer sk-${token.key}` }
  for (const reply of [
    await app.relay(token, '/v1/embeddings', { model, input: 'hello', api_base: 'http://127.0.0.1:9' }),
    await app.relay(token, '/v1/audio/speech', { model, input: 'hi', voice: 'a', api_base: 'http://127.0.0.1:9' }),
    await fetch(`${app.url}/v1/audio/transcriptions`, { method: 'POST', headers, body: form }),
  ]) {
    await reply.arrayBuffer()
    expect([reply.status, lossesOf(reply)]).toEqual([200, ['api_base']])
    expect((await consumed(app)).at(-1)?.other).toMatchObject({ losses: ['api_base'] })
  }
})

test('a form is sent without fields that pass for another, as JSON is, and with its lists', async () => {
  const { model } = await serve(app, {})
  const send = async (path: string, file: string, texts: readonly (readonly [string, string])[]) => {
    const form = new FormData()
    form.set('model', model)
    form.set(file, new Blob([new Uint8Array(2000)]), 'given')
    for (const text of texts) form.append(...text)
    const headers = { authorization: `Bearer sk-${token.key}` }
    const reply = await fetch(`${app.url}/v1/${path}`, { method: 'POST', headers, body: form })
    expect([reply.status, await reply.text()]).toEqual([200, expect.any(String)])
    const sent = app.upstream.requests.at(-1)?.bytes.toString('latin1') ?? ''
    const names = [...sent.matchAll(/ name="([^"]*)"/g)].map((match) => match[1])
    return { losses: lossesOf(reply), names: names.toSorted() }
  }
  const lookalikes = ['Model', 'model[]', 'MODEL[0]', 'N', 'n[]', ' n', 'Prompt', 'prompt[]', 'extra_body', 'models[]']
  const others = lookalikes.map((name) => [name, 'dearer'] as const)
  const edit = [['prompt', 'a dog'], ['user', 'me'], ['Custom', 'yes'], ...others] as const
  for (const file of ['image', 'image[]']) {
    expect(await send('images/edits', file, edit)).toEqual({
      losses: lookalikes.map((name) => name.replace(' ', '?')).toSorted(),
      names: ['Custom', file, 'model', 'prompt', 'user'],
    })
  }
  const lists = ['chunking_strategy[type]', 'include[]', 'known_speaker_names[]', 'timestamp_granularities[]']
  const listed = lists.flatMap((name) => ['one', 'other'].map((value) => [name, value] as const)).slice(1)
  expect(await send('audio/transcriptions', 'file', [['include', 'x'], ...listed])).toEqual({
    losses: [],
    names: ['file', 'include', 'model', ...listed.map(([name]) => name)].toSorted(),
  })
})
