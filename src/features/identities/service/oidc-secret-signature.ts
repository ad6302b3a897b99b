import { createHmac, timingSafeEqual } from 'node:crypto'
import type { ServerMetadata } from 'openid-client'

const hashes = new Map([
  ['HS256', 'sha256'],
  ['HS384', 'sha384'],
  ['HS512', 'sha512'],
])

/** Whether a provider signs id tokens with the client's secret and never with a key, whose signatures the library checks itself. */
export const signsWithSecret = ({ id_token_signing_alg_values_supported: algorithms }: ServerMetadata): boolean =>
  Array.isArray(algorithms) && algorithms.length > 0 && algorithms.every((algorithm) => hashes.has(algorithm))

/** @throws for an id token that was not signed with the secret */
export function checkSecretSignature(idToken: string, secret: string): void {
  const [header = '', payload = '', signature = ''] = idToken.split('.')
  const { alg } = JSON.parse(Buffer.from(header, 'base64url').toString()) as { alg: string }
  const hash = hashes.get(alg)
  if (hash === undefined || secret === '') throw new Error('the id token cannot be checked with the secret')
  const expected = createHmac(hash, secret).update(`${header}.${payload}`).digest()
  const given = Buffer.from(signature, 'base64url')
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
    throw new Error('the id token was not signed with the secret')
  }
}
