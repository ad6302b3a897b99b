import { raw } from '@mikro-orm/postgresql'
import { DomainError } from '#core/errors.ts'
import { formatQuota } from '#core/quota.ts'
import { logType } from '#core/statuses.ts'
import { Log } from '#db/entities/log.ts'
import { User } from '#db/entities/user.ts'
import type { Deps, UserDeps } from '../../deps.ts'
import { grant } from '../../ledger/service.ts'
import { isInviteCodeTaken } from './taken.ts'

const inDollars = (options: Deps['options'], quota: number): string =>
  formatQuota(quota, {
    quotaPerUnit: options.get('QuotaPerUnit'),
    inCurrency: options.get('DisplayInCurrencyEnabled'),
    digits: 6,
  })

/** Counts the invitation and adds the reward to what the inviter may transfer later; the balance itself stays. */
export async function rewardInviter(
  { em, options }: Pick<Deps, 'em' | 'options'>,
  inviter: { id: number; username: string },
): Promise<void> {
  const reward = options.get('QuotaForInviter')
  await em.nativeUpdate(
    User,
    { id: inviter.id },
    {
      affCount: raw('aff_count + 1'),
      affQuota: raw('aff_quota + ?', [reward]),
      affHistoryQuota: raw('aff_history_quota + ?', [reward]),
    },
  )
  if (reward <= 0) return
  await em.insert(Log, {
    userId: inviter.id,
    username: inviter.username,
    type: logType.system,
    content: `邀请用户赠送 ${inDollars(options, reward)}`,
  })
}

/** Four characters, made when first asked for. @throws {DomainError} invite.disabled */
export async function getInviteCode(deps: UserDeps): Promise<string> {
  const { em, actor, options, ambient } = deps
  if (!options.get('AffEnabled')) throw new DomainError('invite.disabled')
  for (let attempt = 1; ; attempt += 1) {
    try {
      await em.nativeUpdate(User, { id: actor.id, affCode: null }, { affCode: ambient.newId(4) })
      const { affCode } = await em.findOneOrFail(User, { id: actor.id }, { disableIdentityMap: true })
      return affCode ?? ''
    } catch (error) {
      if (!isInviteCodeTaken(error) || attempt === 10) throw error
    }
  }
}

/**
 * Rewards become balance; what was earned stays transferable after invitations were switched off.
 * @throws {DomainError} invite.transfer_too_small, invite.balance_insufficient
 */
export async function transferRewards(deps: UserDeps, { quota }: { quota: number }): Promise<void> {
  const { actor, options, ambient } = deps
  const least = options.get('QuotaPerUnit')
  if (quota < least) throw new DomainError('invite.transfer_too_small', { amount: inDollars(options, least) })
  await deps.em.transactional(async (em) => {
    const taken = await em.nativeUpdate(
      User,
      { id: actor.id, affQuota: { $gte: quota } },
      { affQuota: raw('aff_quota - ?', [quota]) },
    )
    if (taken === 0) throw new DomainError('invite.balance_insufficient')
    await grant(em, {
      kind: 'transfer',
      key: ambient.newId(20),
      userId: actor.id,
      amount: quota,
      log: {
        type: logType.system,
        username: actor.username,
        content: `邀请额度划转到余额 ${inDollars(options, quota)}`,
      },
    })
  })
}
