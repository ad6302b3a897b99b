import { describe, expect, test } from 'vitest'
import { shouldDisable, shouldEnable } from './disable.ts'
import type { DisableRules, UpstreamFault } from './disable.ts'
import { mayRetry, retryLimit } from './retry.ts'
import type { FailedAttempt, RetrySettings } from './retry.ts'
import { mapStatus } from './status-mapping.ts'

const settings: RetrySettings = {
  RetryTimes: 2,
  'global.auto_retry_enabled': false,
  'global.auto_retry_count': 3,
  'global.auto_retry_status_codes': '5xx,4xx',
}
const automatic = { ...settings, 'global.auto_retry_enabled': true }

const attempt: FailedAttempt = {
  status: 500,
  local: false,
  channelType: 1,
  pinned: false,
  started: false,
  retriesLeft: 1,
  settings,
}
const statuses = [200, 204, 307, 400, 401, 403, 404, 408, 429, 500, 502, 503, 504, 524]
const retried = (rest: Partial<FailedAttempt>): number[] =>
  statuses.filter((status) => mayRetry({ ...attempt, status, ...rest }))

describe('mayRetry', () => {
  test('retries by status: overload, faults and refusals of the key, not the caller’s own errors or time-outs', () => {
    expect(retried({})).toEqual([307, 401, 403, 404, 429, 500, 502, 503])
  })

  test('retries a 400 on the one channel type that answers it for its own faults', () => {
    expect(retried({ channelType: 14 })).toContain(400)
  })

  test('never retries when the gateway refused, the channel is pinned, bytes have gone out or no attempt is left', () => {
    for (const stop of [
      { local: true },
      { pinned: true },
      { started: true },
      { retriesLeft: 0 },
      { route: 'drawing' as const },
    ]) {
      expect(retried(stop)).toEqual([])
    }
  })

  test('with automatic retries the list of statuses alone decides', () => {
    expect(retried({ settings: automatic })).toEqual([400, 401, 403, 404, 408, 429, 500, 502, 503, 504, 524])
    expect(retried({ settings: { ...automatic, 'global.auto_retry_status_codes': '429, 502-503' } })).toEqual([
      429, 502, 503,
    ])
    expect(retried({ settings: { ...automatic, 'global.auto_retry_status_codes': '' } })).toContain(504)
    expect(retried({ settings: automatic, pinned: true })).toEqual([])
  })

  test('jobs never retry a 400, and retry overloads we noticed ourselves', () => {
    expect(retried({ route: 'task', channelType: 14 })).toEqual([307, 401, 403, 404, 429, 500, 502, 503])
    expect(retried({ route: 'task', local: true })).toEqual([307, 429, 500, 502, 503])
    expect(retried({ route: 'task', settings: automatic })).not.toContain(400)
  })
})

test('retryLimit takes the larger number when automatic retries are on', () => {
  expect([retryLimit(settings), retryLimit(automatic), retryLimit({ ...automatic, RetryTimes: 7 })]).toEqual([2, 3, 7])
})

describe('mapStatus', () => {
  test('rewrites what it names and leaves 200 alone', () => {
    expect(mapStatus('{"400":"500","429":503}', 400)).toBe(500)
    expect(mapStatus('{"400":"500","429":503}', 429)).toBe(503)
    expect(mapStatus('{"200":"500"}', 200)).toBe(200)
    expect(mapStatus('{"400":"500"}', 401)).toBe(401)
  })

  test('leaves everything where it cannot be read', () => {
    for (const broken of ['', '{', 'null', '[]', '{"400":"x"}', '{"400":"99"}', '{"400":"1e9"}']) {
      expect(mapStatus(broken, 400), broken).toBe(400)
    }
  })
})

const fault: UpstreamFault = {
  status: 500,
  type: 'upstream_error',
  code: null,
  message: 'oops',
  local: false,
  channelType: 1,
}
const rules: DisableRules = {
  AutomaticDisableChannelEnabled: true,
  AutomaticDisableKeywords: 'Your credit balance is too low\n\n  Permission denied ',
  autoBan: true,
  requestText: () => '',
}

