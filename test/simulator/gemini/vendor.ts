import type { Failure } from '../prompt.ts'
import type { Vendor } from '../types.ts'

const statusWords: Record<number, string> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'ABORTED',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
}

const envelope = ({ status, message, type, code }: Failure) => ({
  error: {
    code: status,
    message,
    status: type ?? statusWords[status] ?? 'UNKNOWN',
    ...(code
      ? { details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: code, domain: 'googleapis.com' }] }
      : {}),
  },
})

export const gemini: Vendor = {
  id: 'gemini',
  keyOf: ({ headers, query }) => {
    const key = headers['x-goog-api-key']
    return (typeof key === 'string' && key) || query.get('key') || undefined
  },
  missingKey: {
    status: 403,
    message:
      "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API.",
  },
  badKey: { status: 400, message: 'API key not valid. Please pass a valid API key.', code: 'API_KEY_INVALID' },
  error: (failure) => ({ body: envelope(failure) }),
  streamError: (failure) => ({ data: JSON.stringify(envelope(failure)) }),
}
