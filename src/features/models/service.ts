import { taskTypes } from '#core/channel-types/index.ts'
import { catalogPrice, type CatalogPrice, contextWindow } from '#core/pricing/catalogue.ts'
import { autoGroup } from '#core/auto-group.ts'
import { usableGroups, type UsableGroup } from '#core/groups.ts'
import type { OptionsReader } from '#core/options/registry/index.ts'
import { isInPriceTables, priceOf, taskPriceOf } from '#core/pricing/price-of.ts'
import { listsCacheWrites } from '#core/pricing/resolve-price.ts'
import { dollarsToRatio, ratioToDollars } from '#core/pricing/prices.ts'
import { splitList } from '#core/routing/abilities.ts'
import { modelsBehind, resolveModelMapping } from '#core/routing/model-names.ts'
import type { Channel } from '#db/entities/channel.ts'
import { User } from '#db/entities/user.ts'
import type { Deps, UserDeps } from '#features/deps.ts'
import { capabilitiesIn, type ModelParameters } from '#core/models/parameters.ts'
import { parametersOf } from '#relay/providers/model-parameters.ts'
import type { ByModel, CatalogPrices, UnpricedModels } from './schema.ts'
import { listedNames, type Listing } from './listed-names.ts'
import { pricedName } from './priced-name.ts'
import { type PricingItem, toPricingItem } from './view.ts'

export { setPrices } from './set-prices.ts'

type Serving = Pick<Channel, 'type' | 'models' | 'modelMapping'>

/** Models of a channel that an ordinary user's call would be refused for, because nobody has priced them. */
export function unpricedModelsOf(options: OptionsReader, channel: Serving): string[] {
  if (taskTypes.has(channel.type)) return []
  return splitList(channel.models).filter(
    (model) =>
      priceOf(options, { model: pricedName(options, model, channel.modelMapping), acceptUnset: false }) === undefined,
  )
}

/** The same of a channel that is still being filled in. */
export const listUnpricedModels = (deps: Pick<UserDeps, 'options'>, input: UnpricedModels): string[] =>
  unpricedModelsOf(deps.options, { ...input, models: input.models.join(',') })

/** What some enabled channels serve. */
export type Ability = { model: string; prefix: string; mapping: string; task: boolean; groups: string[] }

/** What enabled channels serve; channels that are alike in prefix and mapping share a row. */
export async function enabledAbilities({ database }: Pick<Deps, 'database'>): Promise<Ability[]> {
  const { rows } = await database.pool.query<Ability>({
    name: 'enabled_abilities',
    // Grouped twice: what is sorted is a row of each group, not of each channel.
    text: `select model, prefix, mapping, task, array_agg("group" order by "group") as groups
           from (
             select a.model, c.model_prefix as prefix, c.model_mapping as mapping, c.type = any ($1::int[]) as task, a."group"
             from abilities a join channels c on c.id = a.channel_id
             where a.enabled group by 1, 2, 3, 4, 5
           ) served
           group by 1, 2, 3, 4 order by 1, 2`,
    values: [[...taskTypes]],
  })
  return rows
}

export type Pricing = { items: PricingItem[]; groups: UsableGroup[] }

/**
 * The price list as its reader may use it: a model without a price is left out for those whose calls of it would be
 * refused, and groups of others are not named.
 */
export async function listPricing(deps: Deps): Promise<Pricing> {
  const { options, actor } = deps
  const acceptUnset = actor ? await acceptsUnset(deps, actor.id) : false
  const viewerGroup = actor?.group ?? 'default'
  // A call is charged by the group that `auto` led it to, so it has no prices of its own.
  const usable = usableGroups(options, actor?.group ?? '').filter(({ name }) => name !== autoGroup)
  const open = new Set(usable.map(({ name }) => name))
  const items = new Map<string, PricingItem>()
  for (const listing of pricedListings(await enabledAbilities(deps), viewerGroup)) {
    const priced = pricedName(options, listing.model, listing.mapping)
    const price = listing.task
      ? taskPriceOf(options, { model: listing.model, mode: '' })
      : priceOf(options, { model: priced, acceptUnset })
    if (!price) continue
    const known = items.get(listing.name)
    const groups = listing.groups.filter((group) => open.has(group))
    if (known) known.groups = [...new Set([...known.groups, ...groups])].toSorted()
    else {
      const listed = { groups, cacheWrites: listsCacheWrites(priced, options.get('CreateCacheRatio')) }
      items.set(listing.name, toPricingItem(listing.name, price, listed))
    }
  }
  return {
    items: [...items.values()].toSorted((left, right) => (left.model < right.model ? -1 : 1)),
    groups: usable,
  }
}

const pricedListings = (rows: Ability[], viewerGroup: string): (Listing & Ability)[] => listedNames(rows, viewerGroup)

async function acceptsUnset({ em }: Pick<Deps, 'em'>, id: number): Promise<boolean> {
  const user = await em.findOne(User, { id }, { disableIdentityMap: true })
  return user?.setting?.accept_unset_model_ratio_model ?? false
}

/** Names a user may put into a call, in any group open to them. */
export async function listUsableModels(deps: UserDeps): Promise<string[]> {
  const own = deps.actor.group
  const groups = new Set([own, ...usableGroups(deps.options, own).map(({ name }) => name)])
  const names = (await enabledAbilities(deps)).flatMap((row) => {
    const usable = row.groups.filter((group) => groups.has(group))
    if (usable.length === 0) return []
    // A prefix stands before the name where the user's own group has such a channel.
    return row.prefix !== '' && usable.includes(own) ? [row.prefix + row.model] : [row.model]
  })
  return [...new Set(names)].toSorted()
}

/**
 * Of the model that a name leads to: behind a virtual name, a prefix or a channel's mapping the last one counts. What the operator
 * says of either name goes before everything that is known otherwise.
 */
export async function parametersOfModel(deps: UserDeps, { model }: ByModel): Promise<ModelParameters> {
  const [first] = modelsBehind(deps.options.get('global_model_mapping').mapping, model)
  const name = first?.model ?? model
  const row = (await enabledAbilities(deps)).find((served) => name === served.prefix + served.model)
  const mapped = row && resolveModelMapping(row.mapping, row.model)
  const last = mapped?.ok ? mapped.model : name
  const known = parametersOf(last)
  const table = deps.options.get('ModelCapabilities')
  return {
    ...known,
    context: known.context ?? (await contextWindow(last)) ?? null,
    ...capabilitiesIn(table, last),
    ...capabilitiesIn(table, model),
  }
}

/** Enabled models that no table prices, whatever a fallback or the self-use mode makes of them. */
export async function listUnsetModels(deps: UserDeps): Promise<string[]> {
  const { options } = deps
  const unset = (await enabledAbilities(deps)).filter(
    ({ model, mapping, task }) => !task && !isInPriceTables(options, pricedName(options, model, mapping)),
  )
  return [...new Set(unset.map(({ model }) => model))]
}

/** List prices of the public catalogue, as the ratios that would be entered on this site; null where it knows none. */
export function catalogPrices(
  { options }: Pick<Deps, 'options'>,
  input: CatalogPrices,
): Promise<{ model: string; price: CatalogPrice | null }[]> {
  const quotaPerUnit = options.get('QuotaPerUnit')
  return Promise.all(
    input.models.map(async (model) => {
      const listed = await catalogPrice(model)
      if (!listed) return { model, price: null }
      return {
        model,
        price: { ...listed, modelRatio: dollarsToRatio(ratioToDollars(listed.modelRatio), quotaPerUnit) },
      }
    }),
  )
}
