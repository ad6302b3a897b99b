import { describe, expect, test } from 'vitest'
import { shouldDisable } from '#core/routing/disable.ts'
import { callWith } from './conformance/fixtures.ts'
import { providerFor } from './registry.ts'

const failureOf = (type: number, status: number, body: object) =>
  providerFor(type).error(status, JSON.stringify(body), {})

/** Whether a key is switched off by a refusal. */
const disables = (type: number, status: number, body: object): boolean => {
  const { code = null, ...failure } = failureOf(type, status, body)
  return shouldDisable(
    { ...failure, code, local: false, channelType: type },
    { AutomaticDisableChannelEnabled: true, AutomaticDisableKeywords: '', autoBan: true, requestText: () => '' },
  )
}

describe('Kimi', () => {
  const message = "You've reached your concurrent request limit. Please wait for your ongoing requests to finish."
  const messagesForm = { error: { message, type: 'permission_error' }, type: 'error' }
  const chatForm = { error: { message, type: 'access_terminated_error' } }

  test.each([25, 14, 1])('a busy key is rested, not switched off, at its address in a channel of type %i', (type) => {
    for (const body of [messagesForm, chatForm]) {
      expect(failureOf(type, 403, body)).toMatchObject({ status: 429, type: 'rate_limit_error', message })
      expect(disables(type, 403, body)).toBe(false)
    }
  })

  test('another refusal of a key stays one', () => {
    const body = { error: { message: 'no access', type: 'permission_error' }, type: 'error' }
    expect(failureOf(25, 403, body)).toMatchObject({ status: 403, type: 'permission_error' })
    expect(disables(25, 403, body)).toBe(true)
  })
})

describe('Qianfan', () => {
  test.each([
    [401, 'invalid_model', 'invalid_request_error', 404],
    [400, 'invalid_model', 'invalid_request_error', 400],
    [401, 'no_parameter_permission', 'access_denied', 403],
    [401, 'invalid_iam_token', 'invalid_request_error', 401],
    [401, 'invalid_appid', 'invalid_request_error', 401],
    [403, 'system_unsafe', 'unsafe_request', 400],
    [403, 'functions_unsafe', 'unsafe_request', 400],
    [403, 'user_setting_unsafe', 'unsafe_request', 400],
    [403, 'account_overdue', 'access_denied', 402],
    [403, 'model_offline', 'access_denied', 403],
  ])('%i %s (%s) means %i, and 401 alone switches a key off', (status, code, type, meant) => {
    const body = { error: { code, message: 'm', type }, id: 'as-x' }
    expect(failureOf(46, status, body)).toMatchObject({ status: meant, code, type })
    expect(disables(46, status, body)).toBe(meant === 401)
  })
})

describe('xAI', () => {
  test('a wrong key is switched off, though it is refused as a malformed call is', () => {
    const code = 'Client specified an invalid argument'
    const wrong = {
      code,
      error: 'Incorrect API key provided: xa***Tg. You can obtain an API key from https://console.x.ai.',
    }
    expect(failureOf(48, 400, wrong)).toMatchObject({ status: 401 })
    expect(disables(48, 400, wrong)).toBe(true)
    const malformed = { code, error: 'Invalid request content: "Incorrect API key provided" is no role' }
    expect(failureOf(48, 400, malformed)).toMatchObject({ status: 400 })
  })

  test('forbidden content is refused once, for it may be charged with every key', () => {
    const code = 'The caller does not have permission to execute the specified operation'
    const forbidden = { code, error: 'Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO' }
    expect(failureOf(48, 403, forbidden)).toMatchObject({ status: 400, type: 'content_filter', code: 'content_filter' })
    const blocked = { code, error: 'Your team is blocked.' }
    expect(failureOf(48, 403, blocked)).toMatchObject({ status: 403, code })
  })
})

test.each([
  [4000, 400],
  [4006, 404],
  [4008, 429],
  [4009, 429],
  [4011, 402],
  [4012, 404],
  [4013, 503],
  [4014, 400],
  [4015, 404],
  [4019, 402],
  [4020, 429],
  [4022, 402],
  [4028, 402],
  [4100, 401],
  [5000, 500],
])('the number %i of Coze means status %i', (code, status) => {
  const data = JSON.stringify({ status: 'failed', last_error: { code, msg: 'm' } })
  const events = providerFor(49).chat.stream(callWith()).push({ event: 'conversation.chat.failed', data })
  expect(events).toMatchObject([{ type: 'error', error: { status, code } }])
})

test.each([
  [1033, 500],
  [1041, 429],
  [1042, 400],
  [2042, 404],
  [2045, 429],
  [2054, 404],
  [20132, 404],
])('the number %i of MiniMax means status %i', (status_code, status) => {
  const data = JSON.stringify({ base_resp: { status_code, status_msg: 'm' } })
  const events = providerFor(35).chat.stream(callWith()).push({ data })
  expect(events).toMatchObject([{ type: 'error', error: { status, code: status_code } }])
})
