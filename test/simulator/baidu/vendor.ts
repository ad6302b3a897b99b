import { Refusal, type Failure } from '../prompt.ts'
import { json, type PlainOperation, type Vendor } from '../types.ts'

const credential = { id: 'simulated-id', secret: 'simulated-secret' }
export const baiduKeyText = `${credential.id}|${credential.secret}`
const token = '24.simulated'

const codes: Record<number, number> = { 400: 336003, 401: 110, 429: 18, 503: 336100 }

const envelope = (failure: Failure) => ({ error_code: codes[failure.status] ?? 336000, error_msg: failure.message })

export const baidu: Vendor = {
  id: 'baidu',
  keyOf: ({ query }) => query.get('access_token') ?? undefined,
  missingKey: { status: 401, message: 'Access token missing' },
  badKey: { status: 401, message: 'Access token invalid or no longer valid' },
  verify: ({ url }) => {
    if (new URLSearchParams(url.split('?')[1]).get('access_token') !== token)
      throw new Refusal({ status: 401, message: 'Access token invalid or no longer valid' })
  },
  // Whatever went wrong, the reply itself is a success.
  error: (failure) => ({ status: 200, body: envelope(failure) }),
  streamError: (failure) => ({ data: JSON.stringify(envelope(failure)) }),
}

/** The login, which is asked with the whole credential in the query and an empty body. */
export const baiduLogin: Vendor = {
  ...baidu,
  id: 'baidu-login',
  keyOf: ({ query }) => query.get('client_id') ?? undefined,
  verify: undefined,
  bodiless: true,
  error: ({ message }) => ({ status: 401, body: { error: 'invalid_client', error_description: message } }),
}

export const baiduToken: PlainOperation = {
  type: 'plain',
  reply: ({ query }) => {
    if (query.get('grant_type') !== 'client_credentials')
      throw new Refusal({ status: 401, message: 'unsupported grant_type' })
    if (query.get('client_id') !== credential.id || query.get('client_secret') !== credential.secret)
      throw new Refusal({ status: 401, message: 'unknown client id' })
    return json({ access_token: token, expires_in: 2_592_000 })
  },
}
