import { randomBytes } from 'node:crypto'
import { DomainError, type Language } from '#core/errors.ts'
import { userStatus } from '#core/statuses.ts'
import { User } from '#db/entities/user.ts'
import { recordAct } from '../../audit/service.ts'
import type { Deps } from '../../deps.ts'
import { requireMailServer, sendMail } from '../../mail/service.ts'
import { publicAddress } from '../../site/public-address.ts'
import { normaliseEmail } from '../../users/email.ts'
import { addressProblem } from '../address-rules.ts'
import { requireBotCheck } from '../bot-check.ts'
import { keepCode, useCode } from '../one-time-codes.ts'
import { hashPassword } from '../password.ts'
import type { RequestMail, ResetPassword } from '../schema.ts'
import { replacePassword } from '../replace-password.ts'
import { limitMails } from '../throttle.ts'
import { mailWords } from './mail-words.ts'

/**
 * Mails a code that proves an address. An address that already belongs to an account gets another mail instead, so that
 * whoever asks learns nothing of it.
 * @throws {DomainError} mail.not_configured, rate_limited
 */
export async function sendVerificationCode(deps: Deps, input: RequestMail): Promise<void> {
  await requireBotCheck(deps, input.turnstile)
  const problem = addressProblem(deps, input.email)
  if (problem) throw problem
  requireMailServer(deps)
  const subject = normaliseEmail(input.email)
  await limitMails(deps, { purpose: 'email', email: subject })
  const siteName = deps.options.get('SystemName')
  const known = await deps.em.findOne(User, { emailNormalized: subject }, { disableIdentityMap: true })
  const code = randomBytes(3).toString('hex')
  // Kept for a known address too, where nobody is sent it, so that both ask for the same work.
  await keepCode(deps, { purpose: 'email', subject, code })
  const words = mailWords[languageOf(deps, known)]
  await sendMail(deps, { to: input.email, ...(known ? words.addressKnown(siteName) : words.code(siteName, code)) })
}

/** What the reader chose; an anonymous browser states its own. */
const languageOf = ({ client }: Deps, user: User | null): Language => user?.language || client.language || 'zh'

/**
 * Mails a link for a new password, if the address has an account. Whether it has one is looked up after the reply, so that
 * neither its words nor its time can tell.
 * @throws {DomainError} mail.not_configured, rate_limited
 */
export async function requestPasswordReset(deps: Deps, input: RequestMail): Promise<void> {
  await requireBotCheck(deps, input.turnstile)
  requireMailServer(deps)
  const subject = normaliseEmail(input.email)
  await limitMails(deps, { purpose: 'password-reset', email: subject })
  void mailReset({ ...deps, em: deps.database.orm.em.fork() }, subject).catch((error: unknown) => {
    deps.log.error({ err: error }, 'a password reset could not be mailed')
  })
}

async function mailReset(deps: Deps, subject: string): Promise<void> {
  const user = await deps.em.findOne(
    User,
    { emailNormalized: subject, deletedAt: null, status: userStatus.active },
    { disableIdentityMap: true },
  )
  if (!user) return
  const code = randomBytes(16).toString('hex')
  await keepCode(deps, { purpose: 'password-reset', subject, code })
  await sendMail(deps, resetMail(deps, user, code))
}

function resetMail(deps: Deps, user: User, code: string) {
  const link = `${publicAddress(deps)}/user/reset?email=${encodeURIComponent(user.email)}&token=${code}`
  const words = mailWords[languageOf(deps, user)].reset(deps.options.get('SystemName'))
  return { to: user.email, link, ...words }
}

/**
 * Spends the link for a new random password and signs the account out everywhere.
 * @throws {DomainError} password_reset.link_invalid
 */
export async function resetPassword(deps: Deps, input: ResetPassword): Promise<string> {
  const subject = normaliseEmail(input.email)
  const password = deps.ambient.newId(12)
  // Before the link is spent: too many may be waiting for it.
  const passwordHash = await hashPassword(password)
  const spent = await useCode(deps, { purpose: 'password-reset', subject, code: input.token })
  if (!spent) throw new DomainError('password_reset.link_invalid')
  await deps.em.transactional(async (em) => {
    const user = await em.findOne(User, { emailNormalized: subject, deletedAt: null }, { disableIdentityMap: true })
    if (!user) throw new DomainError('password_reset.link_invalid')
    await replacePassword({ ...deps, em }, user.id, { passwordHash, keepsOwnSession: false })
    const named = { targetType: 'user', targetId: user.id, targetName: user.username }
    await recordAct({ ...deps, em }, { action: 'account.reset_password', ...named })
  })
  return password
}
