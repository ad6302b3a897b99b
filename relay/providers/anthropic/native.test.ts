import { describe, expect, test } from 'vitest'
import type { NativeBody } from '../types.ts'
import { callWith } from '../conformance/fixtures.ts'
import { anthropic } from './index.ts'

const send = (text: string, changes: Parameters<typeof callWith>[0] = {}) => {
  const native: NativeBody = { json: JSON.parse(text), bytes: Buffer.from(text) }
  const call = callWith({ ...changes, channel: { type: 14, baseUrl: 'https://api.anthropic.com' } })
  const sent = anthropic.native.claude!.request(native, call)
  const written = sent.body instanceof Uint8Array ? Buffer.from(sent.body).toString() : JSON.stringify(sent.body)
  return { ...sent, untouched: sent.body === native.bytes, json: JSON.parse(written) }
}

test('a complete body goes out as the same bytes, with the caller’s version and betas', () => {
  const sent = send('{"model":"claude-opus-4-6","max_tokens":0,"messages":[], "thinking":{"type":"adaptive"}}', {
    model: 'claude-opus-4-6',
    callerHeaders: { 'anthropic-version': '2026-10-21', 'anthropic-beta': 'x' },
  })
  expect(sent.untouched).toBe(true)
  expect(sent.headers).toMatchObject({ 'anthropic-version': '2026-10-21', 'anthropic-beta': 'x' })
})

test('blocks of a type that is none go out as they came', () => {
  const messages = [
    { role: 'assistant', content: [{ type: { toString: 1 } }] },
    { role: 'user', content: [{ type: { toString: 1 } }] },
  ]
  const body = JSON.stringify({ model: 'm', max_tokens: 2000, messages })
  expect(send(body, { model: 'claude-sonnet-4-5-thinking' }).json).toMatchObject({ messages })
})

test('only the name and a missing limit are written', () => {
  expect(send('{"model":"mine","messages":[],"x":1}', { model: 'claude-opus-4-6' }).json).toEqual({
    model: 'claude-opus-4-6',
    messages: [],
    x: 1,
    max_tokens: 128_000,
  })
})

test('the suffix sets the thinking and takes away what forbids it', () => {
  const body = '{"model":"m","max_tokens":2000,"messages":[],"top_k":1,"temperature":0.2}'
  const sent = send(body, {
    model: 'claude-sonnet-4-5-thinking',
    callerHeaders: { 'anthropic-version': '2026-10-21' },
  })
  expect(sent.json).toEqual({
    model: 'claude-sonnet-4-5',
    max_tokens: 2000,
    messages: [],
    temperature: 1,
    thinking: { type: 'enabled', budget_tokens: 1600 },
  })
  expect(sent.headers['anthropic-version']).toBe('2023-06-01')
})

describe('what the thinking of a suffix forbids', () => {
  const user = { role: 'user', content: 'Weather?' }
  const call = { type: 'tool_use', id: 'c', name: 'f', input: {} }
  const thought = { type: 'thinking', thinking: 'hm', signature: 's' }
  const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: 'sunny' }] }
  const sendSuffixed = (fields: object, model = 'claude-sonnet-4-5-thinking') =>
    send(JSON.stringify({ model: 'm', max_tokens: 2000, messages: [user], ...fields }), { model })

  test('a forced tool becomes one the model may use, which is named', () => {
    const tool_choice = { type: 'tool', name: 'f', disable_parallel_tool_use: true }
    const sent = sendSuffixed({ tool_choice })
    expect(sent.json).toMatchObject({ thinking: { type: 'enabled' } })
    expect(sent.json.tool_choice).toEqual({ type: 'auto', disable_parallel_tool_use: true })
    expect(sent.losses).toEqual(['tool_choice'])
    expect(sendSuffixed({ tool_choice }, 'claude-sonnet-4-5').json.tool_choice).toEqual(tool_choice)
  })

  test('a round of tools that began without reasoning goes on without, which is named', () => {
    const calling = { role: 'assistant', content: [call] }
    const sent = sendSuffixed({ messages: [user, calling, result], temperature: 0.2 })
    expect(sent.json).toMatchObject({ model: 'claude-sonnet-4-5', temperature: 0.2 })
    expect(sent.json).not.toHaveProperty('thinking')
    expect(sent.losses).toEqual(['thinking'])
    const thinking = { role: 'assistant', content: [thought, call] }
    expect(sendSuffixed({ messages: [user, thinking, result, calling, result] })).toMatchObject({
      json: { thinking: { type: 'enabled' } },
      losses: [],
    })
    expect(sendSuffixed({ messages: [user, thinking, result, user, calling, result] }).losses).toEqual(['thinking'])
  })

  test('a begun answer is gone on with when the user says so', () => {
    const begun = { role: 'assistant', content: 'It is' }
    expect(sendSuffixed({ messages: [user, begun] }).json.messages).toEqual([
      user,
      begun,
      { role: 'user', content: 'Continue.' },
    ])
    const paused = { role: 'assistant', content: [thought, { type: 'text', text: 'So far' }] }
    expect(sendSuffixed({ messages: [user, paused] }).json.messages).toEqual([user, paused])
  })
})

test('an answer is empty only where it holds nothing but words that say nothing', () => {
  const answer = (...content: object[]) =>
    anthropic.native.claude!.inspect({ id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content }).empty
  expect(answer({ type: 'text', text: ' ' }, { type: 'thinking', thinking: '' })).toBe(true)
  expect(answer({ type: 'compaction', content: 'so far' })).toBe(false)
  expect(answer({ type: 'server_tool_use', id: 'srvtoolu_1', name: 'code_execution', input: {} })).toBe(false)
})
