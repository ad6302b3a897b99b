import { expect, test } from 'vitest'
import { maskFailure } from './mask-failure.ts'

const key = 'sk-Zx81QmPv93LrTw60BnYc'

test('what an error reports to programs beside its message is masked like its words', () => {
  const details = { error_code: 'x', quoted: [{ header: `x-api-key: ${key}` }] }
  const failure = { status: 400, type: 'invalid_request_error', code: null, message: 'no', details }
  const masked = maskFailure(failure, { type: 14, key })
  expect(masked).toEqual({ ...failure, details: { error_code: 'x', quoted: [{ header: 'x-api-key: ***' }] } })
})
