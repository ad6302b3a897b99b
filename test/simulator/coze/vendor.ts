import type { Vendor } from '../types.ts'

const codes: Record<number, number> = { 400: 4000, 401: 4100, 402: 4028, 403: 4101, 404: 4200, 429: 4009, 500: 5000 }

const codeOf = (status: number): number => codes[status] ?? 5000

/** Failures come as successes, with a number of their own. */
export const coze: Vendor = {
  id: 'coze',
  keyOf: ({ headers }) => /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1],
  missingKey: { status: 401, message: 'authentication is invalid' },
  badKey: { status: 401, message: 'authentication is invalid' },
  error: ({ status, message }) => ({ status: 200, body: { code: codeOf(status), msg: message } }),
  streamError: ({ status, message }) => ({
    event: 'conversation.chat.failed',
    data: JSON.stringify({ status: 'failed', last_error: { code: codeOf(status), msg: message } }),
  }),
}
