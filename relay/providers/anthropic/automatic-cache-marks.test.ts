import { describe, expect, test } from 'vitest'
import { requestWriter, weatherTool } from '../conformance/requests.ts'
import { anthropic } from './index.ts'

const { body } = requestWriter(anthropic, {
  model: 'claude-sonnet-4-5',
  type: 14,
  baseUrl: 'https://api.anthropic.com',
})

describe('marks for the cache that no caller set', () => {
  const long = 'word '.repeat(6000)
  const user = (text: string) => ({ role: 'user' as const, content: [{ type: 'text' as const, text }] })
  const answer = (text: string) => ({ role: 'assistant' as const, content: [{ type: 'text' as const, text }] })
  const system = (text: string) => ({ role: 'system' as const, content: [{ type: 'text' as const, text }] })
  const mark = { type: 'ephemeral' }
  const marking = { marksPrompts: true }
  const marks = (value: unknown): number => JSON.stringify(value).split('"cache_control"').length - 1

  test('stand behind the instructions and the last two turns of the user', () => {
    const messages = [system(long), user('one'), answer('a'), user('two'), answer('b'), user('three')]
    const sent = body({ messages }, marking)
    expect(sent['system']).toEqual([{ type: 'text', text: long, cache_control: mark }])
    expect((sent['messages'] as { content: unknown }[]).map(({ content }) => marks(content))).toEqual([0, 0, 1, 0, 1])
    expect(
      body({ messages: [user(long), answer('a'), user('b')], tools: [weatherTool] }, marking)['tools'],
    ).not.toHaveProperty('0.cache_control')
  })

  test('stand behind the tools where there are no instructions, on the first call too', () => {
    const tools = [{ ...weatherTool, description: long }]
    expect(body({ tools }, marking)['tools']).toHaveProperty('0.cache_control', mark)
  })

  test.each([
    [
      'a prompt that is too short for the model',
      { messages: [user('word '.repeat(900)), answer('a'), user('b')] },
      'claude-haiku-4-5',
    ],
    ['a single question', { messages: [system(long), user('one')] }, 'claude-sonnet-4-5'],
    [
      'a prompt that its caller has marked',
      {
        messages: [
          user(long),
          answer('a'),
          {
            role: 'user' as const,
            content: [{ type: 'text' as const, text: 'b', cacheControl: { type: 'ephemeral' as const } }],
          },
        ],
      },
      'claude-sonnet-4-5',
    ],
    [
      'a caller of the same dialect',
      { messages: [user(long), answer('a'), user('b')], extra: { dialect: 'claude' as const, fields: {} } },
      'claude-sonnet-4-5',
    ],
  ])('are not set for %s', (_name, request, model) => {
    expect(marks(body(request, { ...marking, model }))).toBe(marks(body(request, { model })))
  })
})

describe('instructions given in mid-conversation', () => {
  const text = (value: string) => [{ type: 'text' as const, text: value }]
  const messages = [
    { role: 'system' as const, content: text('first') },
    { role: 'user' as const, content: text('hi') },
    { role: 'assistant' as const, content: text('yes') },
    { role: 'system' as const, content: text('later') },
    { role: 'user' as const, content: text('go') },
  ]
  test('stay there, behind the turn of the user, where the model takes them', () => {
    expect(body({ messages }, { model: 'claude-opus-4-8' })).toMatchObject({
      system: 'first',
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: 'yes' },
        { role: 'user', content: 'go' },
        { role: 'system', content: text('later') },
      ],
    })
  })
  test('go to the others where the model does not', () => {
    expect(body({ messages })['system']).toEqual([...text('first'), ...text('later')])
  })
})
