import type { IncomingHttpHeaders } from 'node:http'

export type Credential = {
  /** Without `Bearer `, `sk-` and the channel suffix; "" when there is none. */
  key: string
  /** Text after the key that pins a channel; null without one. */
  pin: string | null
}

const text = (value: string | string[] | undefined): string => (Array.isArray(value) ? (value[0] ?? '') : (value ?? ''))

/** Where a caller's key may stand, by path and in order of weight. */
export function readCredential(path: string, query: Record<string, unknown>, headers: IncomingHttpHeaders): Credential {
  return parseKey(findKey(path, query, headers))
}

function findKey(path: string, query: Record<string, unknown>, headers: IncomingHttpHeaders): string {
  const protocols = text(headers['sec-websocket-protocol'])
  const insecure = protocols
    .split(',')
    .map((item) => item.trim())
    .find((item) => item.startsWith('openai-insecure-api-key.'))
  if (insecure) return insecure.slice('openai-insecure-api-key.'.length)
  const listing = path.startsWith('/v1/models')
  if (path.includes('/v1/messages') || (listing && headers['anthropic-version'] !== undefined)) {
    const key = text(headers['x-api-key'])
    if (key !== '') return key
  }
  if (listing || path.startsWith('/v1beta/')) {
    const key = (typeof query['key'] === 'string' ? query['key'] : '') || text(headers['x-goog-api-key'])
    if (key !== '') return key
  }
  const authorization = text(headers.authorization)
  if (authorization === '' || authorization === 'midjourney-proxy') return text(headers['mj-api-secret'])
  return authorization
}

function parseKey(given: string): Credential {
  const bare = given
    .trim()
    .replace(/^Bearer\s+/i, '')
    .trim()
    .replace(/^sk-/, '')
  const dash = bare.indexOf('-')
  if (dash < 0) return { key: bare, pin: null }
  return { key: bare.slice(0, dash), pin: bare.slice(dash + 1).split('-')[0] ?? '' }
}

/** Keys are 48 letters and digits; anything else is refused without asking the database. */
export const looksLikeKey = (key: string): boolean => /^[0-9A-Za-z]{16,64}$/.test(key)
