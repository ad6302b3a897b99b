import type { IncomingHttpHeaders } from 'node:http'
import { DomainError } from '#core/errors.ts'
import { roles } from '#core/roles.ts'
import { tokenStatus, userStatus } from '#core/statuses.ts'
import { sha256 } from '#features/secrets/service.ts'
import type { Caller, RelayServices } from './call.ts'
import type { TokenRow } from './token-cache.ts'
import { looksLikeKey, readCredential } from './credentials.ts'
import { markTokenStatus } from '#features/tokens/relay-status.ts'

type KeyedRequest = { path: string; query: Record<string, unknown>; headers: IncomingHttpHeaders }

/** The checks of key and owner, in the order of docs/reference/admission.md. */
export async function authenticate(services: RelayServices, request: KeyedRequest): Promise<Caller> {
  const { key, pin } = readCredential(request.path, request.query, request.headers)
  if (key === '') throw new DomainError('relay.token_missing')
  const token = looksLikeKey(key) ? await services.tokens.get(sha256(key)) : null
  if (!token) throw new DomainError('relay.token_invalid')
  await checkToken(services, token)
  const user = await services.users.get(token.userId)
  if (!user || user.deleted) throw new DomainError('relay.user_unavailable')
  if (user.status !== userStatus.active) throw new DomainError('relay.user_banned')
  if (pin !== null && user.role < roles.admin) throw new DomainError('relay.pin_forbidden')
  return { token, user, tokenName: token.name, pinnedChannelId: pin === null ? null : readPin(pin), group: token.group }
}

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
