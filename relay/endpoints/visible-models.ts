import { autoGroup } from '#core/auto-group.ts'
import { autoGroups } from '#core/groups.ts'
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
  const unpriced = unpricedAmong(services, caller, {
    roots: new Set([...models.values()].map(({ root }) => root)),
    groups,
  })
  return [...models.values()]
    .filter(({ root }) => !unpriced.has(root))
    .sort((left, right) => left.id.localeCompare(right.id))
}

type Among = { roots: ReadonlySet<string>; groups: readonly string[] }

/** Models that nobody set a price for, under their own names or under that by which a channel sends them on and their calls are charged. */
function unpricedAmong(services: RelayServices, caller: Caller, { roots, groups }: Among): ReadonlySet<string> {
  const unpriced = new Set([...roots].filter((root) => !isPriced(services, caller, root)))
  if (unpriced.size === 0 || services.options.get('redirect_billing_enabled')) return unpriced
  // Thousands of channels share few mappings.
  const seen = new Set<string>()
  for (const channel of services.channels.enabledChannels()) {
    if (channel.modelMapping === '' || !groups.some((name) => channel.groups.includes(name))) continue
    for (const model of channel.models) {
      if (!unpriced.has(model)) continue
      const name = `${channel.modelMapping}\n${model}`
      if (seen.has(name)) continue
      seen.add(name)
      const mapped = resolveModelMapping(channel.modelMapping, model)
      if (mapped.ok && isPriced(services, caller, mapped.model)) unpriced.delete(model)
    }
  }
  return unpriced
}

const isPriced = ({ options }: RelayServices, { user }: Caller, model: string): boolean =>
  priceOf(options, { model, acceptUnset: user.acceptsUnpricedModels }) !== undefined
