import type { Failure } from '../prompt.ts'
import type { Vendor } from '../types.ts'

const envelope = ({ message }: Failure) => ({ id: 'sim', message })

export const cohere: Vendor = {
  id: 'cohere',
  keyOf: ({ headers }) => /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1],
  missingKey: { status: 401, message: 'no api key supplied' },
  badKey: { status: 401, message: 'invalid api token' },
  error: (failure) => ({ body: envelope(failure) }),
  streamError: ({ message }) => {
    const delta = { finish_reason: 'ERROR', error: message }
    return { event: 'message-end', data: JSON.stringify({ type: 'message-end', delta }) }
  },
}
