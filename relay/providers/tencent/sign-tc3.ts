import { createHash, createHmac } from 'node:crypto'

const sha256 = (data: string | Uint8Array): string => createHash('sha256').update(data).digest('hex')
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()

const signedHeaders = 'content-type;host;x-tc-action'
const service = 'hunyuan'

export type Tc3Input = { host: string; action: string; body: string | Uint8Array; now: Date }

export const canonicalRequest = ({ host, action, body }: Tc3Input): string =>
  [
    'POST',
    '/',
    '',
    'content-type:application/json',
    `host:${host}`,
    `x-tc-action:${action.toLowerCase()}`,
    '',
    signedHeaders,
    sha256(body),
  ].join('\n')

/** The signature over body, host and action, and the headers it stands in. */
export function signTc3(input: Tc3Input, key: { secretId: string; secretKey: string }): Record<string, string> {
  const timestamp = String(Math.floor(input.now.getTime() / 1000))
  const date = input.now.toISOString().slice(0, 10)
  const scope = `${date}/${service}/tc3_request`
  const toSign = ['TC3-HMAC-SHA256', timestamp, scope, sha256(canonicalRequest(input))].join('\n')
  const signing = [date, service, 'tc3_request'].reduce<string | Buffer>(
    (secret, step) => hmac(secret, step),
    `TC3${key.secretKey}`,
  )
  const signature = createHmac('sha256', signing).update(toSign).digest('hex')
  return {
    'x-tc-timestamp': timestamp,
    authorization: `TC3-HMAC-SHA256 Credential=${key.secretId}/${scope}, SignedHeaders=${signedHeaders}, Signature=${signature}`,
  }
}
