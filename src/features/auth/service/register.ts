import { DomainError } from '#core/errors.ts'
import { User } from '#db/entities/user.ts'
import { recordAct } from '../../audit/service.ts'
import type { Deps, UserDeps } from '../../deps.ts'
import { isSetUp } from '../../site/setup-service.ts'
import { normaliseEmail } from '../../users/email.ts'
import { createAccount, type NewAccount } from '../../users/service/create-account.ts'
import { withTakenErrors, usernameColumns } from '../../users/service/taken.ts'
import { requireBotCheck, spendBotCheck } from '../bot-check.ts'
import { useCode } from '../one-time-codes.ts'
import { hashPassword } from '../password.ts'
import { lockActor } from '../replace-password.ts'
import type { BindEmail, Register } from '../schema.ts'

/**
 * A new ordinary user; does not sign in. An address is kept only when it was proved.
 * @throws {DomainError} setup.required, register.disabled, register.password_disabled, register.email_required,
 *   user.username_taken, user.username_similar
 */
export async function register(deps: Deps, input: Register): Promise<void> {
  const { options } = deps
  // Whoever finds a new installation first may not take the name its operator will want.
  if (!(await isSetUp(deps))) throw new DomainError('setup.required')
  if (!options.get('RegisterEnabled')) throw new DomainError('register.disabled')
  if (!options.get('PasswordRegisterEnabled')) throw new DomainError('register.password_disabled')
  await requireBotCheck(deps, input.turnstile, 'new-account')
  // Before a password is hashed; the table has the last word.
  await checkUsername(deps, input.username)
  const { email, verificationCode: code } = input
  const provesEmail = options.get('EmailVerificationEnabled')
  if (provesEmail && (email === '' || code === '')) throw new DomainError('register.email_required')
  const account: NewAccount = {
    username: input.username,
    displayName: input.username,
    passwordHash: await hashPassword(input.password),
    inviteCode: input.affCode,
    alongside: (em) => spendBotCheck({ ...deps, em }),
  }
  if (!provesEmail) await createAccount(deps, account)
  else await withEmailCode(deps, { email, code }, (em) => createAccount({ ...deps, em }, { ...account, email }))
}

async function checkUsername({ em }: Deps, name: string): Promise<void> {
  const { username, usernameLikeness } = usernameColumns(name)
  // In this order: the same name, taken between the two looks, is reported as taken and not as similar.
  const similar = await em.count(User, { usernameLikeness })
  if ((await em.count(User, { username })) > 0) throw new DomainError('user.username_taken')
  if (similar > 0) throw new DomainError('user.username_similar')
}

/**
 * Spends a mailed code for an act, in one transaction: where the act is refused or fails the code still counts. A wrong code is
 * counted as an attempt all the same. @throws {DomainError} verification.code_invalid
 */
async function withEmailCode(
  deps: Deps,
  { email, code }: { email: string; code: string },
  act: (em: Deps['em']) => Promise<unknown>,
): Promise<void> {
  const mailed = { purpose: 'email', subject: normaliseEmail(email), code: code.toLowerCase() } as const
  const fits = await deps.em.transactional(async (em) => {
    if (!(await useCode({ ...deps, em }, mailed))) return false
    await act(em)
    return true
  })
  if (!fits) throw new DomainError('verification.code_invalid')
}

/** The signed-in user's address, once the code mailed there is entered. @throws {DomainError} verification.code_invalid */
export async function bindEmail(deps: UserDeps, input: BindEmail): Promise<void> {
  await withTakenErrors(() =>
    withEmailCode(deps, input, async (em) => {
      await lockActor({ ...deps, em })
      const { id } = deps.actor
      const before = await em.findOneOrFail(User, { id }, { disableIdentityMap: true })
      await em.nativeUpdate(User, { id }, { email: input.email, emailNormalized: normaliseEmail(input.email) })
      await recordAct(
        { ...deps, em },
        {
          action: 'account.bind_email',
          targetType: 'user',
          targetId: id,
          targetName: before.username,
          before: { email: before.email },
          after: { email: input.email },
        },
      )
    }),
  )
}
