import { expect, test } from 'vitest'
import { callWith } from '../conformance/fixtures.ts'
import { imageRequest, requestWith, toolConversation, weatherTool } from '../conformance/requests.ts'
import { xunfei } from './index.ts'
import { readSparkKey, signSocket } from './sign.ts'

type Changes = Parameters<typeof callWith>[0]
type Frame = {
  header: unknown
  parameter: { chat: { domain: string; temperature?: number; top_k?: number; max_tokens?: number } }
  payload: { message: { text: { role: string; content: string }[] }; functions?: unknown }
}
const callOf = (changes: Changes) =>
  callWith({
    model: 'SparkDesk',
    ...changes,
    channel: { type: 18, baseUrl: '', key: 'app|secret|id', ...changes?.channel },
  })
const write = (changes: Changes = {}, request = requestWith()) => {
  const sent = xunfei.chat.request(request, callOf(changes))
  return { ...sent, frame: sent.body as Frame }
}

test('an address is signed as the vendor wants it', () => {
  const key = readSparkKey('APPID|APISECRETEXAMPLE|APIKEYEXAMPLE')!
  const signed = new URL(
    signSocket('wss://spark-api.xf-yun.com/v3.5/chat', key, new Date(Date.UTC(2026, 0, 2, 3, 4, 5))),
  )
  expect(signed.origin + signed.pathname).toBe('wss://spark-api.xf-yun.com/v3.5/chat')
  expect(Object.fromEntries(signed.searchParams)).toEqual({
    host: 'spark-api.xf-yun.com',
    date: 'Fri, 02 Jan 2026 03:04:05 GMT',
    authorization:
      'aG1hYyB1c2VybmFtZT0iQVBJS0VZRVhBTVBMRSIsIGFsZ29yaXRobT0iaG1hYy1zaGEyNTYiLCBoZWFkZXJzPSJob3N0IGRhdGUgcmVxdWVzdC1saW5lIiwgc2lnbmF0dXJlPSJtbHROK2o4ekVpVXhtdmo5Z0hmT1JBRWFHNkhublI2aG9lT1NMcmszWVdFPSI=',
  })
  const words = Buffer.from(signed.searchParams.get('authorization') ?? '', 'base64').toString()
  expect(words).toContain('signature="mltN+j8zEiUxmvj9gHfORAEaG6HnnR6hoeOSLrk3YWE="')
})

test.each([
  [{ model: 'SparkDesk-v3.5' }, '/v3.5/chat', 'generalv3.5'],
  [{ model: 'SparkDesk', channel: { other: 'v4.0' } }, '/v4.0/chat', '4.0Ultra'],
  [{ model: 'SparkDesk', query: { 'api-version': 'v3.1' } }, '/v3.1/chat', 'generalv3'],
  [{ model: 'SparkDesk-v1.1', query: { 'api-version': 'v4.0' } }, '/v1.1/chat', 'lite'],
  [{ model: 'lite', query: { 'api-version': 'v4.0' } }, '/v1.1/chat', 'lite'],
  [{ model: 'SparkDesk', query: { 'api-version': 'v4.0' }, channel: { other: 'v2.1' } }, '/v2.1/chat', 'generalv2'],
  [{ model: 'SparkDesk', channel: { other: 'v2.1' } }, '/v2.1/chat', 'generalv2'],
  [{ model: 'SparkDesk' }, '/v1.1/chat', 'lite'],
  [{ model: 'SparkDesk-v9' }, '/v9/chat', 'generalv9'],
  [{ model: 'Spark-of-v3.5', channel: { other: 'pro-128k' } }, '/chat/pro-128k', 'pro-128k'],
  [{ model: 'max-32k' }, '/chat/max-32k', 'max-32k'],
  [{ model: 'spark-x', channel: { other: 'v2.1' } }, '/v1/x1', 'spark-x'],
  [{ model: 'x1' }, '/v1/x1', 'spark-x'],
  [{ model: '4.0Ultra', channel: { other: 'v2.1' } }, '/v4.0/chat', '4.0Ultra'],
])('%j is asked at %s for %s', (changes, path, domain) => {
  const { url, frame } = write(changes)
  expect(url).toBe(`wss://spark-api.xf-yun.com${path}`)
  expect(frame.parameter.chat.domain).toBe(domain)
})

test('the address of a channel takes the place of the host', () => {
  expect(write({ channel: { baseUrl: 'http://127.0.0.1:1/x' } }).url).toBe('ws://127.0.0.1:1/x/v1.1/chat')
  expect(write({ channel: { baseUrl: 'https://spark.example' } }).url).toBe('wss://spark.example/v1.1/chat')
})

test('figures stay within what the vendor takes, and n stands in for top_k', () => {
  const chatOf = (changes: Parameters<typeof requestWith>[0]) => write({}, requestWith(changes)).frame.parameter.chat
  expect(chatOf({ temperature: 0, topK: 40, maxTokens: 9 })).toEqual({
    domain: 'lite',
    temperature: 0.001,
    top_k: 6,
    max_tokens: 9,
  })
  expect(chatOf({ temperature: 1.7, topK: 0 })).toMatchObject({ temperature: 1, top_k: 1 })
  expect(chatOf({ choiceCount: 3 })).toMatchObject({ top_k: 3 })
  expect(chatOf({ choiceCount: 3, topK: 5 })).toMatchObject({ top_k: 5 })
  expect(chatOf({})).toEqual({ domain: 'lite' })
})

test('instructions below version 3.5 are something the user said and the model agreed to', () => {
  const firstTwo = (model: string) => write({ model }, toolConversation()).frame.payload.message.text.slice(0, 2)
  expect(firstTwo('SparkDesk-v3.1')).toEqual([
    { role: 'user', content: 'Be brief.' },
    { role: 'assistant', content: 'Okay' },
  ])
  for (const model of ['SparkDesk-v3.5', 'SparkDesk-v4.0', 'max-32k'])
    expect(firstTwo(model)[0]).toEqual({ role: 'system', content: 'Be brief.' })
})

test('functions go along, and what has no place is reported', () => {
  const { frame, losses } = write({}, requestWith({ tools: [weatherTool], topP: 0.5 }))
  const { name, description, parameters } = weatherTool
  expect(frame.payload.functions).toEqual({ text: [{ name, description, parameters }] })
  expect(frame.header).toEqual({ app_id: 'app' })
  expect(losses).toContain('top_p')
  expect(write({}, imageRequest()).losses).toContain('image_url')
})

test.each([
  [10013, 400],
  [10163, 400],
  [10907, 400],
  [11200, 403],
  [11201, 429],
  [11202, 429],
  [11203, 429],
  [10012, 500],
])('the number %i in a frame has the status %i', (code, status) => {
  const data = JSON.stringify({ header: { code, message: 'no', sid: 's', status: 2 } })
  const sent = write()
  expect(sent.isLastFrame?.(data)).toBe(true)
  const events = xunfei.chat.stream(callOf({ stream: true })).push({ data })
  expect(events).toEqual([{ type: 'error', error: expect.objectContaining({ status, code, message: 'no' }) }])
})
