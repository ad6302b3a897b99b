import { createHash, createHmac } from 'node:crypto'
import { Refusal, type Failure } from '../prompt.ts'
import type { Arrival, Vendor } from '../types.ts'

/** The only credential that the simulated service knows, as a channel's key writes it. */
const credential = { appId: '1250000000', secretId: 'AKIDsimulated', secretKey: 'simulated-secret' }
export const tencentKeyText = `${credential.appId}|${credential.secretId}|${credential.secretKey}`

const service = 'hunyuan'
const longestSkewSeconds = 300

const codes: Record<number, string> = {
  400: 'InvalidParameter',
  401: 'AuthFailure.SignatureFailure',
  402: 'FailedOperation.ResourcePackExhausted',
  403: 'UnauthorizedOperation',
  404: 'ResourceNotFound',
  429: 'RequestLimitExceeded',
  504: 'FailedOperation.EngineRequestTimeout',
}

const errorOf = ({ status, message, type }: Failure) => ({
  Code: type ?? codes[status] ?? 'InternalError',
  Message: message,
})

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex')
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()

const refused = (message: string): never => {
  throw new Refusal({ status: 401, message })
}

/** Makes the signature anew over the headers that the caller names. */
function verify({ method, headers, bytes }: Arrival): void {
  const parts = /^TC3-HMAC-SHA256 Credential=([^/]+)\/(\S+), SignedHeaders=(\S+), Signature=([0-9a-f]{64})$/.exec(
    headers.authorization ?? '',
  )
  const [, secretId = '', scope = '', names = '', signature = ''] = parts ?? []
  if (secretId !== credential.secretId) refused('The SecretId is not found.')
  const timestamp = Number(headers['x-tc-timestamp'])
  if (!(Math.abs(Date.now() / 1000 - timestamp) < longestSkewSeconds)) refused('The timestamp has expired.')
  const date = new Date(timestamp * 1000).toISOString().slice(0, 10)
  if (scope !== `${date}/${service}/tc3_request`) refused('The credential scope is not right.')
  for (const name of ['content-type', 'host']) if (!names.split(';').includes(name)) refused(`${name} must be signed.`)
  const lines = names.split(';').map((name) => `${name}:${String(headers[name] ?? '').toLowerCase()}\n`)
  const canonical = [method, '/', '', lines.join(''), names, sha256(bytes)].join('\n')
  const toSign = ['TC3-HMAC-SHA256', String(timestamp), scope, sha256(canonical)].join('\n')
  const key = scope
    .split('/')
    .reduce<string | Buffer>((secret, step) => hmac(secret, step), `TC3${credential.secretKey}`)
  if (createHmac('sha256', key).update(toSign).digest('hex') !== signature) refused('The signature does not match.')
}

export const tencent: Vendor = {
  id: 'tencent',
  keyOf: ({ headers }) => /Credential=([^/]+)\//.exec(headers.authorization ?? '')?.[1],
  missingKey: { status: 401, message: 'Authorization is missing.' },
  badKey: { status: 401, message: 'The SecretId is not found.' },
  verify,
  // Whatever went wrong, the reply itself is a success.
  error: (failure) => ({ status: 200, body: { Response: { Error: errorOf(failure), RequestId: 'sim' } } }),
  streamError: (failure) => {
    const { Message } = errorOf(failure)
    return { data: JSON.stringify({ ErrorMsg: { Code: 4000, Msg: Message } }) }
  },
}
