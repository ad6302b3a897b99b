import { raw } from '@mikro-orm/postgresql'
import { Token } from '#db/entities/token.ts'
import { User } from '#db/entities/user.ts'
import { endSessionsOf } from '../../auth/session.ts'
import type { Deps } from '../../deps.ts'
import { forgetSecondFactor } from '../../second-factor/service/forget.ts'

/** Longer than any name that can be taken, so that no later account has the same. */
const retiredName = `username || ' (deleted ' || id || ')'`

/**
 * Deletes an account softly, within the caller's transaction: the row stays for what was booked and logged under its number,
 * nobody can sign in to it or call with its tokens any more, and its name is free again. Its e-mail address and the accounts
 * elsewhere that were bound to it stay taken, so that nobody collects the gifts of a new user twice by them.
 */
export async function retireAccount(deps: Pick<Deps, 'em' | 'session'>, userId: number): Promise<void> {
  await deps.em.nativeUpdate(
    User,
    { id: userId, deletedAt: null },
    {
      username: raw(retiredName),
      usernameLikeness: null,
      passwordHash: null,
      accessTokenHash: null,
      deletedAt: raw('now()'),
    },
  )
  await deps.em.nativeUpdate(Token, { userId, deletedAt: null }, { deletedAt: raw('now()') })
  await forgetSecondFactor(deps, userId)
  await endSessionsOf(deps, userId)
}
