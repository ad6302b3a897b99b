import type { Failure } from '../prompt.ts'
import type { Vendor } from '../types.ts'

const typeByStatus: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
}

const envelope = ({ status, message, type }: Failure) => ({
  type: 'error',
  error: { type: type ?? typeByStatus[status] ?? 'api_error', message },
  request_id: 'req_sim',
})

export const anthropic: Vendor = {
  id: 'anthropic',
  bodiless: true,
  keyOf: ({ headers }) => {
    const key = headers['x-api-key']
    if (typeof key === 'string' && key !== '') return key
    return /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1]
  },
  missingKey: { status: 401, message: 'x-api-key header is required' },
  badKey: { status: 401, message: 'invalid x-api-key' },
  error: (failure) => ({ body: envelope(failure), headers: { 'request-id': 'req_sim' } }),
  streamError: (failure) => ({ event: 'error', data: JSON.stringify(envelope(failure)) }),
}
