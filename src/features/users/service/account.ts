import { randomBytes } from 'node:crypto'
import { DomainError } from '#core/errors.ts'
import { roles } from '#core/roles.ts'
import { User, type UserSetting } from '#db/entities/user.ts'
import { hashPassword, isPassword } from '../../auth/password.ts'
import { lockActor, replacePassword } from '../../auth/replace-password.ts'
import { type Act, recordAct } from '../../audit/service.ts'
import { sessionCookie } from '../../auth/session.ts'
import { tryOnce } from '../../auth/throttle.ts'
import type { UserDeps } from '../../deps.ts'
import { siteThreshold } from '../../notifications/site-threshold.ts'
import { requireOwner } from '../../second-factor/verification.ts'
import { sha256 } from '../../secrets/service.ts'
import type { ChooseLanguage, Settings, UpdateAccount } from '../schema.ts'
import { type AccountView, toAccountView } from '../view.ts'
import { retireAccount } from './retire-account.ts'
import { renamingColumns, withTakenErrors } from './taken.ts'

async function ownRow({ em, actor }: UserDeps): Promise<User> {
  const user = await em.findOne(User, { id: actor.id, deletedAt: null }, { disableIdentityMap: true })
  if (!user) throw new DomainError('session.required')
  return user
}

/** @throws {DomainError} session.required */
export async function getAccount(deps: UserDeps): Promise<AccountView> {
  return toAccountView(await ownRow(deps), { secrets: deps.secrets, siteWarningThreshold: siteThreshold(deps) })
}

const recordOwnAct = (deps: UserDeps, action: string, changed: Pick<Act, 'before' | 'after'> = {}): Promise<void> =>
  recordAct(deps, { action, targetType: 'user', targetId: deps.actor.id, targetName: deps.actor.username, ...changed })

/** The console's update: a new password wants the current one. @throws {DomainError} user.password_wrong, second_factor.owner_unconfirmed */
export const updateAccount = (deps: UserDeps, input: UpdateAccount): Promise<void> =>
  overwriteAccount(deps, { ...input, currentPassword: input.currentPassword ?? '' })

/**
 * The documented update, for which the current password need not be named. A new password ends everything else that stood for
 * the old one.
 * @throws {DomainError} user.password_wrong, user.username_too_long
 */
export async function overwriteAccount(deps: UserDeps, input: UpdateAccount): Promise<void> {
  if (input.password !== undefined && input.currentPassword !== undefined)
    await confirmPassword(deps, input.currentPassword)
  const passwordHash = input.password === undefined ? undefined : await hashPassword(input.password)
  const isRenamed = input.username !== undefined && input.username !== deps.actor.username
  const changes = {
    ...(isRenamed ? renamingColumns(input.username ?? '') : {}),
    ...(input.displayName === undefined ? {} : { displayName: input.displayName }),
  }
  await withTakenErrors(() =>
    deps.em.transactional(async (em) => {
      await lockActor({ ...deps, em })
      if (Object.keys(changes).length > 0) await em.nativeUpdate(User, { id: deps.actor.id }, changes)
      if (isRenamed) {
        const [before, after] = [{ username: deps.actor.username }, { username: input.username }]
        await recordOwnAct({ ...deps, em }, 'account.rename', { before, after })
      }
      if (passwordHash === undefined) return
      await replacePassword({ ...deps, em }, deps.actor.id, { passwordHash, keepsOwnSession: true })
      await recordOwnAct({ ...deps, em }, 'account.change_password')
    }),
  )
}

/** A stolen session must not become a way to guess the password, nor to keep its owner from changing it. */
async function confirmPassword(deps: UserDeps, current: string): Promise<void> {
  const { passwordHash } = await ownRow(deps)
  // An account that only ever signed in elsewhere has none to ask for; its first is one more way in.
  if (!passwordHash) return requireOwner(deps)
  const attempt = { purpose: 'confirm-password', account: String(deps.actor.id) } as const
  const isRight = await tryOnce(deps, attempt, () => isPassword(passwordHash, current))
  if (!isRight) throw new DomainError('user.password_wrong')
}

/** The console's deletion: the owner types the username. @throws {DomainError} user.confirmation_mismatch */
export async function removeAccount(deps: UserDeps, input: { username: string }): Promise<void> {
  if (input.username !== deps.actor.username) throw new DomainError('user.confirmation_mismatch')
  await removeAccountUnasked(deps)
}

/** @throws {DomainError} user.root_protected */
export async function removeAccountUnasked(deps: UserDeps): Promise<void> {
  const { id, role } = deps.actor
  if (role === roles.root) throw new DomainError('user.root_protected')
  await deps.em.transactional(async (em) => {
    const scope = { ...deps, em }
    await lockActor(scope)
    await recordOwnAct(scope, 'account.delete')
    await retireAccount(scope, id)
  })
  deps.cookies?.clear(sessionCookie)
}

/** 32 characters of base64; the former token stops working. Only the hash stays here. */
export async function createAccessToken(deps: UserDeps): Promise<string> {
  const token = randomBytes(24).toString('base64')
  await deps.em.transactional(async (em) => {
    await lockActor({ ...deps, em })
    await em.nativeUpdate(User, { id: deps.actor.id }, { accessTokenHash: sha256(token) })
    await recordOwnAct({ ...deps, em }, 'account.replace_access_token')
  })
  return token
}

/** The console's own choice; mails and notices follow it. */
export async function setLanguage({ em, actor }: UserDeps, { language }: ChooseLanguage): Promise<void> {
  await em.nativeUpdate(User, { id: actor.id }, { language })
}

/** Built anew from the input; of the stored value only a secret that was not typed again stays. */
export async function updateSettings(deps: UserDeps, input: Settings): Promise<void> {
  const setting: UserSetting = {
    notify_type: input.notifyType,
    ...(input.quotaWarningThreshold !== null && { quota_warning_threshold: input.quotaWarningThreshold }),
    accept_unset_model_ratio_model: input.acceptUnsetModelRatioModel,
    show_ip_in_logs: input.showIpInLogs,
  }
  if (input.notifyType === 'email') {
    if (input.notificationEmail !== '') setting.notification_email = input.notificationEmail
  } else {
    setting.webhook_url = input.webhookUrl
    const secret = await webhookSecret(deps, input)
    if (secret !== undefined) setting.webhook_secret = secret
  }
  await deps.em.nativeUpdate(User, { id: deps.actor.id }, { setting })
}

/** A stored one was meant for its address: it does not follow to another. @throws {DomainError} session.required */
export async function webhookSecret(
  deps: UserDeps,
  input: Pick<Settings, 'webhookUrl' | 'webhookSecret'>,
): Promise<string | undefined> {
  if (input.webhookSecret !== undefined) {
    return input.webhookSecret === '' ? undefined : deps.secrets.encrypt(input.webhookSecret)
  }
  const { setting } = await ownRow(deps)
  return setting?.webhook_url === input.webhookUrl ? setting.webhook_secret : undefined
}
