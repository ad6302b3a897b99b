import { Secret, TOTP } from 'otpauth'
import { raw } from '@mikro-orm/postgresql'
import { Authenticator } from '#db/entities/authenticator.ts'
import type { Deps } from '../../deps.ts'

type AuthenticatorDeps = Pick<Deps, 'em' | 'secrets' | 'options'>

const stepSeconds = 30
/** Phones are half a minute off now and then. */
const stepsOff = 1

const generatorOf = (options: Deps['options'], label: string, secret: Secret): TOTP =>
  new TOTP({ issuer: options.get('SystemName') || 'Gateway', label, secret, period: stepSeconds })

/** A new secret, in place of one that was never confirmed, as an app reads it from an image or by hand. */
export async function newSecret(
  deps: AuthenticatorDeps,
  user: { id: number; username: string },
): Promise<{ secret: string; uri: string }> {
  const secret = new Secret({ size: 20 })
  await deps.em.upsert(Authenticator, {
    userId: user.id,
    secretEncrypted: deps.secrets.encrypt(secret.base32),
    lastStep: 0,
    confirmedAt: null,
  })
  return { secret: secret.base32, uri: generatorOf(deps.options, user.username, secret).toString() }
}

type Row = { secret_encrypted: string; confirmed: boolean; seconds: number }

export const isOneTimePassword = (text: string): boolean => /^\d{6}$/.test(text)

/**
 * Whether the app shows this password now, by the database's clock. Each is taken once: what somebody saw over a shoulder is
 * worth nothing, also when it is used in the same moment.
 */
export async function useOneTimePassword(
  deps: AuthenticatorDeps,
  userId: number,
  given: { token: string; of: 'confirmed' | 'unconfirmed' },
): Promise<boolean> {
  // The comparison throws at six characters that are more bytes, such as full-width digits.
  if (!isOneTimePassword(given.token)) return false
  const { em } = deps
  const [row] = await em.getConnection().execute<Row[]>(
    `select secret_encrypted, confirmed_at is not null as confirmed, extract(epoch from clock_timestamp())::float8 as seconds
     from authenticators where user_id = ?`,
    [userId],
    'all',
    em.getTransactionContext(),
  )
  if (!row || row.confirmed !== (given.of === 'confirmed')) return false
  const generator = generatorOf(deps.options, 'account', Secret.fromBase32(deps.secrets.decrypt(row.secret_encrypted)))
  const off = generator.validate({ token: given.token, timestamp: row.seconds * 1000, window: stepsOff })
  if (off === null) return false
  const step = Math.floor(row.seconds / stepSeconds) + off
  const confirmed = given.of === 'unconfirmed' ? { confirmedAt: raw('now()') } : {}
  const taken = await em.nativeUpdate(
    Authenticator,
    { userId, lastStep: { $lt: step }, secretEncrypted: row.secret_encrypted },
    { lastStep: step, ...confirmed },
  )
  return taken === 1
}
