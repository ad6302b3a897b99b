import type { EntityManager } from '@mikro-orm/postgresql'
import { roles } from '#core/roles.ts'
import { logType, userStatus } from '#core/statuses.ts'
import { formatQuota } from '#core/quota.ts'
import { User } from '#db/entities/user.ts'
import type { Deps } from '../../deps.ts'
import { grant } from '../../ledger/service.ts'
import { normaliseEmail } from '../email.ts'
import { rewardInviter } from './invite.ts'
import { isInviteCodeTaken, withTakenErrors, usernameColumns } from './taken.ts'

export type NewAccount = {
  username: string
  displayName: string
  passwordHash: string | null
  /** Only an address that was proved. */
  email?: string
  /** Provider ids of accounts that sign in elsewhere. */
  bindings?: Partial<Pick<User, 'githubId' | 'oidcId' | 'oidcIssuer' | 'wechatId' | 'telegramId' | 'linuxDoId'>>
  inviteCode?: string
  /** What else stands or falls with the account. */
  alongside?: (em: EntityManager, id: number) => Promise<void>
}

type CreateDeps = Pick<Deps, 'em' | 'options' | 'ambient'>

/** An ordinary user with the gifts of a new one, all in one transaction. Returns the id. */
export async function createAccount(deps: CreateDeps, account: NewAccount): Promise<number> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await withTakenErrors(() => deps.em.transactional((em) => insertAccount({ ...deps, em }, account)))
    } catch (error) {
      // Four characters collide now and then.
      if (!isInviteCodeTaken(error) || attempt === 10) throw error
    }
  }
}

async function insertAccount(deps: CreateDeps, account: NewAccount): Promise<number> {
  const { em, options } = deps
  const inviter = await findInviter(deps, account.inviteCode)
  const id = await em.insert(User, {
    ...usernameColumns(account.username),
    displayName: account.displayName,
    passwordHash: account.passwordHash,
    role: roles.user,
    status: userStatus.active,
    group: 'default',
    email: account.email ?? '',
    emailNormalized: account.email ? normaliseEmail(account.email) : null,
    ...account.bindings,
    affCode: deps.ambient.newId(4),
    inviterId: inviter?.id ?? 0,
  })
  const welcome = { userId: id, username: account.username }
  await give(deps, { ...welcome, kind: 'sign_up', amount: options.get('QuotaForNewUser'), what: '新用户注册赠送' })
  if (inviter) {
    await give(deps, { ...welcome, kind: 'invitee', amount: options.get('QuotaForInvitee'), what: '使用邀请码赠送' })
    await rewardInviter(deps, inviter)
  }
  await account.alongside?.(em, id)
  return id
}

/** The code of somebody who is banned or gone invites nobody. */
async function findInviter(
  deps: CreateDeps,
  code: string | undefined,
): Promise<{ id: number; username: string } | null> {
  if (!code || !deps.options.get('AffEnabled')) return null
  const invites = { affCode: code, status: userStatus.active, deletedAt: null }
  return deps.em.findOne(User, invites, { disableIdentityMap: true })
}

type Gift = { userId: number; username: string; kind: string; amount: number; what: string }

async function give({ em, options }: { em: EntityManager; options: Deps['options'] }, gift: Gift): Promise<void> {
  if (gift.amount <= 0) return
  const text = formatQuota(gift.amount, {
    quotaPerUnit: options.get('QuotaPerUnit'),
    inCurrency: options.get('DisplayInCurrencyEnabled'),
    digits: 6,
  })
  await grant(em, {
    kind: gift.kind,
    key: String(gift.userId),
    userId: gift.userId,
    amount: gift.amount,
    log: { type: logType.system, username: gift.username, content: `${gift.what} ${text}` },
  })
}
