import { createHash, createHmac } from 'node:crypto'

export type AwsCredential = { accessKeyId: string; secretAccessKey: string; region: string }

export type SigningInput = {
  method: string
  url: string
  /** Signed as they are, beside the host and the date. */
  headers: Record<string, string>
  body: string | Uint8Array
  service: string
  now: Date
}

const sha256 = (data: string | Uint8Array): string => createHash('sha256').update(data).digest('hex')
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()

/** Every character but the unreserved ones, as the signature wants them. */
const encode = (text: string): string =>
  encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )

/** Segments are encoded once more than on the wire. */
const canonicalPath = (pathname: string): string => pathname.split('/').map(encode).join('/')

const canonicalQuery = (query: URLSearchParams): string =>
  [...query]
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .toSorted()
    .join('&')

/** `YYYYMMDDTHHMMSSZ` */
const amzDate = (now: Date): string => now.toISOString().replaceAll(/[-:]|\.\d{3}/g, '')

export type CanonicalRequest = { text: string; signedHeaders: string }

export function canonicalRequest(input: SigningInput, headers: Record<string, string>): CanonicalRequest {
  const { pathname, searchParams } = new URL(input.url)
  const names = Object.keys(headers).toSorted()
  const lines = names.map((name) => `${name}:${(headers[name] ?? '').trim().replaceAll(/ +/g, ' ')}\n`).join('')
  const signedHeaders = names.join(';')
  const text = [
    input.method,
    canonicalPath(pathname),
    canonicalQuery(searchParams),
    lines,
    signedHeaders,
    sha256(input.body),
  ].join('\n')
  return { text, signedHeaders }
}

/** The headers to send: those given, the date, and the signature over all of them and the host. */
export function signV4(input: SigningInput, credential: AwsCredential): Record<string, string> {
  const date = amzDate(input.now)
  const day = date.slice(0, 8)
  const headers = { ...input.headers, 'x-amz-date': date }
  const { text, signedHeaders } = canonicalRequest(input, { ...headers, host: new URL(input.url).host })
  const scope = `${day}/${credential.region}/${input.service}/aws4_request`
  const toSign = ['AWS4-HMAC-SHA256', date, scope, sha256(text)].join('\n')
  const steps = [day, credential.region, input.service, 'aws4_request']
  const key = steps.reduce<string | Buffer>((secret, step) => hmac(secret, step), `AWS4${credential.secretAccessKey}`)
  const signature = createHmac('sha256', key).update(toSign).digest('hex')
  return {
    ...headers,
    authorization: `AWS4-HMAC-SHA256 Credential=${credential.accessKeyId}/${scope}, SignedHeaders=${signedHeaders}, Signature=${signature}`,
  }
}
