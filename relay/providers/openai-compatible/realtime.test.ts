import { describe, expect, test } from 'vitest'
import { callWith } from '../conformance/fixtures.ts'
import { listProviders, providerFor } from '../registry.ts'
import type { RealtimeCaller } from '../types.ts'
import { readRealtimeUsage } from './realtime.ts'

type Changes = Parameters<typeof callWith>[0]

const plain: RealtimeCaller = { byProtocols: false, beta: false, transcribes: false }

function open(type: number, changes: Changes = {}, came: Partial<RealtimeCaller> = {}) {
  const caller = { ...plain, ...came }
  const channel = { type, baseUrl: 'https://u.test', key: 'sk-k', ...changes?.channel }
  return providerFor(type).realtime?.request(callWith({ model: 'm', ...changes, channel }), caller)
}

describe('the socket of a channel', () => {
  test.each([
    [1, {}, 'wss://u.test/v1/realtime?model=m'],
    [1, { channel: { baseUrl: 'http://10.0.0.1:8000/v1' } }, 'ws://10.0.0.1:8000/v1/realtime?model=m'],
    [1, { model: 'vendor/m 1' }, 'wss://u.test/v1/realtime?model=vendor%2Fm%201'],
    [
      1,
      { channel: { baseUrl: 'https://gateway.ai.cloudflare.com/v1/acc/gw/openai' } },
      'wss://gateway.ai.cloudflare.com/v1/acc/gw/openai/realtime?model=m',
    ],
    [3, {}, 'wss://u.test/openai/v1/realtime?model=m'],
    [
      3,
      { channel: { other: '2024-10-01-preview' } },
      'wss://u.test/openai/realtime?api-version=2024-10-01-preview&deployment=m',
    ],
    [3, { query: { 'api-version': 'v1' } }, 'wss://u.test/openai/v1/realtime?model=m'],
    [
      3,
      { model: 'gpt-4.1-rt', channel: { createdAt: new Date('2025-01-01') } },
      'wss://u.test/openai/v1/realtime?model=gpt-41-rt',
    ],
    [8, { channel: { baseUrl: 'https://c.test/v1/chat/completions' } }, 'wss://c.test/v1/realtime?model=m'],
    [8, { channel: { baseUrl: 'wss://c.test/live/{model}?x=1' } }, 'wss://c.test/live/m?x=1'],
    [8, { channel: { baseUrl: 'https://c.test/live?x=1' } }, 'wss://c.test/live?x=1&model=m'],
    [48, {}, 'wss://u.test/v1/realtime?model=m'],
    [9999, {}, 'wss://u.test/v1/realtime?model=m'],
  ])('type %i %j', (type, changes: Changes, url) => {
    expect(open(type, changes)?.url).toBe(url)
  })

  test.each([
    [{}, 'wss://u.test/openai/realtime?api-version=2025-04-01-preview&deployment=m'],
    [{ channel: { other: 'v1' } }, 'wss://u.test/openai/v1/realtime?model=m'],
  ])(
    'of Azure is the dated one for callers of the beta form, unless the channel says otherwise: %j',
    (changes, url) => {
      expect(open(3, changes, { beta: true })?.url).toBe(url)
    },
  )

  test.each([
    [1, {}, 'wss://u.test/v1/realtime?intent=transcription'],
    [3, {}, 'wss://u.test/openai/v1/realtime?intent=transcription'],
    [
      3,
      { channel: { other: '2025-04-01-preview' } },
      'wss://u.test/openai/realtime?api-version=2025-04-01-preview&intent=transcription',
    ],
    [8, { channel: { baseUrl: 'https://c.test/live?x=1' } }, 'wss://c.test/live?x=1&intent=transcription'],
    [8, { channel: { baseUrl: 'wss://c.test/live/{model}' } }, 'wss://c.test/live/m?intent=transcription'],
  ])(
    'of a session that only transcribes names no model of its own accord: type %i %j',
    (type, changes: Changes, url) => {
      expect(open(type, changes, { transcribes: true })?.url).toBe(url)
    },
  )

  test('opens no session that only transcribes at a vendor that has none', () => {
    expect(providerFor(1).realtime?.transcribes).toBe(true)
    expect(providerFor(48).realtime?.transcribes).toBe(false)
  })

  test('is known of no provider that has none', () => {
    const without = listProviders().filter((provider) => !provider.realtime)
    expect(without.map(({ id }) => id)).toEqual(expect.arrayContaining(['anthropic', 'gemini', 'deepseek']))
    expect(providerFor(14).realtime).toBeUndefined()
  })
})

describe('the credential', () => {
  test('is a header for callers with headers, and the beta form is named only if the caller did', () => {
    expect(open(1)).toMatchObject({ headers: { authorization: 'Bearer sk-k' }, protocols: [] })
    expect(open(1)?.headers).not.toHaveProperty('openai-beta')
    expect(open(1, {}, { beta: true })?.headers).toMatchObject({ 'openai-beta': 'realtime=v1' })
    expect(open(1, { channel: { organization: 'org-1' } })?.headers).toMatchObject({ 'openai-organization': 'org-1' })
  })

  test('is a sub-protocol for callers with sub-protocols, unless the key has letters that cannot stand in one', () => {
    const byProtocols = { byProtocols: true }
    expect(open(1, {}, byProtocols)).toEqual({
      url: 'wss://u.test/v1/realtime?model=m',
      headers: {},
      protocols: ['realtime', 'openai-insecure-api-key.sk-k'],
    })
    expect(open(1, {}, { byProtocols: true, beta: true })?.protocols).toEqual([
      'realtime',
      'openai-insecure-api-key.sk-k',
      'openai-beta.realtime-v1',
    ])
    expect(open(1, { channel: { key: 'a=b/c' } }, byProtocols)).toMatchObject({
      headers: { authorization: 'Bearer a=b/c' },
      protocols: [],
    })
  })

  test('of Azure is its own header, whatever the caller used', () => {
    for (const byProtocols of [true, false]) {
      expect(open(3, {}, { byProtocols, beta: true })).toMatchObject({ headers: { 'api-key': 'sk-k' }, protocols: [] })
    }
  })
})

test('the usage of a response is read with its parts, from the parts alone too', () => {
  const details = {
    input_token_details: { cached_tokens: 5, text_tokens: 10, audio_tokens: 30 },
    output_token_details: { text_tokens: 20, audio_tokens: 40 },
  }
  const read = { promptTokens: 40, cachedTokens: 5, audioInputTokens: 30, completionTokens: 60, audioOutputTokens: 40 }
  expect(readRealtimeUsage({ total_tokens: 100, input_tokens: 40, output_tokens: 60, ...details })).toMatchObject(read)
  expect(readRealtimeUsage(details)).toMatchObject(read)
  expect(readRealtimeUsage(null)).toBeUndefined()
  expect(readRealtimeUsage({ input_tokens: '40' })?.promptTokens).toBeNaN()
})
