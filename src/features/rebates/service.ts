import type { EntityManager } from '@mikro-orm/postgresql'
import { exactShare } from '#core/payment/exact.ts'
import { logType } from '#core/statuses.ts'
import { Log } from '#db/entities/log.ts'
import { Rebate } from '#db/entities/rebate.ts'
import { TopUpOrder } from '#db/entities/top-up-order.ts'
import { User } from '#db/entities/user.ts'
import type { Services } from '../deps.ts'
import { grant } from '../ledger/service.ts'
import { shownQuota } from '../ledger/shown-quota.ts'

/** The grant that a rebate comes from. */
export type RebateSource = { source: 'redemption' | 'top_up'; key: string }

type Credit = RebateSource & { userId: number; amount: number }

/**
 * Writes down what the inviter is owed for a credit, in the credit's own transaction. It is booked afterwards, in one of its
 * own: whatever goes wrong with it, the credit stays, and it locks no second user beside the first.
 */
export async function oweRebate(
  { em, options }: Pick<Services, 'options'> & { em: EntityManager },
  { source, key, userId, amount }: Credit,
): Promise<void> {
  if (!options.get('RebateEnabled')) return
  const due = exactShare([amount, options.get('RebatePercentage')], 100, 'down')
  if (due <= 0) return
  const invited = await em.findOne(User, { id: userId }, { disableIdentityMap: true })
  if (!invited?.inviterId) return
  if (options.get('RebateAfterPaymentEnabled') && source !== 'top_up') {
    const payments = await em.count(TopUpOrder, { userId, paidAt: { $ne: null } })
    if (payments === 0) return
  }
  await em.insert(Rebate, { source, key, userId: invited.inviterId, invitedId: userId, amount: due })
}

type BookingDeps = Pick<Services, 'database' | 'options' | 'log'>

/** Books what is owed for a credit, once. Never rejects: what could not be booked is tried again by the job. */
export async function bookRebate(deps: BookingDeps, { source, key }: RebateSource): Promise<boolean> {
  try {
    return await deps.database.orm.em.fork().transactional(async (em) => {
      const sql =
        'select user_id, invited_id, amount - reversed_amount as amount from rebates where source = ? and key = ? and booked_at is null'
      const [due]: { user_id: number; invited_id: number; amount: string }[] = await em
        .getConnection()
        .execute(`${sql} for update skip locked`, [source, key], 'all', em.getTransactionContext())
      if (!due) return false
      const people = await em.find(User, { id: [due.user_id, due.invited_id] }, { disableIdentityMap: true })
      const inviter = people.find(({ id }) => id === due.user_id)
      const invited = people.find(({ id }) => id === due.invited_id)
      const amount = Number(due.amount)
      // An account that was removed for good has no balance to add to; a credit that went back whole owes nothing.
      if (inviter && amount > 0) {
        await grant(em, {
          kind: 'rebate',
          key: `${source}:${key}`,
          userId: inviter.id,
          amount,
          log: {
            type: logType.system,
            username: inviter.username,
            content: `邀请用户充值返佣 ${shownQuota(deps, amount)}`,
            quota: amount,
          },
        })
        if (invited) {
          await em.insert(Log, {
            userId: invited.id,
            username: invited.username,
            type: logType.system,
            content: `充值为邀请者带来返佣 ${shownQuota(deps, amount)}`,
          })
        }
      }
      await em
        .getConnection()
        .execute(
          'update rebates set booked_at = now() where source = ? and key = ?',
          [source, key],
          'run',
          em.getTransactionContext(),
        )
      return true
    })
  } catch (error) {
    deps.log.error({ err: error, source, key }, 'a rebate could not be booked and is tried again')
    return false
  }
}

const mostAtOnce = 500

/** Books what is still owed. Resolves with how many. */
export async function bookDueRebates(deps: BookingDeps, signal: AbortSignal): Promise<number> {
  const { rows } = await deps.database.pool.query<RebateSource>(
    'select source, key from rebates where booked_at is null order by created_at limit $1',
    [mostAtOnce],
  )
  let booked = 0
  for (const source of rows) {
    if (signal.aborted) break
    if (await bookRebate(deps, source)) booked += 1
  }
  return booked
}

/**
 * Keeps a rebate in proportion to its credit, of which `taken` of `total` has gone back by now: what was booked is taken back
 * or given again, what is still owed is booked with the rest only. `act` distinguishes one such change of a credit from the others.
 */
export async function followCredit(
  { em, options }: Pick<Services, 'options'> & { em: EntityManager },
  { source, key }: RebateSource,
  { taken, total, act }: { taken: number; total: number; act: string },
): Promise<void> {
  const execute = <Row>(sql: string, values: unknown[]): Promise<Row[]> =>
    em.getConnection().execute(sql, values, 'all', em.getTransactionContext())
  const [rebate] = await execute<{ user_id: number; amount: string; reversed: string; booked_at: Date | null }>(
    'select user_id, amount, reversed_amount as reversed, booked_at from rebates where source = ? and key = ? for update',
    [source, key],
  )
  if (!rebate) return
  const reversed = total > 0 ? exactShare([Number(rebate.amount), taken], total, 'down') : 0
  const change = Number(rebate.reversed) - reversed
  if (change === 0) return
  await em.nativeUpdate(Rebate, { source, key }, { reversedAmount: reversed })
  if (!rebate.booked_at) return
  const inviter = await em.findOne(User, { id: rebate.user_id }, { disableIdentityMap: true })
  if (!inviter) return
  const shown = shownQuota({ options }, Math.abs(change))
  await grant(em, {
    kind: change < 0 ? 'rebate_reversal' : 'rebate_restoration',
    key: `${source}:${key}:${act}`,
    userId: inviter.id,
    amount: change,
    log: {
      type: logType.manage,
      username: inviter.username,
      content: change < 0 ? `被邀请用户的充值已退款，收回返佣 ${shown}` : `被邀请用户的充值已恢复，恢复返佣 ${shown}`,
      quota: change,
    },
  })
}
