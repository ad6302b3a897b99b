import { createHash, createVerify, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { asNumber, asText, Refusal, type Json } from '../prompt.ts'
import { json, type PlainOperation, type Vendor } from '../types.ts'

export const project = 'simulated-project'
const email = `gateway@${project}.iam.gserviceaccount.com`
const lifetimeSeconds = 3600

let keys: { publicKey: KeyObject; privateKey: KeyObject } | undefined
const keyPair = () => (keys ??= generateKeyPairSync('rsa', { modulusLength: 2048 }))

/** A channel's key: the file of an account whose claims the simulated login at `url` believes. */
export const serviceAccount = (url: string): string =>
  JSON.stringify({
    type: 'service_account',
    project_id: project,
    private_key_id: 'simulated',
    private_key: keyPair().privateKey.export({ type: 'pkcs8', format: 'pem' }),
    client_email: email,
    token_uri: `${url}/token`,
  })

const tokenOf = (account: string) => `ya29.${createHash('sha256').update(account).digest('base64url')}`

export const isToken = (token: string | undefined): boolean => token === tokenOf(email)

const decoded = (part: string): Json => JSON.parse(Buffer.from(part, 'base64url').toString()) as Json

const refused = (message: string): never => {
  throw new Refusal({ status: 400, message, type: 'invalid_grant' })
}

function checkClaims(claims: Json): void {
  const now = Date.now() / 1000
  const [issued = 0, expires = 0] = [asNumber(claims['iat']), asNumber(claims['exp'])]
  if (claims['iss'] !== email) refused('Invalid email or User ID')
  if (claims['scope'] !== 'https://www.googleapis.com/auth/cloud-platform')
    refused('Empty or missing scope not allowed.')
  if (!asText(claims['aud']).endsWith('/token')) refused('Invalid JWT: Failed audience check.')
  if (issued > now + 60 || expires < now || expires - issued > lifetimeSeconds)
    refused('Invalid JWT: Token must be a short-lived token and in a reasonable timeframe.')
}

/** A signed claim in exchange for a token. */
export const tokenExchange: PlainOperation = {
  type: 'plain',
  reply: ({ body }) => {
    if (body['grant_type'] !== 'urn:ietf:params:oauth:grant-type:jwt-bearer') refused('Invalid grant_type')
    const [head = '', claims = '', signature = ''] = asText(body['assertion']).split('.')
    if (decoded(head)['alg'] !== 'RS256') refused('Invalid JWT: unsupported algorithm.')
    const verifier = createVerify('RSA-SHA256').update(`${head}.${claims}`)
    if (!verifier.verify(keyPair().publicKey, signature, 'base64url')) refused('Invalid JWT Signature.')
    checkClaims(decoded(claims))
    return json({ access_token: tokenOf(email), expires_in: lifetimeSeconds - 1, token_type: 'Bearer' })
  },
}

/** A login wants no key: what it is given is the proof. */
export const googleLogin: Vendor = {
  id: 'google-login',
  keyOf: () => 'none',
  missingKey: { status: 400, message: '' },
  badKey: { status: 400, message: '' },
  error: ({ message, type }) => ({ body: { error: type ?? 'invalid_request', error_description: message } }),
  streamError: ({ message }) => ({ data: message }),
}
