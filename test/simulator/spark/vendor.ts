import { createHmac } from 'node:crypto'
import { Refusal } from '../prompt.ts'
import type { Arrival, Vendor } from '../types.ts'
import { appId, failureFrame } from './frames.ts'

/** The only credential that the simulated service knows, as a channel's key writes it. */
const credential = { apiSecret: 'simulated-secret', apiKey: 'simulated-key' }
export const sparkKeyText = `${appId}|${credential.apiSecret}|${credential.apiKey}`

const longestSkewMs = 300_000

const refused = (status: number, message: string): never => {
  throw new Refusal({ status, message })
}

/** Makes the signature anew over what the caller's handshake really says. */
function verify({ method, url, headers }: Arrival): void {
  const target = new URL(url, 'ws://any')
  const date = target.searchParams.get('date') ?? ''
  if (target.searchParams.get('host') !== headers.host) refused(401, 'HMAC signature cannot be verified: host')
  if (!(Math.abs(Date.now() - Date.parse(date)) < longestSkewMs))
    refused(403, 'HMAC signature cannot be verified, a valid date header is required')
  const words = Buffer.from(target.searchParams.get('authorization') ?? '', 'base64').toString()
  if (!words.includes(`"${credential.apiKey}"`)) refused(401, 'HMAC signature cannot be verified: apikey')
  const text = `host: ${headers.host}\ndate: ${date}\n${method} ${url.split('?', 1)[0]} HTTP/1.1`
  const expected = createHmac('sha256', credential.apiSecret).update(text).digest('base64')
  if (!words.includes(`signature="${expected}"`)) refused(401, 'HMAC signature does not match')
}

export const spark: Vendor = {
  id: 'spark',
  keyOf: ({ query }) => query.get('authorization') ?? undefined,
  missingKey: { status: 401, message: 'Unauthorized' },
  badKey: { status: 401, message: 'HMAC signature cannot be verified: apikey' },
  verify,
  error: ({ message }) => ({ body: { message } }),
  streamError: failureFrame,
}
