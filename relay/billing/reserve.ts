import { DomainError } from '#core/errors.ts'
import { formatQuota } from '#core/quota.ts'
import type { ReserveResult } from '#features/ledger/charge-row.ts'
import type { CallCore, RelayServices } from '#relay/request/call.ts'

/**
 * Sets an amount aside before the upstream is asked. Called again for a dearer attempt, it raises the same hold.
 * @throws {DomainError} the documented refusal when user or token cannot pay; relay.unavailable when nothing can be booked.
 */
export async function reserve(services: RelayServices, call: CallCore, amount: number): Promise<void> {
  const result = await reserveOnce(services, call, amount)
  if (result.verdict !== 'ok') throw refusalOfReserve(services, call, { result, amount })
}

/** The same, with the verdict as the ledger gave it. @throws {DomainError} relay.unavailable when nothing can be booked. */
export async function reserveOnce(services: RelayServices, call: CallCore, amount: number): Promise<ReserveResult> {
  const { token, user } = call.caller
  try {
    return await services.ledger.reserve({ id: call.id, userId: user.id, tokenId: token?.id ?? 0, amount })
  } catch (error) {
    throw new DomainError('relay.unavailable', {}, { cause: error })
  }
}

/** What is there for a hold, in balance and token together. */
export const availableIn = ({ userQuota, tokenQuota }: ReserveResult): number =>
  Math.min(userQuota, tokenQuota ?? userQuota)

export const isInsufficient = ({ verdict }: ReserveResult): boolean =>
  verdict === 'user_insufficient' || verdict === 'token_insufficient'

/** What a caller reads whose hold was refused. */
export function refusalOfReserve(
  services: RelayServices,
  call: CallCore,
  { result, amount }: { result: ReserveResult; amount: number },
) {
  const show = (quota: number): string => {
    const inCurrency = services.options.get('DisplayInCurrencyEnabled')
    const text = formatQuota(quota, { quotaPerUnit: services.options.get('QuotaPerUnit'), inCurrency, digits: 6 })
    return inCurrency ? text : `${text} 点`
  }
  switch (result.verdict) {
    case 'user_insufficient':
      return result.userQuota <= 0
        ? new DomainError('relay.user_quota_empty')
        : new DomainError('relay.user_quota_insufficient', { quota: show(result.userQuota), required: show(amount) })
    case 'token_insufficient':
      return new DomainError('relay.token_quota_insufficient', {
        quota: show(result.tokenQuota ?? 0),
        required: show(amount),
      })
    case 'token_exhausted':
      return new DomainError('relay.token_exhausted', { key: call.caller.token?.keyMask ?? '' })
    case 'token_missing':
      return new DomainError('relay.token_invalid')
    case 'user_missing':
    case 'ok':
      return new DomainError('relay.user_unavailable')
  }
}
