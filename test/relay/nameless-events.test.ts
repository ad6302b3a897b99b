import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { expect, test } from 'vitest'
import type { Play } from '#test/support/scripted-upstream.ts'
import { consumed } from './caller-dialects.ts'
import { startScriptedRelay } from './relay-world.ts'
import { serve } from './serve.ts'

const { app, scripted, token } = await startScriptedRelay()

const nameless = (...events: object[]): Play => ({
  steps: events.map((event) => `data: ${JSON.stringify(event)}\n\n`),
})

const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'theirs', content: [], stop_reason: null }
const messageEvents = [
  { type: 'message_start', message: { ...message, usage: { input_tokens: 10, output_tokens: 1 } } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { index: 0, type: 'content_block_delta', delta: { type: 'text_delta', text: 'hello' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 2 } },
  { type: 'message_stop' },
]

test.each([14, 20, 25])(
  'a stream of messages whose events have no names is read whole by @anthropic-ai/sdk, from type %i',
  async (type) => {
    const { model } = await serve(app, { type, baseUrl: scripted.play(nameless(...messageEvents)) })
    const library = new Anthropic({ apiKey: `sk-${token.key}`, baseURL: app.url })
    const body = { model, max_tokens: 10, messages: [{ role: 'user' as const, content: 'hi' }] }
    const answer = await library.messages.stream(body).finalMessage()
    expect(answer).toMatchObject({ model, stop_reason: 'end_turn', content: [{ text: 'hello' }] })
    expect((await consumed(app)).at(-1)).toMatchObject({ quota: 450, model_name: model })
  },
)

test('a stream of responses whose events have no names names the model that was asked for', async () => {
  const response = { id: 'resp_1', object: 'response', model: 'theirs', status: 'in_progress', output: [] }
  const usage = { input_tokens: 10, output_tokens: 2, total_tokens: 12 }
  const play = nameless(
    { type: 'response.created', sequence_number: 0, response },
    { type: 'response.completed', sequence_number: 1, response: { ...response, status: 'completed', usage } },
  )
  const { model } = await serve(app, { type: 1, baseUrl: scripted.play(play) })
  const library = new OpenAI({ apiKey: `sk-${token.key}`, baseURL: `${app.url}/v1` })
  const events = await library.responses.create({ model, input: 'hi', stream: true })
  const models: string[] = []
  for await (const event of events) if ('response' in event) models.push(String(event.response.model))
  expect(models).toEqual([model, model])
})
