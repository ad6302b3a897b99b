import type { EntityManager } from '@mikro-orm/postgresql'
import { formatQuota } from '#core/quota.ts'
import { logType } from '#core/statuses.ts'
import { User } from '#db/entities/user.ts'
import { refundCharge } from '#features/ledger/refund.ts'
import type { TaskServices } from './task-channels.ts'

type ChargedTask = { requestId: string; userId: number; tokenId: number; quota: number; channelId: number }

/**
 * Gives the charge of a failed task back to user and token, inside the transaction that ends the task. Booked under the
 * request that charged it, as the refund of an answer that was never delivered is: one charge is given back once.
 */
export async function refundTask(
  em: EntityManager,
  { options }: Pick<TaskServices, 'options'>,
  { task, name, taskId }: { task: ChargedTask; name: string; taskId: string },
): Promise<void> {
  const inCurrency = options.get('DisplayInCurrencyEnabled')
  const text = formatQuota(task.quota, { quotaPerUnit: options.get('QuotaPerUnit'), inCurrency, digits: 6 })
  const user = await em.findOne(User, { id: task.userId }, { disableIdentityMap: true })
  await refundCharge(em, { ...task, id: task.requestId }, (byPlan) => ({
    type: logType.system,
    content: `${name}任务 ${taskId} 失败，退回 ${inCurrency ? text : `${text} 点`}`,
    username: user?.username ?? '',
    quota: task.quota,
    other: {
      task_id: taskId,
      ...(byPlan > 0 ? { plan: { quota: byPlan } } : {}),
      admin_info: { channel_id: task.channelId },
    },
  }))
}
