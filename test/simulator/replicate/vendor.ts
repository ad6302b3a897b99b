import type { Vendor } from '../types.ts'

export const replicate: Vendor = {
  id: 'replicate',
  keyOf: ({ headers }) => /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1],
  missingKey: { status: 401, message: 'You did not pass an authentication token' },
  badKey: { status: 401, message: 'You did not pass a valid authentication token' },
  bodiless: true,
  error: ({ status, message }) => ({ body: { title: 'Failed', detail: message, status } }),
  streamError: ({ message }) => ({ event: 'error', data: JSON.stringify({ detail: message }) }),
}
