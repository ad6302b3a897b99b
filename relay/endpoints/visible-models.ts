import { autoGroup } from '#core/auto-group.ts'
import { autoGroups } from '#core/groups.ts'
import { priceOf } from '#core/pricing/price-of.ts'
import { modelsBehind, resolveModelMapping } from '#core/routing/model-names.ts'
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
  const actual = actualNames(services, groups)
  const virtual = virtualNames(services, actual)
  const models = [...actual.values()].filter(({ id }) => !virtual.has(id))
  for (const model of virtual.values()) if (model) models.push(model)
  const byCallersName = services.options.get('redirect_billing_enabled')
  const priceNameOf = ({ id, root }: VisibleModel): string => (byCallersName && virtual.has(id) ? id : root)
  const unpriced = unpricedAmong(services, caller, { names: new Set(models.map(priceNameOf)), groups })
  return models
    .filter((model) => !unpriced.has(priceNameOf(model)))
    .sort((left, right) => left.id.localeCompare(right.id))
}

/** The models of channels, with and without their prefixes. */
function actualNames({ channels }: RelayServices, groups: readonly string[]): Map<string, VisibleModel> {
  const models = new Map<string, VisibleModel>()
  // By names, of which there are far fewer than channels with names.
  for (const name of groups) for (const id of channels.modelsOf(name)) models.set(id, { id, root: id })
  for (const channel of channels.enabledChannels()) {
    if (channel.modelPrefix === '' || !groups.some((name) => channel.groups.includes(name))) continue
    for (const root of channel.models) {
      const id = channel.modelPrefix + root
      models.set(id, { id, root })
    }
  }
  return models
}

/** Every virtual name, which takes the place of a model so named, with what its calls are for; null where nobody serves that. */
function virtualNames(
  { options }: RelayServices,
  actual: ReadonlyMap<string, VisibleModel>,
): Map<string, VisibleModel | null> {
  const { mapping } = options.get('global_model_mapping')
  return new Map(
    Object.keys(mapping).map((id) => {
      const first = modelsBehind(mapping, id).find(({ model }) => actual.has(model))
      const behind = first && actual.get(first.model)
      return [id, behind ? { id, root: behind.root } : null]
    }),
  )
}

type Among = { names: ReadonlySet<string>; groups: readonly string[] }

/** Models that nobody set a price for, under their own names or under that by which a channel sends them on and their calls are charged. */
function unpricedAmong(services: RelayServices, caller: Caller, { names, groups }: Among): ReadonlySet<string> {
  const unpriced = new Set([...names].filter((name) => !isPriced(services, caller, name)))
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
