import { gemini } from '../gemini/vendor.ts'
import { Refusal } from '../prompt.ts'
import type { Vendor } from '../types.ts'
import { isToken } from './account.ts'

const bearer = (authorization: string | undefined) => /^Bearer (.+)$/.exec(authorization ?? '')?.[1]

/** Google's words; a token that the login gave out instead of a key. */
export const vertex: Vendor = {
  ...gemini,
  id: 'vertex',
  keyOf: ({ headers }) => bearer(headers.authorization),
  missingKey: {
    status: 401,
    message: 'Request is missing required authentication credential.',
    code: 'CREDENTIALS_MISSING',
  },
  verify: ({ headers }) => {
    if (isToken(bearer(headers.authorization))) return
    throw new Refusal({
      status: 401,
      message: 'Request had invalid authentication credentials.',
      code: 'ACCESS_TOKEN_TYPE_UNSUPPORTED',
    })
  },
}
