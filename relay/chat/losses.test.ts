import { describe, expect, it } from 'vitest'
import { lossesTowards, untranslatable } from './losses.ts'
import type { ChatRequest } from './request.ts'

const request = (given: Partial<ChatRequest>): ChatRequest => ({
  model: 'm',
  messages: [],
  tools: [],
  stop: [],
  stream: false,
  includeUsage: false,
  extra: { dialect: 'openai-responses', fields: {} },
  losses: [],
  ...given,
})

describe('losses in translation', () => {
  const full = request({
    losses: ['tool_choice'],
    extra: { dialect: 'openai-responses', fields: { store: true, reasoning: {} } },
    messages: [
      {
        role: 'assistant',
        content: [{ type: 'vendor', dialect: 'openai-responses', value: { type: 'web_search_call' } }],
      },
    ],
    tools: [{ type: 'vendor', dialect: 'openai-responses', value: { type: 'file_search' } }],
  })

  it('names fields, parts and tools that only the dialect of the caller knows', () => {
    expect(lossesTowards(full, 'claude')).toEqual(['tool_choice', 'web_search_call', 'tools.file_search'])
  })

  it('loses only what parsing left out towards an upstream of the same dialect', () => {
    expect(lossesTowards(full, 'openai-responses')).toEqual(['tool_choice'])
  })

  it.each([
    [{ previous_response_id: 'r' }, 'previous_response_id'],
    [{ conversation: 'c' }, 'conversation'],
    [{ background: true }, 'background'],
    [{ background: false, store: true }, undefined],
  ])('knows that %j cannot be dropped silently', (fields, name) => {
    const asked = request({ extra: { dialect: 'openai-responses', fields } })
    expect(untranslatable(asked, 'openai-chat')).toBe(name)
    expect(untranslatable(asked, 'openai-responses')).toBeUndefined()
  })

  it('counts no field that says nothing', () => {
    const fields = { user: null, include: [], note: '', switched_on: {}, switched_off: false }
    expect(lossesTowards(request({ extra: { dialect: 'openai-responses', fields } }), 'claude')).toEqual([
      'switched_on',
      'switched_off',
    ])
    const uncached = request({ extra: { dialect: 'gemini', fields: { cachedContent: null } } })
    expect(untranslatable(uncached, 'openai-chat')).toBeUndefined()
  })

  it('knows that references to stored items and cached contents cannot be dropped silently', () => {
    const value = { type: 'item_reference', id: 'i' }
    const referring = request({
      messages: [{ role: 'assistant', content: [{ type: 'vendor', dialect: 'openai-responses', value }] }],
    })
    expect(untranslatable(referring, 'claude')).toBe('item_reference')
    const cached = request({ extra: { dialect: 'gemini', fields: { cachedContent: 'c' } } })
    expect(untranslatable(cached, 'openai-chat')).toBe('cachedContent')
  })
})

it('names the proof of a call that another vendor has no place for', () => {
  const signature = { dialect: 'gemini' as const, value: 's' }
  const call = { type: 'tool-call' as const, id: 'c', name: 'f', arguments: '{}', signature }
  const asked = request({ messages: [{ role: 'assistant', content: [call] }] })
  expect(lossesTowards(asked, 'claude')).toEqual(['thoughtSignature'])
  expect(lossesTowards(asked, 'openai-responses')).toEqual(['thoughtSignature'])
  // Its writer knows which servers read one.
  expect(lossesTowards(asked, 'openai-chat')).toEqual([])
  expect(lossesTowards(asked, 'gemini')).toEqual([])
})

it('of Google’s own fields in a chat completion thinking is read, and what is cached nowhere else', () => {
  const lost = (extraBody: unknown, target: 'claude' | 'gemini' = 'claude') =>
    lossesTowards(request({ extra: { dialect: 'openai-chat', fields: { extra_body: extraBody } } }), target)
  expect(lost({ google: { thinking_config: { thinking_budget: 0 } } })).toEqual([])
  const cached = { google: { thinking_config: {}, cached_content: 'c/1' } }
  expect(lost(cached)).toEqual(['extra_body'])
  expect(lost(cached, 'gemini')).toEqual([])
})

it.each([{ enable_search: true }, { google: { thinking_config: {} }, enable_search: true }, { google: 'x' }, 'x'])(
  'names what is no field of Google’s in a chat completion’s extra body as lost: %j',
  (extraBody) => {
    for (const target of ['claude', 'gemini', undefined] as const) {
      const asked = request({ extra: { dialect: 'openai-chat', fields: { extra_body: extraBody } } })
      expect(lossesTowards(asked, target)).toEqual(['extra_body'])
    }
  },
)

it('names Google’s own fields as lost where nothing reads them: beside other words for thinking, and of other dialects', () => {
  const google = { google: { thinkingConfig: { thinkingBudget: 0 } } }
  const lost = (dialect: 'openai-chat' | 'openai-responses', more: object = {}) =>
    lossesTowards(request({ extra: { dialect, fields: { extra_body: google, ...more } } }), 'claude')
  expect(lost('openai-chat')).toEqual([])
  expect(lost('openai-chat', { thinking: null })).toEqual([])
  expect(lost('openai-chat', { enable_thinking: true })).toEqual(['extra_body'])
  expect(lost('openai-responses')).toEqual(['extra_body'])
})
