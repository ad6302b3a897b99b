import type { IncomingHttpHeaders } from 'node:http'
import { DomainError } from '#core/errors.ts'
import { roles } from '#core/roles.ts'
import { tokenStatus, userStatus } from '#core/statuses.ts'
import { sha256 } from '#features/secrets/service.ts'
import type { Caller, RelayServices } from './call.ts'
import type { TokenRow } from './token-cache.ts'
import { markTokenStatus } from '#features/tokens/relay-status.ts'

type KeyedRequest = { path: string; query: Record<string, unknown>; headers: IncomingHttpHeaders }

/**
 * The checks of key and owner, in the order of docs/reference/admission.md.
 * @throws {DomainError} relay.token_…, relay.user_unavailable, relay.user_banned, relay.pin_forbidden
 */
export async function authenticate(services: RelayServices, request: KeyedRequest): Promise<Caller> {
  const { key, pin } = readCredential(request)
  if (key === '') throw new DomainError('relay.token_missing')
  await services.upToDate()
  const token = looksLikeKey(key) ? await services.tokens.get(sha256(key)) : null
  if (!token || isKeyOver(services, token)) throw new DomainError('relay.token_invalid')
  await checkToken(services, token)
  const user = await services.users.get(token.userId)
  if (!user || user.deleted) throw new DomainError('relay.user_unavailable')
  if (user.status !== userStatus.active) throw new DomainError('relay.user_banned')
  if (pin !== null && user.role < roles.admin) throw new DomainError('relay.pin_forbidden')
  return { token, user, tokenName: token.name, pinnedChannelId: pin === null ? null : readPin(pin), group: token.group }
}

/** A former key whose time has come to its end since the row was read. */
const isKeyOver = ({ ambient }: RelayServices, { keyWorksUntil }: TokenRow): boolean =>
  keyWorksUntil !== null && keyWorksUntil.getTime() <= ambient.now().getTime()

/** NaN for a suffix that is no number: refused later, in its place among the checks. */
const readPin = (pin: string): number => (/^\d{1,9}$/.test(pin) ? Number(pin) : Number.NaN)

async function checkToken(services: RelayServices, token: TokenRow): Promise<void> {
  switch (token.status) {
    case tokenStatus.enabled:
      break
    case tokenStatus.exhausted:
      throw new DomainError('relay.token_exhausted', { key: token.keyMask })
    case tokenStatus.expired:
      throw new DomainError('relay.token_expired')
    default:
      throw new DomainError('relay.token_unavailable')
  }
  if (token.expiresAt && token.expiresAt.getTime() < services.ambient.now().getTime()) {
    await markTokenStatus(services.database, token.id, tokenStatus.expired)
    throw new DomainError('relay.token_expired')
  }
  if (token.exhaustedWhenRead) {
    await markTokenStatus(services.database, token.id, tokenStatus.exhausted)
    // The row may have been refilled since it was read: the next call reads it again.
    services.tokens.drop(token.id)
    throw new DomainError('relay.token_exhausted', { key: token.keyMask })
  }
}

type Credential = {
  /** Without `Bearer `, `sk-` and the channel suffix; "" when there is none. */
  key: string
  /** Text after the key that pins a channel; null without one. */
  pin: string | null
}

const text = (value: string | string[] | undefined): string => (Array.isArray(value) ? (value[0] ?? '') : (value ?? ''))

/** Where a caller's key may stand, by path and in order of weight. */
const readCredential = (request: KeyedRequest): Credential => parseKey(findKey(request))

/** `/hf` in front of a path is an alias: what is said by paths holds below it too. */
export const withoutAlias = (path: string): string => path.replace(/^\/hf(?=\/)/, '')

function findKey(request: KeyedRequest): string {
  const { headers } = request
  const path = withoutAlias(request.path)
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
  if (listing || /^((\/upload)?\/v1beta\/|\/v1\/interactions)/.test(path)) {
    // Read here only: an address is taken apart for it.
    const { key: named } = request.query
    const key = (typeof named === 'string' ? named : '') || text(headers['x-goog-api-key'])
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
const looksLikeKey = (key: string): boolean => /^[0-9A-Za-z]{16,64}$/.test(key)
