import { describe, expect, test } from 'vitest'
import type { Message } from '#relay/chat/request.ts'
import { callWith } from './conformance/fixtures.ts'
import { requestWith } from './conformance/requests.ts'
import { providerFor } from './registry.ts'
import type { NativeBody, UpstreamRequest } from './types.ts'

type Json = Record<string, unknown>

const jsonOf = ({ body }: UpstreamRequest): Json =>
  JSON.parse(body instanceof Uint8Array ? Buffer.from(body).toString() : JSON.stringify(body)) as Json

function sendNatively(dialect: 'claude' | 'openai-chat', target: { type: number; model: string }, given: Json) {
  const text = JSON.stringify({ model: target.model, ...given })
  const native: NativeBody = { json: JSON.parse(text) as Json, bytes: Buffer.from(text) }
  const call = callWith({ model: target.model, channel: { type: target.type, baseUrl: 'https://a.test' } })
  const sent = providerFor(target.type).native[dialect]!.request(native, call)
  return { json: jsonOf(sent), same: sent.body === native.bytes, losses: sent.losses }
}

const text = (words: string, more: Json = {}) => ({ type: 'text', text: words, ...more })
const mark = { cache_control: { type: 'ephemeral' } }

/** As Claude Code sends it, whichever model it believes to call. */
const session = (turns: Json[]) => ({
  max_tokens: 100,
  system: [text('You are Claude Code.', mark)],
  messages: [{ role: 'user', content: 'hi' }, { role: 'system', content: 'Agents: a, b.' }, ...turns],
})
const call = { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'f', input: {} }] }
const result = { type: 'tool_result', tool_use_id: 'c', content: 'r' }

describe('instructions in mid-conversation, in Claude’s own dialect,', () => {
  const targets = [
    { type: 14, model: 'claude-sonnet-4-6' },
    { type: 14, model: 'my-model' },
    { type: 33, model: 'claude-opus-4-8' },
    { type: 43, model: 'deepseek-v4-pro' },
    { type: 17, model: 'qwen3-max' },
  ]
  test.each(targets)('are said by the user before them to $model of $type', (target) => {
    const { json, losses } = sendNatively('claude', target, session([]))
    expect(json).toMatchObject({ system: [text('You are Claude Code.', mark)] })
    expect(json['messages']).toEqual([{ role: 'user', content: [text('hi'), text('Agents: a, b.')] }])
    expect(losses).toEqual([])
  })

  test('leave what was sent before as it was, so that it is found in the cache', () => {
    const target = { type: 14, model: 'claude-sonnet-4-6' }
    const first = sendNatively('claude', target, session([call])).json
    const later = session([
      call,
      { role: 'system', content: [text('The date changed.', mark), text(' ')] },
      { role: 'user', content: [result] },
      { role: 'system', content: 'A tool was added.' },
    ])
    const { messages, system } = sendNatively('claude', target, later).json as { messages: Json[]; system: unknown }
    expect(system).toEqual(first['system'])
    expect(messages.slice(0, 2)).toEqual(first['messages'])
    expect(messages.slice(2)).toEqual([
      { role: 'user', content: [result, text('The date changed.', mark), text('A tool was added.')] },
    ])
  })

  test('stand before the conversation with its prompt, and behind it in a turn of their own', () => {
    const messages = [
      { role: 'system', content: 'First.' },
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: 'yes' },
      { role: 'system', content: 'Last.' },
    ]
    const sent = sendNatively(
      'claude',
      { type: 14, model: 'claude-haiku-4-5' },
      { max_tokens: 9, system: 's', messages },
    )
    expect(sent.json).toMatchObject({
      system: [text('s'), text('First.')],
      messages: [messages[1], messages[2], { role: 'user', content: [text('Last.')] }],
    })
  })

  test('change tools and effort for the whole call, for those hosts know no such blocks', () => {
    const tools = [{ name: 'a' }, { name: 'b', defer_loading: true }]
    const later = [
      { role: 'system', content: [], output_config: { effort: 'low', format: null } },
      {
        role: 'system',
        content: [
          { type: 'tool_removal', tool: { type: 'tool_reference', name: 'a' } },
          { type: 'tool_addition', tool: { type: 'tool_reference', name: 'b' } },
          { type: 'tool_addition', tool: { type: 'tool_definition', definition: { name: 'c' } } },
        ],
      },
    ]
    const body = { ...session(later), tools, output_config: { effort: 'high' } }
    const plain = sendNatively('claude', { type: 33, model: 'claude-opus-4-8' }, body)
    expect(plain.json).toMatchObject({ tools: [{ name: 'b' }, { name: 'c' }], output_config: { effort: 'low' } })
    expect(plain.json['tools']).toEqual([{ name: 'b' }, { name: 'c' }])
    expect(plain.json['messages']).toEqual([{ role: 'user', content: [text('hi'), text('Agents: a, b.')] }])
    expect(plain.losses).toEqual([])
    const effortless = sendNatively('claude', { type: 14, model: 'claude-haiku-4-5' }, session(later))
    expect(effortless.json).not.toHaveProperty('output_config')
    expect(effortless.losses).toEqual(['tool_removal', 'tool_addition', 'messages.output_config.effort'])
    const emptied = { ...session(later.slice(1)), tools: tools.slice(0, 1), tool_choice: { type: 'auto' } }
    expect(sendNatively('claude', { type: 17, model: 'qwen3-max' }, emptied).json['tools']).toEqual([{ name: 'c' }])
  })

  test('go on byte for byte where the model takes them', () => {
    expect(sendNatively('claude', { type: 14, model: 'claude-opus-4-8' }, session([])).same).toBe(true)
  })
})

