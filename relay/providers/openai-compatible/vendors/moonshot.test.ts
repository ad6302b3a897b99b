import { describe, expect, test } from 'vitest'
import { fitRequest, takesNames } from '#relay/chat/fit/fit-request.ts'
import type { ChatRequest } from '#relay/chat/request.ts'
import { callWith } from '../../conformance/fixtures.ts'
import { requestWith, toolConversation } from '../../conformance/requests.ts'
import { moonshot } from './moonshot.ts'

type Sent = { body: Record<string, unknown>; losses: string[] }

function translated(model: string, request: Partial<ChatRequest>): Sent {
  const { body, losses = [] } = moonshot.chat.request(requestWith(request), callWith({ model, channel: { type: 25 } }))
  return { body: body as Sent['body'], losses }
}

function passed(model: string, fields: Record<string, unknown>, form: 'openai-chat' | 'claude' = 'openai-chat'): Sent {
  const json = { model, messages: [], ...fields }
  const call = callWith({ model, channel: { type: 25 } })
  const native = moonshot.native[form]
  const made = native?.request({ json, bytes: Buffer.from(JSON.stringify(json)) }, call)
  return { body: JSON.parse(Buffer.from(made?.body as Uint8Array).toString()), losses: made?.losses ?? [] }
}

describe('Moonshot', () => {
  test.each(['kimi-k2.5', 'kimi-k2.6', 'kimi-k3', 'kimi-k3.1-pro', 'kimi-for-coding', 'kimi-for-coding-highspeed'])(
    'has sampling fixed for %s',
    (model) => {
      const given = { temperature: 0.7, top_p: 0.9, n: 2, presence_penalty: 0.5, frequency_penalty: 0.5 }
      const { body, losses } = passed(model, given)
      expect(body).toEqual({ model, messages: [] })
      expect(losses.toSorted()).toEqual(Object.keys(given).toSorted())
      const usual = { temperature: 1, top_p: 0.95, n: 1, presence_penalty: 0, frequency_penalty: null }
      expect(passed(model, usual)).toEqual({ body: { model, messages: [] }, losses: [] })
      const gemini = translated(model, { temperature: 0, extra: { dialect: 'gemini', fields: {} } })
      expect(gemini.body).not.toHaveProperty('temperature')
      expect(gemini.losses).toEqual(['temperature'])
    },
  )

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

  test('is not asked by either of its forms to stop thinking where the model cannot', () => {
    const thinking = { type: 'disabled' }
    for (const model of ['kimi-k2.7-code', 'kimi-for-coding', 'k3-256k'])
      for (const form of ['openai-chat', 'claude'] as const) {
        const { body, losses } = passed(model, { max_tokens: 9, thinking }, form)
        expect(body).not.toHaveProperty('thinking')
        expect(losses).toEqual(['thinking'])
      }
    expect(passed('kimi-k2.6', { max_tokens: 9, thinking }, 'claude')).toMatchObject({ body: { thinking }, losses: [] })
  })

  test('is given a blank thought before each call of a tool in its messages, unless thinking is off', () => {
    const call = { type: 'tool_use', id: 'c', name: 'f', input: {} }
    const thought = { type: 'thinking', thinking: 'hm', signature: 's' }
    const messages = [
      { role: 'user', content: 'q' },
      { role: 'assistant', content: [call] },
      { role: 'assistant', content: [thought, call] },
      { role: 'assistant', content: 'a' },
    ]
    const { body, losses } = passed('kimi-for-coding', { max_tokens: 9, messages }, 'claude')
    const blank = { type: 'thinking', thinking: ' ', signature: '' }
    const [question, first, ...rest] = messages
    expect(body['messages']).toEqual([question, { ...first, content: [blank, call] }, ...rest])
    expect(losses).toEqual([])
    for (const { body: untouched } of [
      passed('kimi-k2.6', { max_tokens: 9, messages, thinking: { type: 'disabled' } }, 'claude'),
      passed('moonshot-v1-8k', { max_tokens: 9, messages }, 'claude'),
    ])
      expect(untouched['messages']).toEqual(messages)
  })

  describe('is forced to call a tool', () => {
    const [f, g] = ['f', 'g'].map((name) => ({ type: 'function', function: { name } }))
    const tools = [f, g]
    const [required, named] = ['required', f]

    test('where its second generation need not think, without thinking', () => {
      for (const tool_choice of [required, named]) {
        const { body, losses } = passed('kimi-k2.6', { tools, tool_choice })
        expect(body).toMatchObject({ tools, tool_choice, thinking: { type: 'disabled' } })
        expect(losses).toEqual(['thinking'])
        const off = passed('kimi-k2.6', { tools, tool_choice, reasoning_effort: 'none' })
        expect(off).toMatchObject({ body: { tool_choice }, losses: [] })
      }
      expect(passed('moonshot-v1-8k', { tools, tool_choice: named })).toMatchObject({
        body: { tool_choice: named },
        losses: [],
      })
    })

    test('not by who asks it to think, or where it always does', () => {
      for (const { body, losses } of [
        passed('kimi-k2.6', { tools, tool_choice: required, thinking: { type: 'enabled' } }),
        passed('kimi-k2.7-code', { tools, tool_choice: named }),
        passed('kimi-for-coding', { tools, tool_choice: required }),
      ]) {
        expect(body).toMatchObject({ tools, tool_choice: 'auto' })
        expect(losses).toEqual(['tool_choice'])
      }
      const tool_choice = { type: 'tool', name: 'f', disable_parallel_tool_use: true }
      const { body, losses } = passed(
        'kimi-for-coding',
        { max_tokens: 9, tools: [{ name: 'f' }], tool_choice },
        'claude',
      )
      expect(body['tool_choice']).toEqual({ type: 'auto', disable_parallel_tool_use: true })
      expect(losses).toEqual(['tool_choice'])
    })

    test('in its third generation by being offered none but the one', () => {
      const { body, losses } = passed('kimi-k3', { tools, tool_choice: named })
      expect(body).toEqual({ model: 'kimi-k3', messages: [], tools: [f], tool_choice: 'required' })
      expect(losses).toEqual([])
      expect(passed('kimi-k3', { tools, tool_choice: required }).body).toMatchObject({ tools, tool_choice: 'required' })
      const own = [{ name: 'f' }, { name: 'g' }]
      const messages = passed('k3', { max_tokens: 9, tools: own, tool_choice: { type: 'tool', name: 'g' } }, 'claude')
      expect(messages.body).toMatchObject({ tools: [{ name: 'g' }], tool_choice: { type: 'any' } })
    })
  })

  test('is offered tools by names that begin with a letter', () => {
    const call = callWith({ model: 'kimi-k3', channel: { type: 25 } })
    const profile = moonshot.chat.profile?.(call) ?? {}
    for (const name of ['21st_magic_builder', '-a', '_x']) {
      const given = requestWith({ tools: [{ type: 'function', name }] })
      expect(takesNames(given, profile)).toBe(false)
      const { request, callerNames } = fitRequest(given, profile)
      expect(takesNames(request, profile)).toBe(true)
      expect([...callerNames.values()]).toEqual([name])
    }
    expect(takesNames(requestWith({ tools: [{ type: 'function', name: 'm_21st-magic' }] }), profile)).toBe(true)
  })

  test('is sent schemas in its own words by either form', () => {
    const schema = { type: 'object', properties: { p: { type: 'string', anyOf: [{ minLength: 1 }] } } }
    const taken = { type: 'object', properties: { p: { anyOf: [{ type: 'string', minLength: 1 }] } } }
    const tools = [{ type: 'function', function: { name: 'f', parameters: schema } }]
    expect(passed('kimi-k3', { tools }).body['tools']).toMatchObject([{ function: { parameters: taken } }])
    const own = passed('kimi-k3', { max_tokens: 9, tools: [{ name: 'f', input_schema: schema }] }, 'claude')
    expect(own.body['tools']).toEqual([{ name: 'f', input_schema: taken }])
    const { body } = translated('kimi-k3', { tools: [{ type: 'function', name: 'f', parameters: schema }] })
    expect(body['tools']).toMatchObject([{ function: { parameters: taken } }])
  })
})
