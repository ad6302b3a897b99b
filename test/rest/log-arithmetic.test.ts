import { expect, test } from 'vitest'
import { setOptions } from '#test/relay/serve.ts'
import { startScriptedRelay } from '#test/relay/relay-world.ts'
import { costByClient } from '#test/support/cost-by-client.ts'
import { json } from '#test/support/scripted-upstream.ts'

// Clients of the documented paths show what a call cost by computing it from its row.

const { app, scripted } = await startScriptedRelay({ options: { SelfUseModeEnabled: 'false' } })
const user = await app.make.user({ quota: 1_000_000_000 })
const token = await app.make.token(user)
await setOptions(app, {
  GroupRatio: '{"default":0.5}',
  ModelRatio: '{"plain":2,"long":2,"cached":3,"cached-for-an-hour":3,"dall-e-2":8}',
  CompletionRatio: '{"plain":3,"long":3,"cached":5,"cached-for-an-hour":5}',
  CacheRatio: '{"plain":0.5,"long":0.5,"cached":0.1}',
  LongContextRatio: '{"long":[{"above":900,"input":2,"output":1.5}]}',
  ModelPrice: '{"dall-e-3":0.04,"per-call":0.02}',
})

type Row = { quota: number; prompt_tokens: number; completion_tokens: number; other: string }

const chat = (usage: unknown) =>
  json({ choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }], usage })
const message = (usage: unknown) =>
  json({
    type: 'message',
    role: 'assistant',
    content: [{ type: 'text', text: 'hello' }],
    stop_reason: 'end_turn',
    usage,
  })
const images = json({ created: 1, data: [{ url: 'https://x.example/1.png' }, { url: 'https://x.example/2.png' }] })
const messages = [{ role: 'user', content: 'hello' }]
const read = { prompt_tokens: 1000, completion_tokens: 100, prompt_tokens_details: { cached_tokens: 400 } }
const writtenForAnHour = {
  input_tokens: 100,
  cache_creation_input_tokens: 1000,
  cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 1000 },
  output_tokens: 50,
}
const written = {
  input_tokens: 100,
  cache_read_input_tokens: 1000,
  cache_creation_input_tokens: 200,
  output_tokens: 50,
}

test.each([
  { model: 'plain', answer: chat(read), body: { messages }, quota: (600 + 200 + 300) * 2 * 0.5 },
  { model: 'per-call', answer: chat(read), body: { messages }, quota: 5000 },
  {
    model: 'cached',
    type: 14,
    path: '/v1/messages',
    answer: message(written),
    body: { messages, max_tokens: 100 },
    quota: (100 + 100 + 250 + 250) * 3 * 0.5,
  },
  {
    model: 'cached-for-an-hour',
    type: 14,
    path: '/v1/messages',
    answer: message(writtenForAnHour),
    body: { messages, max_tokens: 100 },
    quota: (100 + 2000 + 250) * 3 * 0.5,
  },
  { model: 'long', answer: chat(read), body: { messages }, quota: (600 + 200) * 2 * 2 * 0.5 + 300 * 1.5 * 2 * 0.5 },
  {
    model: 'dall-e-2',
    path: '/v1/images/generations',
    answer: images,
    body: { prompt: 'a cat', n: 2, size: '512x512' },
    quota: 4500,
  },
  {
    model: 'dall-e-3',
    path: '/v1/images/generations',
    answer: images,
    body: { prompt: 'a cat', n: 2, size: '1024x1792', quality: 'hd' },
    quota: 60_000,
  },
])('what a call of $model cost follows from its row', async ({ model, type = 1, path, answer, body, quota }) => {
  const { id } = await app.make.channel({ models: model, type, baseUrl: scripted.play(answer) })
  await app.services.channels.reload(id)
  const reply = await app.relay(token, path ?? '/v1/chat/completions', { model, ...body })
  expect(reply.status, await reply.text()).toBe(200)
  const { items } = (await app.rest(user, 'GET', `/api/log/self?model_name=${model}`)).json['data'] as { items: Row[] }
  const [row] = items
  if (!row) throw new Error('nothing was logged')
  expect(row.quota).toBe(quota)
  const { prompt_tokens: promptTokens, completion_tokens: completionTokens } = row
  const other = JSON.parse(row.other) as Record<string, unknown>
  expect(costByClient({ promptTokens, completionTokens, other })).toBeCloseTo(quota, 6)
})
