import type { Request } from 'express'
import { parseCookie } from 'cookie'
import { DomainError } from '#core/errors.ts'
import { userStatus } from '#core/statuses.ts'
import { authenticate } from '#features/auth/authenticate.ts'
import { sessionCookie } from '#features/auth/session.ts'
import { userIdHeaderOf } from '#features/auth/user-id-header.ts'
import { isOpenTo } from './admit.ts'
import type { CallBody, Caller, RelayServices } from './call.ts'

/** What browsers send to a proxy that asks for a password of its own, and which proxies hand on. */
const signsInAtProxy = /^(?:basic|digest|negotiate|ntlm)\s/i

/**
 * Who chats in the playground: the browser's session, never an access token. The group comes from the body and is checked
 * like a token's; only the user's own balance is charged.
 * @throws {DomainError} playground.access_token, relay.user_banned
 */
export async function identifyPlayground(services: RelayServices, req: Request): Promise<Caller> {
  const authorization = req.get('authorization')
  if (authorization && !signsInAtProxy.test(authorization)) throw new DomainError('playground.access_token')
  const authentication = await authenticate(services.database.orm.em.fork(), {
    sessionId: parseCookie(req.headers.cookie ?? '')[sessionCookie],
    authorization: undefined,
    userIdHeader: userIdHeaderOf(req),
    userIdRule: 'required',
  })
  if (!authentication.actor) throw authentication.refusal
  await services.upToDate()
  const user = await services.users.get(authentication.actor.id)
  if (!user || user.deleted || user.status !== userStatus.active) throw new DomainError('relay.user_banned')
  return { token: null, user, tokenName: 'playground', pinnedChannelId: null, group: '' }
}

/**
 * The body names the group; it is checked, taken out, and charged at that group's ratio.
 * @throws {DomainError} playground.group_forbidden, playground.model_required
 */
export function preparePlayground(
  services: RelayServices,
  caller: Caller,
  { json }: CallBody,
): { caller: Caller; body: CallBody } {
  const { group: given, ...rest } = json
  const group = typeof given === 'string' && given !== '' ? given : caller.user.group
  if (!isOpenTo(services, caller, group)) throw new DomainError('playground.group_forbidden')
  if (typeof rest['model'] !== 'string' || rest['model'] === '') throw new DomainError('playground.model_required')
  // The form sends 0 for "no limit".
  if (rest['max_tokens'] === 0) delete rest['max_tokens']
  return {
    caller: { ...caller, group, tokenName: `playground-${group}` },
    body: { json: rest, bytes: Buffer.from(JSON.stringify(rest)) },
  }
}
