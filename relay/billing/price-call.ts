import { DomainError } from '#core/errors.ts'
import type { Price } from '#core/pricing/price.ts'
import { chargedGroupRatio, priceOf } from '#core/pricing/price-of.ts'
import { roles } from '#core/roles.ts'
import { isPrefixed } from '#core/routing/abilities.ts'
import type { Attempt, CallCore, RelayServices } from '#relay/request/call.ts'
import type { UserRow } from '#relay/request/user-cache.ts'

/** What a call costs, as it stood when the call was admitted; kept through all its attempts and written to its log row. */
export type CallPrice = { price: Price; groupRatio: number; quotaPerUnit: number; pricedModel?: string | undefined }

/**
 * The price of a model for a user in a group.
 * @throws {DomainError} relay.price_missing when nobody has set one and nothing else allows the call.
 */
function priceCall(services: RelayServices, input: { model: string; group: string; user: UserRow }): CallPrice {
  const { model, group, user } = input
  const price = priceOf(services.options, { model, acceptUnset: user.acceptsUnpricedModels })
  if (!price) {
    throw user.role >= roles.admin
      ? new DomainError('relay.price_missing_hint', { model })
      : new DomainError('relay.price_missing', { model })
  }
  return { price, ...groupTerms(services, { group, user }), pricedModel: model }
}

/** What a user's group makes of every price. */
export function groupTerms(
  { options, log }: RelayServices,
  { group, user }: { group: string; user: UserRow },
): Pick<CallPrice, 'groupRatio' | 'quotaPerUnit'> {
  const ratio = chargedGroupRatio(options, { userGroup: user.group, usedGroup: group })
  if (!ratio.known) log.warn({ group }, 'a group without a ratio is charged at 1')
  return { groupRatio: ratio.ratio, quotaPerUnit: options.get('QuotaPerUnit') }
}

/** The price of an attempt: under the caller's name of the model, without the channel's prefix, or under the one that is sent upstream. */
export function priceAttempt(
  services: RelayServices,
  call: CallCore,
  { channel, model: served, upstreamModel }: Pick<Attempt, 'channel' | 'model' | 'upstreamModel'>,
): CallPrice {
  const asked = isPrefixed(call.model, channel.modelPrefix, served) ? served : call.model
  const model = services.options.get('redirect_billing_enabled') ? asked : upstreamModel
  return priceCall(services, { model, group: call.group, user: call.caller.user })
}
