import { describe, expect, test } from 'vitest'
import { callWith } from '../../conformance/fixtures.ts'
import { requestWith, toolConversation } from '../../conformance/requests.ts'
import { deepseek } from './deepseek.ts'

test.each(['deepseek-v4-pro', 'deepseek-flash'])(
  '%s, which thinks unasked, is given reasoning where a history has lost it',
  (model) => {
    const [call, result] = toolConversation().messages.slice(2, 4)
    const messages = [call, result].flatMap((message) => message ?? [])
    const { body } = deepseek.chat.request(requestWith({ messages }), callWith({ model, channel: { type: 43 } }))
    const [asking] = (body as { messages: object[] }).messages
    expect(asking).toMatchObject({ role: 'assistant', reasoning_content: ' ' })
  },
)

function passed(form: 'openai-chat' | 'claude', fields: Record<string, unknown>) {
  const json = { model: 'deepseek-v4-pro', messages: [], ...(form === 'claude' ? { max_tokens: 9 } : {}), ...fields }
  const call = callWith({ model: json.model, channel: { type: 43 } })
  const made = deepseek.native[form]?.request({ json, bytes: Buffer.from(JSON.stringify(json)) }, call)
  const body = JSON.parse(Buffer.from(made?.body as Uint8Array).toString()) as Record<string, unknown>
  return { body, losses: made?.losses ?? [] }
}

describe('a tool that must be called', () => {
  const off = { type: 'disabled' }
  const named = { type: 'function', function: { name: 'f' } }
  const tool = { type: 'tool', name: 'f' }

  test.each([
    ['openai-chat', 'required'],
    ['openai-chat', named],
    ['claude', { type: 'any' }],
    ['claude', tool],
  ] as const)('is called by the %s form without the thinking that nobody has asked for', (form, tool_choice) => {
    expect(passed(form, { tool_choice })).toMatchObject({ body: { tool_choice, thinking: off }, losses: ['thinking'] })
    expect(passed(form, { tool_choice, thinking: off })).toMatchObject({ body: { tool_choice }, losses: [] })
  })

  test('may be called where the caller asks for thinking', () => {
    const chat = [{ thinking: { type: 'enabled' } }, { reasoning_effort: 'high' }]
    for (const fields of chat)
      expect(passed('openai-chat', { ...fields, tool_choice: named })).toMatchObject({
        body: { ...fields, tool_choice: 'auto' },
        losses: ['tool_choice'],
      })
    const thinking = { type: 'adaptive' }
    expect(passed('claude', { thinking, tool_choice: tool })).toMatchObject({
      body: { thinking, tool_choice: { type: 'auto' } },
      losses: ['tool_choice'],
    })
    const { body, losses } = deepseek.chat.request(
      requestWith({
        tools: [{ type: 'function', name: 'f' }],
        toolChoice: { type: 'required' },
        reasoning: { effort: 'low' },
      }),
      callWith({ model: 'deepseek-flash', channel: { type: 43 } }),
    )
    expect(body).toMatchObject({ thinking: { type: 'enabled' }, tool_choice: 'auto' })
    expect(losses).toEqual(['tool_choice'])
  })

  test('is called by older models and leaves other choices alone', () => {
    const { body } = passed('openai-chat', { model: 'deepseek-chat', tool_choice: 'required' })
    expect(body).toEqual({ model: 'deepseek-chat', messages: [], tool_choice: 'required' })
    for (const tool_choice of ['auto', 'none']) expect(passed('openai-chat', { tool_choice }).losses).toEqual([])
    expect(passed('claude', { tool_choice: { type: 'none' } }).body).not.toHaveProperty('thinking')
  })
})

test('an effort goes where its messages are not to be thought about, which it refuses together', () => {
  const { body, losses } = passed('claude', { thinking: { type: 'disabled' }, output_config: { effort: 'max', x: 1 } })
  expect(body).toMatchObject({ thinking: { type: 'disabled' }, output_config: { x: 1 } })
  expect(body['output_config']).not.toHaveProperty('effort')
  expect(losses).toEqual(['reasoning_effort'])
  const thinks = { output_config: { effort: 'max' } }
  expect(passed('claude', thinks)).toMatchObject({ body: thinks, losses: [] })
})

test('a call of a tool in its messages has a thought before it, a blank one where there was none or it was sealed for others', () => {
  const call = { type: 'tool_use', id: 'c', name: 'f', input: {} }
  const messages = [{ role: 'assistant', content: [call] }]
  const blank = { type: 'thinking', thinking: ' ', signature: '' }
  const filled = [{ role: 'assistant', content: [blank, call] }]
  expect(passed('claude', { messages }).body['messages']).toEqual(filled)
  const sealed = { type: 'thinking', thinking: '', signature: 'gatewaySeal1AAAA' }
  const sealedMessages = [{ role: 'assistant', content: [sealed, call] }]
  expect(passed('claude', { messages: sealedMessages }).body['messages']).toEqual(filled)
  expect(passed('claude', { messages, thinking: { type: 'adaptive' } }).body['messages']).toEqual(filled)
  expect(passed('claude', { messages, thinking: { type: 'disabled' } }).body['messages']).toEqual(messages)
})
