import type { Deps } from '../../deps.ts'
import { rememberInSession } from '../../auth/session.ts'
import type { OAuthProvider } from '../schema.ts'

const minutesValid = 10

export type TakenState = {
  userId: number
  origin: string
  inviteCode: string
  /** Whether the address at the provider was ours, with PKCE and nonce. */
  isOwnStart: boolean
}

const hashOf = ({ secrets }: Pick<Deps, 'secrets'>, state: string): string => secrets.hmac(`oauth-state:${state}`)

/**
 * A state bound to the browser's session; a browser without one gets it. Several may be under way at once, in as many tabs.
 */
export async function makeState(
  deps: Deps,
  { provider, inviteCode }: { provider: OAuthProvider | ''; inviteCode: string },
): Promise<{ state: string; origin: string }> {
  if (deps.session.idHash === null) await rememberInSession(deps, {})
  const state = deps.ambient.newId(12)
  const origin = originOf(deps)
  await deps.em.getConnection().execute(
    `insert into oauth_states (state_hash, session_hash, user_id, provider, origin, invite_code, expires_at)
     values (?, ?, ?, ?, ?, ?, now() + make_interval(mins => ?))`,
    [hashOf(deps, state), deps.session.idHash, signedInId(deps), provider, origin, inviteCode, minutesValid],
    'run',
  )
  return { state, origin }
}

/** Whether a state of this browser is that of a binding of whoever is signed in. It stays as it is. */
export async function isOwnBinding(deps: Deps, provider: OAuthProvider, state: string): Promise<boolean> {
  const userId = signedInId(deps)
  if (userId === 0 || state === '' || deps.session.idHash === null) return false
  const rows: unknown[] = await deps.em
    .getConnection()
    .execute(
      `select 1 from oauth_states where state_hash = ? and session_hash = ? and provider in ('', ?) and user_id = ? and expires_at > now()`,
      [hashOf(deps, state), deps.session.idHash, provider, userId],
      'all',
    )
  return rows.length > 0
}

/** Takes a state, which nobody can take again; null where it is not this browser's, was taken or has run out. */
export async function takeState(deps: Deps, provider: OAuthProvider, state: string): Promise<TakenState | null> {
  if (state === '' || deps.session.idHash === null) return null
  const [row] = await deps.em
    .getConnection()
    .execute<{ user_id: number; provider: string; origin: string; invite_code: string }[]>(
      `delete from oauth_states
       where state_hash = ? and session_hash = ? and provider in ('', ?) and expires_at > now()
       returning user_id, provider, origin, invite_code`,
      [hashOf(deps, state), deps.session.idHash, provider],
      'all',
    )
  if (!row) return null
  return {
    userId: row.user_id,
    origin: row.origin,
    inviteCode: row.invite_code,
    isOwnStart: row.provider !== '',
  }
}

/** Only the browser's own session counts: what a script holds is no browser. */
const signedInId = ({ actor }: Pick<Deps, 'actor'>): number => (actor?.via === 'session' ? actor.id : 0)

/** Both follow from the state under our key, so that neither is kept anywhere. */
export const codeVerifierOf = ({ secrets }: Pick<Deps, 'secrets'>, state: string): string =>
  secrets.hmac(`oauth-verifier:${state}`)
export const nonceOf = ({ secrets }: Pick<Deps, 'secrets'>, state: string): string =>
  secrets.hmac(`oauth-nonce:${state}`)

/**
 * Where the browser is, since only there it has its session. The configured address goes before the request's own wherever the browser
 * may be there: a proxy in front may say neither scheme nor host. Of what a request says of itself nothing else counts, so that forging
 * it leads nowhere but to the operator's own address.
 */
export function originOf({ options, client }: Pick<Deps, 'options' | 'client'>): string {
  const configured = URL.parse(options.get('ServerAddress'))
  if (!configured) return client.origin
  const hosts = [client.origin, client.page ?? ''].map((address) => URL.parse(address)?.host)
  return !client.page || hosts.includes(configured.host) ? configured.origin : client.origin
}
