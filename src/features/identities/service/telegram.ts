import { DomainError } from '#core/errors.ts'
import { userStatus } from '#core/statuses.ts'
import { completeSignIn } from '../../auth/service/complete-sign-in.ts'
import { secondsSince, spendOnce } from '../../auth/one-time-codes.ts'
import type { Deps, UserDeps } from '../../deps.ts'
import type { SignIn } from '../../users/view.ts'
import type { TelegramLogin } from '../schema.ts'
import { isSignedByTelegram } from '../telegram-signature.ts'
import { bindIdentity } from './bindings.ts'
import { identityOf, requireEnabled } from './providers.ts'
import { ownerOf } from './sign-in.ts'

const longestAgeSeconds = 300
/** What a clock may be ahead. */
const longestLeadSeconds = 60

/**
 * Makes no accounts: Telegram names no address and says of nobody that they are one person.
 * @throws {DomainError} telegram.signature_invalid, telegram.expired, telegram.not_bound, oauth.account_deleted, session.banned
 */
export async function signInByTelegram(deps: Deps, input: TelegramLogin): Promise<SignIn> {
  const id = await idOf(deps, input)
  const user = await ownerOf(deps, 'telegram', { id })
  if (!user) throw new DomainError('telegram.not_bound')
  if (user.deletedAt) throw new DomainError('oauth.account_deleted')
  if (user.status !== userStatus.active) throw new DomainError('session.banned')
  return completeSignIn(deps, { userId: user.id, stillHolds: (row) => identityOf(row, 'telegram') === id })
}

/** @throws {DomainError} telegram.signature_invalid, telegram.expired */
export const bindTelegram = async (deps: UserDeps, input: TelegramLogin): Promise<void> =>
  bindIdentity(deps, 'telegram', { id: await idOf(deps, input) })

/** The signed person; what was signed counts for five minutes and once, by the database's clock. */
async function idOf(deps: Deps, { fields }: TelegramLogin): Promise<string> {
  requireEnabled(deps, 'telegram')
  const botToken = deps.options.get('TelegramBotToken')
  const id = fields['id'] ?? ''
  if (botToken === '' || !/^\d{1,20}$/.test(id) || !isSignedByTelegram(botToken, fields)) {
    throw new DomainError('telegram.signature_invalid')
  }
  const age = await secondsSince(deps, Number(fields['auth_date']))
  const isFresh = age <= longestAgeSeconds && age >= -longestLeadSeconds
  const seconds = longestAgeSeconds + longestLeadSeconds
  if (!isFresh || !(await spendOnce(deps, { purpose: 'telegram', subject: fields['hash'] ?? '', seconds }))) {
    throw new DomainError('telegram.expired')
  }
  return id
}
