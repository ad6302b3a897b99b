import { UniqueConstraintViolationException } from '@mikro-orm/postgresql'
import { DomainError } from '#core/errors.ts'
import { isConfusingName, nameLikeness } from '#core/similar-names.ts'

const isTaken = (error: unknown, constraint: string): boolean =>
  error instanceof UniqueConstraintViolationException && error.message.includes(constraint)

/** Says in words which of a user's unique values somebody else has; the table's own constraints decide, so races end here too. */
export async function sayingWhatIsTaken<Result>(write: () => Promise<Result>): Promise<Result> {
  try {
    return await write()
  } catch (error) {
    if (isTaken(error, 'users_username_unique')) throw new DomainError('user.username_taken', {}, { cause: error })
    if (isTaken(error, 'users_username_likeness_unique')) {
      throw new DomainError('user.username_similar', {}, { cause: error })
    }
    if (isTaken(error, 'users_email_normalized_unique')) throw new DomainError('email.taken', {}, { cause: error })
    throw error
  }
}

export const isInviteCodeTaken = (error: unknown): boolean => isTaken(error, 'users_aff_code_unique')

/** The columns of a name that somebody takes anew; one that was taken before these rules stays until it is changed. */
export function usernameColumns(username: string): { username: string; usernameLikeness: string } {
  if (isConfusingName(username)) throw new DomainError('user.username_confusing')
  return { username, usernameLikeness: nameLikeness(username) }
}
