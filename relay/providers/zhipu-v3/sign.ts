import { createHmac } from 'node:crypto'

const base64url = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** The token of a key `id.secret`, which the vendor wants signed by its holder. */
export function zhipuToken(key: string, { issuedAt, lifetimeMs }: { issuedAt: number; lifetimeMs: number }): string {
  const at = key.indexOf('.')
  const [id, secret] = [key.slice(0, at), key.slice(at + 1)]
  const head = base64url({ alg: 'HS256', sign_type: 'SIGN' })
  const claims = base64url({ api_key: id, exp: issuedAt + lifetimeMs, timestamp: issuedAt })
  const signature = createHmac('sha256', secret).update(`${head}.${claims}`).digest('base64url')
  return `${head}.${claims}.${signature}`
}
