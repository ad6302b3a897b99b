import { type EntityManager, raw } from '@mikro-orm/postgresql'
import { DomainError } from '#core/errors.ts'
import { formatQuota } from '#core/quota.ts'
import { logType } from '#core/statuses.ts'
import { User } from '#db/entities/user.ts'
import { requireBotCheck } from '../../auth/bot-check.ts'
import type { UserDeps } from '../../deps.ts'
import { grant } from '../../ledger/service.ts'

type Day = { today: string; done: boolean }

/** Days are those of UTC, by the database's clock. */
async function dayOf(em: EntityManager, userId: number): Promise<Day> {
  const sql = `select to_char(now() at time zone 'utc', 'YYYY-MM-DD') as today,
    coalesce((last_check_in_at at time zone 'utc')::date >= (now() at time zone 'utc')::date, false) as done
    from users where id = ?`
  const [day]: Day[] = await em.getConnection().execute(sql, [userId], 'all', em.getTransactionContext())
  if (!day) throw new DomainError('user.not_found')
  return day
}

/** @throws {DomainError} user.not_found */
export async function getCheckInStatus({ em, actor }: UserDeps): Promise<{ canCheckIn: boolean }> {
  return { canCheckIn: !(await dayOf(em, actor.id)).done }
}

/**
 * The day's reward, once: the grant's key is the user and the day.
 * @throws {DomainError} check_in.disabled, check_in.not_configured, user.not_found, check_in.already_done
 */
export async function checkIn(deps: UserDeps, input: { turnstile: string }): Promise<{ quota: number }> {
  const { options, actor } = deps
  if (!options.get('CheckInEnabled')) throw new DomainError('check_in.disabled')
  if (options.get('CheckInQuota') <= 0) throw new DomainError('check_in.not_configured')
  await requireBotCheck(deps, input.turnstile, 'every-time')
  const quota = reward(deps)
  const display = { quotaPerUnit: options.get('QuotaPerUnit'), inCurrency: options.get('DisplayInCurrencyEnabled') }
  await deps.em.transactional(async (em) => {
    const { today, done } = await dayOf(em, actor.id)
    if (done) throw new DomainError('check_in.already_done')
    const booked = await grant(em, {
      kind: 'check_in',
      key: `${actor.id}:${today}`,
      userId: actor.id,
      amount: quota,
      log: {
        type: logType.checkIn,
        username: actor.username,
        content: `签到获得 ${formatQuota(quota, { ...display, digits: 6 })}`,
      },
    })
    if (!booked) throw new DomainError('check_in.already_done')
    await em.nativeUpdate(User, { id: actor.id }, { lastCheckInAt: raw('now()') })
  })
  return { quota }
}

function reward({ options, ambient }: UserDeps): number {
  const [least, most] = [options.get('CheckInQuota'), options.get('CheckInMaxQuota')]
  return most > least ? least + Math.floor(ambient.random() * (most - least + 1)) : least
}
