import { autoGroup, autoGroups } from '#core/groups.ts'
import { priceOf } from '#core/pricing/price-of.ts'
import { resolveModelMapping } from '#core/routing/model-names.ts'
import type { Caller, RelayServices } from '#relay/request/call.ts'

/** A name a caller may use; `root` is the model behind a channel's prefix. */
export type VisibleModel = { id: string; root: string }

/** With the tokens that it holds at once, where that is known. */
export type ListedModel = VisibleModel & { contextWindow?: number | undefined }

/**
 * What a caller's model list shows: the token's own limits, else everything its group can use, prefixed and virtual names
 * included, without the models it could not pay for because nobody set a price.
 */
export function visibleModels(services: RelayServices, caller: Caller): VisibleModel[] {
  const limits = caller.token?.modelLimits
  if (limits) return [...limits].map((id) => ({ id, root: id }))
  const group = caller.group || caller.user.group
  const groups = group === autoGroup ? autoGroups(services.options, caller.user.group) : [group]
  const models = new Map<string, VisibleModel>()
  // By names, of which there are far fewer than channels with names.
  for (const name of groups) for (const id of services.channels.modelsOf(name)) models.set(id, { id, root: id })
  for (const channel of services.channels.enabledChannels()) {
    if (channel.modelPrefix === '' || !groups.some((name) => channel.groups.includes(name))) continue
    for (const root of channel.models) {
      const id = channel.modelPrefix + root
      models.set(id, { id, root })
    }
  }
  const { mapping } = services.options.get('global_model_mapping')
  for (const [virtual, entries] of Object.entries(mapping)) {
    const behind = entries.find((entry) => models.has(entry.model))
    if (behind) models.set(virtual, { id: virtual, root: behind.model })
  }
  const renamed = pricedByRenaming(services, caller, groups)
  return [...models.values()]
    .filter(({ root }) => isPriced(services, caller, root) || renamed.has(root))
    .sort((left, right) => left.id.localeCompare(right.id))
}

/** Models without a price that a channel sends on under the name of one that has a price, by which their calls are charged. */
function pricedByRenaming(services: RelayServices, caller: Caller, groups: readonly string[]): Set<string> {
  const renamed = new Set<string>()
  // Thousands of channels share few mappings.
  const seen = new Set<string>()
  if (services.options.get('redirect_billing_enabled')) return renamed
  for (const channel of services.channels.enabledChannels()) {
    if (channel.modelMapping === '' || !groups.some((name) => channel.groups.includes(name))) continue
    for (const model of channel.models) {
      const name = `${channel.modelMapping}\n${model}`
      if (seen.has(name) || isPriced(services, caller, model)) continue
      seen.add(name)
      const mapped = resolveModelMapping(channel.modelMapping, model)
      if (mapped.ok && isPriced(services, caller, mapped.model)) renamed.add(model)
    }
  }
  return renamed
}

const isPriced = ({ options }: RelayServices, { user }: Caller, model: string): boolean =>
  priceOf(options, { model, acceptUnset: user.acceptsUnpricedModels }) !== undefined
