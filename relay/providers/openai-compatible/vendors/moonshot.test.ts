import { describe, expect, test } from 'vitest'
import type { ChatRequest } from '#relay/chat/request.ts'
import { callWith } from '../../conformance/fixtures.ts'
import { requestWith, toolConversation } from '../../conformance/requests.ts'
import { moonshot } from './moonshot.ts'

type Sent = { body: Record<string, unknown>; losses: string[] }

function translated(model: string, request: Partial<ChatRequest>): Sent {
  const { body, losses = [] } = moonshot.chat.request(requestWith(request), callWith({ model, channel: { type: 25 } }))
  return { body: body as Sent['body'], losses }
}

function passed(model: string, fields: Record<string, unknown>): Sent {
  const json = { model, messages: [], ...fields }
  const call = callWith({ model, channel: { type: 25 } })
  const native = moonshot.native['openai-chat']
  const made = native?.request({ json, bytes: Buffer.from(JSON.stringify(json)) }, call)
  return { body: JSON.parse(Buffer.from(made?.body as Uint8Array).toString()), losses: made?.losses ?? [] }
}

describe('Moonshot', () => {
  test.each(['kimi-k2.5', 'kimi-k2.6', 'kimi-k3', 'kimi-k3.1-pro'])('has sampling fixed for %s', (model) => {
    const given = { temperature: 0.7, top_p: 0.9, n: 2, presence_penalty: 0.5, frequency_penalty: 0.5 }
    const { body, losses } = passed(model, given)
    expect(body).toEqual({ model, messages: [] })
    expect(losses.toSorted()).toEqual(Object.keys(given).toSorted())
    const usual = { temperature: 1, top_p: 0.95, n: 1, presence_penalty: 0, frequency_penalty: null }
    expect(passed(model, usual)).toEqual({ body: { model, messages: [] }, losses: [] })
    const gemini = translated(model, { temperature: 0, extra: { dialect: 'gemini', fields: {} } })
    expect(gemini.body).not.toHaveProperty('temperature')
    expect(gemini.losses).toEqual(['temperature'])
  })

  test('takes sampling for its older models', () => {
    expect(passed('moonshot-v1-8k', { temperature: 0.3, n: 2 }).body).toMatchObject({ temperature: 0.3, n: 2 })
  })

  test('is given reasoning where a conversation with tools has lost it, unless thinking is off', () => {
    const [call, result] = toolConversation().messages.slice(2, 4)
    const messages = [call, result].flatMap((message) => message ?? [])
    for (const model of ['kimi-k2.6', 'kimi-k3', 'kimi-k2-thinking'])
      expect(translated(model, { messages }).body['messages']).toMatchObject({ 0: { reasoning_content: ' ' } })
    for (const { body } of [
      translated('kimi-k2.6', { messages, reasoning: { effort: 'none' } }),
      translated('moonshot-v1-8k', { messages }),
    ])
      expect(JSON.stringify(body)).not.toContain('reasoning_content')
  })

  test.each([
    ['minimal', 'low', []],
    ['low', 'low', []],
    ['medium', 'high', []],
    ['high', 'high', []],
    ['max', 'max', []],
    ['none', 'low', ['reasoning_effort']],
  ] as const)('is sent an effort of %s in the words of the third generation: %s', (effort, word, lost) => {
    for (const { body, losses } of [
      translated('kimi-k3', { reasoning: { effort }, extra: { dialect: 'openai-responses', fields: {} } }),
      passed('kimi-k3', { reasoning_effort: effort }),
    ]) {
      expect(body).toMatchObject({ reasoning_effort: word })
      expect(body).not.toHaveProperty('thinking')
      expect(losses).toEqual(lost)
    }
  })

  test('is asked in the second generation to think or not, where it can be', () => {
    const off = { model: 'kimi-k2.6', messages: [], thinking: { type: 'disabled' } }
    expect(passed('kimi-k2.6', { reasoning_effort: 'none' })).toEqual({ body: off, losses: [] })
    expect(translated('kimi-k2.6', { reasoning: { mode: 'disabled' } }).body).toMatchObject({ thinking: off.thinking })
    const { body, losses } = translated('kimi-k2.7-code', { reasoning: { mode: 'disabled' } })
    expect(body).not.toHaveProperty('thinking')
    expect(losses).toEqual(['thinking'])
  })
})
