import type { Vendor } from '../types.ts'

/** A server of one's own asks for no key; the hosted one does. */
export const ollama: Vendor = {
  id: 'ollama',
  keyOf: ({ headers }) => /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1] ?? 'none',
  missingKey: { status: 401, message: 'unauthorized' },
  badKey: { status: 401, message: 'unauthorized' },
  error: ({ message }) => ({ body: { error: message } }),
  streamError: ({ message }) => ({ data: JSON.stringify({ error: message }) }),
}
