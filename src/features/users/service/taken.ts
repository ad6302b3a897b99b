import { UniqueConstraintViolationException } from '@mikro-orm/postgresql'
import { isUsernameTooLong } from '#core/account-fields.ts'
import { DomainError } from '#core/errors.ts'
import type { Provider } from '../../identities/schema.ts'
import { refusalOf } from '../../identities/service/providers.ts'
import { isConfusingName, nameLikeness } from '#core/similar-names.ts'

const isTaken = (error: unknown, constraint: string): boolean =>
  error instanceof UniqueConstraintViolationException && error.message.includes(constraint)

/**
 * Reports which unique value of a user is taken, as a `DomainError`; the table's own constraints decide, so races end here too.
 * @throws {DomainError} user.username_taken, user.username_similar, email.taken, or that the identity is bound
 */
export async function withTakenErrors<Result>(write: () => Promise<Result>): Promise<Result> {
  try {
    return await write()
  } catch (error) {
    if (isTaken(error, 'users_username_unique')) throw new DomainError('user.username_taken', {}, { cause: error })
    if (isTaken(error, 'users_username_likeness_unique')) {
      throw new DomainError('user.username_similar', {}, { cause: error })
    }
    if (isTaken(error, 'users_email_normalized_unique')) throw new DomainError('email.taken', {}, { cause: error })
    const provider = identityIndexes.find(([index]) => isTaken(error, index))?.[1]
    if (provider) throw refusalOf('already_bound', provider, { cause: error })
    throw error
  }
}

const identityIndexes: [string, Provider][] = [
  ['users_github_id_unique', 'github'],
  ['users_oidc_issuer_oidc_id_unique', 'oidc'],
  ['users_linux_do_id_unique', 'linuxdo'],
  ['users_wechat_id_unique', 'wechat'],
  ['users_telegram_id_unique', 'telegram'],
]

export const isInviteCodeTaken = (error: unknown): boolean => isTaken(error, 'users_aff_code_unique')

/**
 * The columns of a name that somebody chooses in place of the one they have.
 * @throws {DomainError} user.username_too_long, user.username_confusing
 */
export function renamingColumns(username: string): { username: string; usernameLikeness: string } {
  if (isUsernameTooLong(username)) throw new DomainError('user.username_too_long')
  return usernameColumns(username)
}

/**
 * The columns of a name that somebody takes anew; one that was taken before these rules stays until it is changed.
 * @throws {DomainError} user.username_confusing
 */
export function usernameColumns(username: string): { username: string; usernameLikeness: string } {
  if (isConfusingName(username)) throw new DomainError('user.username_confusing')
  return { username, usernameLikeness: nameLikeness(username) }
}