describe('instructions in mid-conversation, translated to the chat form,', () => {
  const say = (role: Message['role'], words: string) => ({ role, content: [{ type: 'text', text: words }] }) as Message
  const messages: Message[] = [
    say('system', 'Be brief.'),
    say('system', 'Be kind.'),
    say('user', 'hi'),
    say('system', 'Agents: a, b.'),
    { role: 'assistant', content: [{ type: 'tool-call', id: 'c', name: 'f', arguments: '{}' }] },
    say('system', 'The date changed.'),
    { role: 'user', content: [{ type: 'tool-result', callId: 'c', content: [{ type: 'text', text: 'r' }] }] },
    say('assistant', 'yes'),
    say('system', 'Last.'),
  ]
  const rolesAt = (baseUrl: string, dialect: 'claude' | 'openai-chat' = 'claude') => {
    const request = requestWith({ messages, extra: { dialect, fields: {} } })
    const made = providerFor(1).chat.request(request, callWith({ model: 'qwen3.6-27b', channel: { baseUrl } }))
    return jsonOf(made)['messages'] as { role: string; content: unknown }[]
  }

  test('are said by users, behind one message of instructions in front', () => {
    expect(rolesAt('https://vllm.test').map(({ role, content }) => [role, content])).toEqual([
      ['system', 'Be brief.\n\nBe kind.'],
      ['user', [text('hi'), text('Agents: a, b.')]],
      ['assistant', null],
      ['tool', 'r'],
      ['user', 'The date changed.'],
      ['assistant', 'yes'],
      ['user', 'Last.'],
    ])
  })

  test('stay where they stand at OpenAI’s own, and where the caller put them in that form', () => {
    const given = ['system', 'system', 'user', 'system', 'assistant', 'system', 'tool', 'assistant', 'system']
    expect(rolesAt('https://api.openai.com').map(({ role }) => role)).toEqual(given)
    expect(rolesAt('https://vllm.test', 'openai-chat').map(({ role }) => role)).toEqual(given)
  })
})

test('a developer speaks as the system where the role is not known, and stays one at OpenAI and for its models', () => {
  const messages = [
    { role: 'developer', content: 'Be brief.' },
    { role: 'user', content: 'hi' },
  ]
  const roleAt = (type: number, model: string) =>
    (sendNatively('openai-chat', { type, model }, { messages }).json['messages'] as Json[])[0]?.['role']
  expect(roleAt(43, 'deepseek-v4-pro')).toBe('system')
  expect(roleAt(1, 'qwen3.6-27b')).toBe('system')
  expect(roleAt(1, 'gpt-5.2')).toBe('developer')
  expect(roleAt(3, 'gpt-4o')).toBe('developer')
})
