import type { Vendor } from '../types.ts'

const typeByStatus: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'invalid_request_error',
  403: 'invalid_request_error',
  404: 'invalid_request_error',
  429: 'rate_limit_exceeded',
}
const codeByStatus: Record<number, string> = {
  401: 'invalid_api_key',
  404: 'model_not_found',
  429: 'rate_limit_exceeded',
}

export const openai: Vendor = {
  id: 'openai',
  keyOf: ({ headers }) => /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1],
  missingKey: {
    status: 401,
    message:
      "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth.",
    type: 'invalid_request_error',
    code: null,
  },
  badKey: { status: 401, message: 'Incorrect API key provided: bad-key.', code: 'invalid_api_key' },
  error: (failure) => ({ body: envelope(failure), headers: { 'x-request-id': 'req_sim' } }),
  streamError: (failure) => ({ data: JSON.stringify(envelope(failure)) }),
}

const envelope: (failure: Parameters<Vendor['error']>[0]) => unknown = ({ status, message, type, code, param }) => ({
  error: {
    message,
    type: type ?? typeByStatus[status] ?? 'server_error',
    param: param ?? null,
    code: code === undefined ? (codeByStatus[status] ?? null) : code,
  },
})
