import { openai } from '../openai/vendor.ts'
import type { Vendor } from '../types.ts'

/** OpenAI's words and forms; another place for the key. */
export const azure: Vendor = {
  ...openai,
  id: 'azure',
  keyOf: ({ headers }) => {
    const key = headers['api-key']
    return typeof key === 'string' && key !== '' ? key : undefined
  },
  missingKey: {
    status: 401,
    message: 'Access denied due to invalid subscription key or wrong API endpoint.',
    code: '401',
  },
  badKey: {
    status: 401,
    message: 'Access denied due to invalid subscription key or wrong API endpoint.',
    code: '401',
  },
}
