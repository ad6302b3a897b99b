import { raw } from '@mikro-orm/postgresql'
import { formatQuota } from '#core/quota.ts'
import { logType } from '#core/statuses.ts'
import { Log } from '#db/entities/log.ts'
import { User } from '#db/entities/user.ts'
import type { Deps } from '../../deps.ts'

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
  const text = formatQuota(reward, {
    quotaPerUnit: options.get('QuotaPerUnit'),
    inCurrency: options.get('DisplayInCurrencyEnabled'),
    digits: 6,
  })
  await em.insert(Log, {
    userId: inviter.id,
    username: inviter.username,
    type: logType.system,
    content: `邀请用户赠送 ${text}`,
  })
}