describe('shouldDisable', () => {
  test('knows a credential that is of no more use by status, code, type or words', () => {
    const disabling: Partial<UpstreamFault>[] = [
      { status: 401 },
      { status: 403, channelType: 24 },
      { code: 'invalid_api_key' },
      { code: 'account_deactivated' },
      { code: 'billing_not_active' },
      { type: 'insufficient_quota' },
      { type: 'insufficient_user_quota' },
      { type: 'authentication_error' },
      { type: 'permission_error' },
      { type: 'forbidden' },
      { message: 'Sorry: PERMISSION DENIED for project' },
    ]
    for (const part of disabling) expect(shouldDisable({ ...fault, ...part }, rules), JSON.stringify(part)).toBe(true)
  })

  test('leaves a channel alone for anything else', () => {
    for (const part of [{}, { status: 403 }, { status: 429 }, { code: 401 }, { message: '' }]) {
      expect(shouldDisable({ ...fault, ...part }, rules), JSON.stringify(part)).toBe(false)
    }
  })

  test('blames no key for a file or a cached prompt that its caller named and its account does not have', () => {
    const refused = { ...fault, status: 403, channelType: 24, type: 'PERMISSION_DENIED', code: 403 }
    for (const message of [
      'You do not have permission to access the File r1ux1cqkc4b8 or it may not exist.',
      'CachedContent not found (or permission denied)',
    ])
      expect(shouldDisable({ ...refused, message }, rules), message).toBe(false)
    expect(shouldDisable({ ...refused, message: 'The caller does not have permission' }, rules)).toBe(true)
  })

  test('blames no key for a video or file that its caller names by its address and Google may not show it', () => {
    const refused = { ...fault, status: 403, channelType: 24, type: 'PERMISSION_DENIED', code: 403 }
    const asked = (message: string, requestText: string) =>
      shouldDisable({ ...refused, message }, { ...rules, requestText: () => requestText })
    const silent = 'The caller does not have permission'
    for (const address of [
      '{"fileData":{"fileUri":"https://www.youtube.com/watch?v=private"}}',
      '{"file_data":{"file_uri":"files/of-another"}}',
      '{"type":"video_url","video_url":{"url":"https:\\/\\/youtu.be\\/private"}}',
      '{"url":"gs://bucket/of/another"}',
      '{"cachedContent":"cachedContents/of-another"}',
    ])
      expect(asked(silent, address), address).toBe(false)
    expect(asked(silent, '{"text":"hi"}')).toBe(true)
    expect(asked('Consumer has been suspended', '{"fileUri":"https://youtu.be/private"}')).toBe(true)
  })

  test('does nothing where either switch is off or the error is our own', () => {
    const gone = { ...fault, status: 401 }
    expect(shouldDisable(gone, { ...rules, AutomaticDisableChannelEnabled: false })).toBe(false)
    expect(shouldDisable(gone, { ...rules, autoBan: false })).toBe(false)
    expect(shouldDisable({ ...gone, local: true }, rules)).toBe(false)
  })

  test('believes no keyword that the caller wrote', () => {
    const quoted = { ...fault, message: 'cannot answer: "permission denied"' }
    expect(shouldDisable(quoted, { ...rules, requestText: () => 'say Permission Denied' })).toBe(false)
    const both = { ...fault, message: 'permission denied: your credit balance is too low' }
    expect(shouldDisable(both, { ...rules, requestText: () => 'say Permission Denied' })).toBe(true)
  })
})

test('shouldEnable brings back only what was disabled automatically', () => {
  const passed = { AutomaticEnableChannelEnabled: true, testPassed: true }
  expect([0, 1, 2, 3].map((status) => shouldEnable({ ...passed, status }))).toEqual([false, false, false, true])
  expect(shouldEnable({ ...passed, status: 3, testPassed: false })).toBe(false)
  expect(shouldEnable({ ...passed, status: 3, AutomaticEnableChannelEnabled: false })).toBe(false)
})
