import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type App, startApp } from '../support/app.ts'
import type { TestToken } from '../support/factories.ts'

let app: App
let token: TestToken

beforeAll(async () => {
  app = await startApp()
  token = await app.make.token(await app.make.user())
  await app.make.channel({ type: 14, models: 'claude-3-5-sonnet-20241022' })
  await app.make.channel({ type: 1, models: 'gpt-4o' })
  await app.make.channel({ type: 24, models: 'gemini-2.0-flash' })
  await app.settled()
})
afterAll(() => app[Symbol.asyncDispose]())

test('tokens are counted for every dialect on every kind of channel, and counting is neither charged nor logged', async () => {
  const anthropic = new Anthropic({ baseURL: app.url, apiKey: `sk-${token.key}`, maxRetries: 0 })
  const google = new GoogleGenAI({ apiKey: `sk-${token.key}`, httpOptions: { baseUrl: app.url } })
  const openai = new OpenAI({ baseURL: `${app.url}/v1`, apiKey: `sk-${token.key}`, maxRetries: 0 })
  for (const model of ['claude-3-5-sonnet-20241022', 'gpt-4o', 'gemini-2.0-flash']) {
    const messages = [{ role: 'user' as const, content: 'How many tokens are these words?' }]
    const counted = await anthropic.messages.countTokens({ model, messages })
    expect(counted.input_tokens, model).toBeGreaterThan(3)
    const total = await google.models.countTokens({ model, contents: 'How many tokens are these words?' })
    expect(total.totalTokens, model).toBeGreaterThan(3)
    const input = 'How many tokens are these words?'
    const counting = await openai.responses.inputTokens.count({ model, input, tools: [] })
    expect(counting.object).toBe('response.input_tokens')
    expect(counting.input_tokens, model).toBeGreaterThan(3)
  }
  const asked = app.upstream.requests.map(({ path }) => path)
  expect(asked).toContain('/v1/responses/input_tokens')
  expect(await app.logs()).toEqual([])
  expect(await app.violations()).toEqual([])
})
