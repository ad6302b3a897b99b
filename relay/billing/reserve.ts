import { DomainError } from '#core/errors.ts'
import { splitPrefix } from '#core/routing/abilities.ts'
import { formatQuota } from '#core/quota.ts'
import type { ReachedCap, ReserveResult } from '#features/ledger/charge-row.ts'
import { CapReached } from '#relay/request/rate-limited.ts'
import type { CallCore, RelayServices } from '#relay/request/call.ts'

/** `lasting`: it pays for what outlives this process, and is set aside in the database. */
type Asked = { amount: number; lasting?: true | undefined }

/**
 * Sets an amount aside before the upstream is asked. Called again for a more expensive attempt, it raises the same hold.
 * @throws {DomainError} the documented refusal when user or token cannot pay; relay.unavailable when nothing can be booked.
 */
export async function reserve(services: RelayServices, call: CallCore, asked: Asked): Promise<void> {
  const result = await reserveOnce(services, call, asked)
  if (result.verdict !== 'ok') throw refusalOfReserve(services, call, { result, amount: asked.amount })
}

/** The names that caps and plans may have for a call's model, a line each: as it was written, and without a channel's prefix. */
export function coveredNames(
  { channels }: RelayServices,
  { model, group, pinnedChannel }: Pick<CallCore, 'model' | 'group' | 'pinnedChannel'>,
): string {
  const split = splitPrefix(model, pinnedChannel ? [pinnedChannel.modelPrefix] : channels.prefixesOf(group))
  return split ? `${model}\n${split.model}` : model
}

/** The same, with the verdict as the ledger gave it. @throws {DomainError} relay.unavailable when nothing can be booked. */
export async function reserveOnce(services: RelayServices, call: CallCore, asked: Asked): Promise<ReserveResult> {
  const { token, user } = call.caller
  try {
    return await services.ledger.reserve({
      id: call.id,
      userId: user.id,
      tokenId: token?.id ?? 0,
      model: coveredNames(services, call),
      ...asked,
    })
  } catch (error) {
    throw new DomainError('relay.unavailable', {}, { cause: error })
  }
}

/** What is there for a hold, in subscription and balance, token and spend caps together. */
export const availableIn = ({ payable, tokenQuota, capLeft }: ReserveResult): number =>
  Math.min(payable, tokenQuota ?? payable, capLeft ?? payable)

export const isInsufficient = ({ verdict }: ReserveResult): boolean =>
  verdict === 'user_insufficient' ||
  verdict === 'token_insufficient' ||
  verdict === 'cap_reached' ||
  verdict === 'plan_spent'

/** In words that are the same in every language: `5h`, `day Asia/Shanghai`, `week UTC [gpt-4o*]`. */
function windowOf({ period, seconds, zone, models }: ReachedCap): string {
  const window = period === 'rolling' ? `${seconds / 3600}h` : `${period} ${zone}`
  return models.length === 0 ? window : `${window} [${models.slice(0, 3).join(', ')}${models.length > 3 ? ', …' : ''}]`
}

function capRefusal(cap: ReachedCap, { show, amount }: { show: (quota: number) => string; amount: number }) {
  const parameters = {
    window: windowOf(cap),
    amount: show(cap.amount),
    left: show(Math.max(0, cap.left)),
    required: show(amount),
    turns: new Date(cap.turnsAt * 1000).toISOString().replace('.000', ''),
  }
  const details = { cause: new CapReached(cap.inSeconds) }
  if (cap.scope === 'subscription')
    return new DomainError('relay.plan_spent', { plan: cap.name ?? '', ...parameters }, details)
  return cap.scope === 'token'
    ? new DomainError('relay.token_spend_cap_reached', parameters, details)
    : new DomainError('relay.user_spend_cap_reached', parameters, details)
}

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
      return result.payable <= 0
        ? new DomainError('relay.user_quota_empty')
        : new DomainError('relay.user_quota_insufficient', { quota: show(result.payable), required: show(amount) })
    case 'token_insufficient':
      return new DomainError('relay.token_quota_insufficient', {
        quota: show(result.tokenQuota ?? 0),
        required: show(amount),
      })
    case 'token_exhausted':
      return new DomainError('relay.token_exhausted', { key: call.caller.token?.keyMask ?? '' })
    case 'token_missing':
      return new DomainError('relay.token_invalid')
    case 'cap_reached':
    case 'plan_spent':
      return result.cap
        ? capRefusal(result.cap, { show, amount })
        : new DomainError('relay.user_quota_insufficient', { quota: show(result.payable), required: show(amount) })
    case 'user_missing':
    case 'ok':
      return new DomainError('relay.user_unavailable')
  }
}
