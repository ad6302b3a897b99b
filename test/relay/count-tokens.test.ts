import { afterAll, describe, expect, test } from 'vitest'
import { startApp } from '#test/support/app.ts'
import { closeWithoutViolations } from './caller-dialects.ts'
import { allowUnpriced, serve } from './serve.ts'

const app = await startApp()
await allowUnpriced(app)
const token = await app.make.token(await app.make.user({ quota: 1_000_000 }))
afterAll(() => closeWithoutViolations(app))

/** The provider says so many tokens, whatever it is asked in; nobody would count that many here. */
const text = '[[usage=4321:0]] 你好'
const system = 'Be kind'
const schema = { type: 'object', properties: { city: { type: 'string' } } }
const full = {
  contents: [{ role: 'user', parts: [{ text }] }],
  systemInstruction: { parts: [{ text: system }] },
  tools: [{ functionDeclarations: [{ name: 'weather', parameters: schema }] }],
}

const asked = [
  [
    'Anthropic',
    '/v1/messages/count_tokens',
    { messages: [{ role: 'user', content: text }], system, tools: [{ name: 'weather', input_schema: schema }] },
  ],
  [
    'OpenAI',
    '/v1/responses/input_tokens',
    { input: text, instructions: system, tools: [{ type: 'function', name: 'weather', parameters: schema }] },
  ],
  ['Google', '/v1beta/models/MODEL:countTokens', full],
  ['Google, as a full call', '/v1beta/models/MODEL:countTokens', { generateContentRequest: full }],
] as const

const countBy = async (model: string, path: string, body: object): Promise<unknown> => {
  const isGoogle = path.includes('MODEL')
  const reply = await app.relay(token, path.replace('MODEL', model), isGoogle ? body : { ...body, model })
  expect(reply.status).toBe(200)
  const answer = (await reply.json()) as Record<string, unknown>
  return answer['input_tokens'] ?? answer['totalTokens']
}

describe.each(asked)('a prompt in the form of %s', (_, path, body) => {
  test('is counted by Gemini, whose call knows instructions and tools only within a full call', async () => {
    const { model } = await serve(app, { type: 24 })
    expect(await countBy(model, path, body)).toBe(4321)
    const sent = app.upstream.requests.at(-1)
    expect(sent?.path).toContain(':countTokens')
    expect(sent?.body).toEqual({ generateContentRequest: expect.anything() as unknown })
    const { generateContentRequest } = Object(sent?.body) as { generateContentRequest?: unknown }
    expect(generateContentRequest).toMatchObject({
      model: `models/${model}`,
      systemInstruction: { parts: [{ text: system }] },
      tools: [{ functionDeclarations: [{ name: 'weather' }] }],
    })
  })

  test('is counted here where no such upstream is there to ask', async () => {
    const { model } = await serve(app, { type: 1 })
    const before = await app.logs()
    const counted = Number(await countBy(model, path, body))
    if (!path.includes('responses')) {
      expect(counted).toBeGreaterThan(10)
      expect(counted).toBeLessThan(200)
    }
    expect(await app.logs()).toHaveLength(before.length)
  })
})

test('contents alone go to Gemini as they are', async () => {
  const { model } = await serve(app, { type: 24 })
  const { contents } = full
  expect(await countBy(model, '/v1beta/models/MODEL:countTokens', { contents })).toBe(4321)
  expect(app.upstream.requests.at(-1)?.body).toEqual({ contents })
})
