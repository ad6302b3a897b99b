import { createHash, createPrivateKey, sign } from 'node:crypto'
import type { Ambient } from '#core/ambient.ts'
import { type KeyExchange, UpstreamRefusal } from '../types.ts'
import { failureOf, statusOfError } from '../shared/failures.ts'
import { type Json, numberOf, recordOf, tryRecord, wordOf } from '../shared/json.ts'

export type ServiceAccount = {
  kind: 'account'
  clientEmail: string
  privateKey: string
  privateKeyId: string
  projectId: string
  tokenUri: string
}
/** A plain key of the express mode, which needs no project. */
export type ExpressKey = { kind: 'express'; key: string }

const defaultTokenUri = 'https://oauth2.googleapis.com/token'
const scope = 'https://www.googleapis.com/auth/cloud-platform'
const lifetimeSeconds = 3600
/** Tokens are stored a little shorter than they live. */
const longestTtlSeconds = 3000

export function readKey(text: string): ServiceAccount | ExpressKey {
  const json = tryRecord(text)
  if (!json) return { kind: 'express', key: text }
  return {
    kind: 'account',
    clientEmail: wordOf(json['client_email']) ?? '',
    privateKey: (wordOf(json['private_key']) ?? '').replaceAll('\\n', '\n'),
    privateKeyId: wordOf(json['private_key_id']) ?? '',
    projectId: wordOf(json['project_id']) ?? '',
    tokenUri: wordOf(json['token_uri']) ?? defaultTokenUri,
  }
}

const base64url = (value: Json): string => Buffer.from(JSON.stringify(value)).toString('base64url')

function signed(text: string, privateKey: string): Buffer {
  try {
    return sign('RSA-SHA256', Buffer.from(text), createPrivateKey(privateKey))
  } catch {
    const message = 'the private key of the service account cannot be read'
    throw new UpstreamRefusal({ status: 401, type: 'authentication_error', code: 'invalid_api_key', message })
  }
}

/** The signed claim that is exchanged for a token. */
export function assertionOf(account: ServiceAccount, now: Date): string {
  const issuedAt = Math.floor(now.getTime() / 1000)
  const head = base64url({ alg: 'RS256', typ: 'JWT', kid: account.privateKeyId })
  const claims = base64url({
    iss: account.clientEmail,
    scope,
    aud: account.tokenUri,
    iat: issuedAt,
    exp: issuedAt + lifetimeSeconds,
  })
  const signature = signed(`${head}.${claims}`, account.privateKey)
  return `${head}.${claims}.${signature.toString('base64url')}`
}

function readToken(json: unknown): { token: string; ttlSeconds: number } {
  const answer = recordOf(json) ?? {}
  const token = wordOf(answer['access_token'])
  if (token === undefined) throw new UpstreamRefusal(failureOf(statusOfError(answer), answer))
  const lives = numberOf(answer['expires_in']) ?? lifetimeSeconds
  return { token, ttlSeconds: Math.max(0, Math.min(longestTtlSeconds, lives - 300)) }
}

export function exchangeOf(key: string, ambient: Ambient): KeyExchange | undefined {
  const account = readKey(key)
  if (account.kind === 'express') return undefined
  return {
    cacheKey: createHash('sha256').update(key).digest('hex'),
    request: () => ({
      method: 'POST',
      url: account.tokenUri,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({
        grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
        assertion: assertionOf(account, ambient.now()),
      }).toString(),
    }),
    read: readToken,
  }
}
