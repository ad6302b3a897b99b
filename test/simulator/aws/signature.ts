import { createHash, createHmac } from 'node:crypto'
import { Refusal } from '../prompt.ts'
import type { Arrival } from '../types.ts'

/** The only credential that the simulated service knows, as a channel's key writes it. */
export const awsKey = { accessKeyId: 'AKIDSIMULATED', secretAccessKey: 'simulated/secret+key', region: 'us-east-1' }
export const awsKeyText = `${awsKey.accessKeyId}|${awsKey.secretAccessKey}|${awsKey.region}`

const longestSkewMs = 5 * 60_000

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex')
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()

const encode = (text: string) =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`)

const refused = (message: string, type = 'InvalidSignatureException'): never => {
  throw new Refusal({ status: 403, message, type })
}

function canonicalRequest({ method, url, headers, bytes }: Arrival, signedHeaders: string[]): string {
  const [path = '', query = ''] = url.split('?')
  const pairs = [...new URLSearchParams(query)].map(([name, value]) => `${encode(name)}=${encode(value)}`).toSorted()
  const lines = signedHeaders.map((name) => `${name}:${String(headers[name] ?? '').trim()}\n`).join('')
  const segments = path.split('/').map(encode).join('/')
  return [method, segments, pairs.join('&'), lines, signedHeaders.join(';'), sha256(bytes)].join('\n')
}

function signatureOf(arrival: Arrival, scope: string, signedHeaders: string[]): string {
  const date = String(arrival.headers['x-amz-date'])
  const toSign = ['AWS4-HMAC-SHA256', date, scope, sha256(canonicalRequest(arrival, signedHeaders))].join('\n')
  const key = scope
    .split('/')
    .reduce<string | Buffer>((secret, step) => hmac(secret, step), `AWS4${awsKey.secretAccessKey}`)
  return createHmac('sha256', key).update(toSign).digest('hex')
}

const dateOf = (text: string) =>
  Date.parse(text.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'))

/** Checks a signature of version 4 the way the service does: by making it anew. A bearer key is taken as it is. */
export function verifyV4(arrival: Arrival, service: string): void {
  const { headers } = arrival
  const authorization = headers.authorization ?? ''
  if (authorization.startsWith('Bearer ')) return
  const parts = /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\S+), SignedHeaders=(\S+), Signature=([0-9a-f]{64})$/.exec(
    authorization,
  )
  const [, accessKeyId = '', scope = '', names = '', signature = ''] = parts ?? []
  if (!parts) refused('Authorization header is not in the form of version 4.', 'IncompleteSignatureException')
  if (accessKeyId !== awsKey.accessKeyId)
    refused('The security token included in the request is invalid.', 'UnrecognizedClientException')
  const date = String(headers['x-amz-date'] ?? '')
  if (!(Math.abs(Date.now() - dateOf(date)) < longestSkewMs)) refused(`Signature expired: ${date}`)
  if (scope !== `${date.slice(0, 8)}/${awsKey.region}/${service}/aws4_request`)
    refused('Credential should be scoped to a valid region and service.')
  const signedHeaders = names.split(';')
  for (const name of ['host', 'x-amz-date'])
    if (!signedHeaders.includes(name)) refused(`'${name}' must be a signed header.`)
  if (signatureOf(arrival, scope, signedHeaders) !== signature)
    refused('The request signature we calculated does not match the signature you provided.')
}
