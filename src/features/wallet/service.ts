import { DomainError } from '#core/errors.ts'
import { payMethods } from '#core/payment/methods.ts'
import { User } from '#db/entities/user.ts'
import type { UserDeps } from '../deps.ts'
import { gatewayOf, groupRatio, isGatewayReady, minimumAmount, termsOf } from '../orders/pay.ts'
import type { WalletView } from './view.ts'

const longestPaceDays = 7
const dayMs = 86_400_000

/** The last week, or as long as there is the account, whose days before would count as days without use; a day at least. */
const paceDaysOf = (createdAt: Date, now: Date): number =>
  Math.min(longestPaceDays, Math.max(1, (now.getTime() - createdAt.getTime()) / dayMs))

/** The balance, what it lasts for, and how more of it is bought. @throws {DomainError} user.not_found */
export async function getWallet(deps: UserDeps): Promise<WalletView> {
  const user = await deps.em.findOne(User, { id: deps.actor.id }, { disableIdentityMap: true })
  if (!user) throw new DomainError('user.not_found')
  const { rows } = await deps.database.pool.query<{ quota: string }>(
    `select coalesce(sum(quota - plan_quota), 0) as quota from usage_hourly where user_id = $1 and hour >= now() - interval '${longestPaceDays} days'`,
    [user.id],
  )
  const paceDays = paceDaysOf(user.createdAt, deps.ambient.now())
  const dailyQuota = Number(rows[0]?.quota ?? 0) / paceDays
  return {
    quota: user.quota,
    usedQuota: user.usedQuota,
    dailyQuota,
    paceDays: Math.round(paceDays),
    daysLeft: dailyQuota > 0 ? Math.max(0, user.quota) / dailyQuota : null,
    minimumAmount: minimumAmount(deps),
    groupRatio: groupRatio(deps, user.group),
    topUpLink: deps.options.get('TopUpLink'),
    methods: payMethods
      .filter((method) => isGatewayReady(deps, gatewayOf(method)))
      .map((method) => {
        const { currency, price } = termsOf(deps, gatewayOf(method))
        return { method, currency, price }
      }),
  }
}
