import { retirementOf } from '#core/models/retirements.ts'
import type { OptionsReader } from '#core/options/registry/index.ts'
import { isInPriceTables, priceOf, priceTablesOf, taskPriceOf } from '#core/pricing/price-of.ts'
import { completionRuleOf } from '#core/pricing/completion-rules.ts'
import { splitList } from '#core/routing/abilities.ts'
import { Channel } from '#db/entities/channel.ts'
import type { UserDeps } from '#features/deps.ts'
import { pricedName, taskTypes } from '#features/models/priced-name.ts'
import { toPriceView } from '#features/models/view.ts'

type PriceRow = {
  model: string
  /** What a call is charged by; null where it would be refused. */
  price: ReturnType<typeof toPriceView> | null
  /** A row of the tables bears the model's own name, so it can be changed and taken away. */
  isListed: boolean
  /** A rule by the model's name fixes the completion ratio. */
  isCompletionLocked: boolean
  /** Places of the channels in `channels` that name the model. */
  channels: number[]
  /** An enabled channel serves it, and no table prices it: its calls are refused, or charged by a fallback. */
  isMissing: boolean
  retires: Date | null
  successor: string | null
}

export type PriceList = { channels: { id: number; name: string; status: number }[]; rows: PriceRow[] }

/** Every model that a table prices or a channel names. */
export async function listPrices({ em, options }: UserDeps): Promise<PriceList> {
  const channels = await em.find(Channel, {}, { orderBy: { id: 'asc' }, disableIdentityMap: true })
  const rows = new Map<string, PriceRow>()
  const rowOf = (model: string, price: () => PriceRow['price']): PriceRow => {
    const known = rows.get(model)
    if (known) return known
    const row = newRow(model, price())
    rows.set(model, row)
    return row
  }
  channels.forEach((channel, place) => {
    const isTask = taskTypes.has(channel.type)
    for (const model of splitList(channel.models)) {
      const priced = pricedName(options, model, channel.modelMapping)
      const row = rowOf(model, () => (isTask ? viewOfTask(options, model) : viewOf(options, priced)))
      row.channels.push(place)
      row.isMissing ||= channel.status === 1 && !isTask && !isInPriceTables(options, priced)
    }
  })
  const tables = priceTablesOf(options)
  for (const model of new Set([...Object.keys(tables.ModelPrice), ...Object.keys(tables.ModelRatio)])) {
    rowOf(model, () => viewOf(options, model)).isListed = true
  }
  return {
    channels: channels.map(({ id, name, status }) => ({ id, name, status })),
    rows: [...rows.values()].toSorted((left, right) => (left.model < right.model ? -1 : 1)),
  }
}

function newRow(model: string, price: PriceRow['price']): PriceRow {
  const retirement = retirementOf(model)
  return {
    model,
    price,
    isListed: false,
    isCompletionLocked: !model.includes('/') && completionRuleOf(model)?.locked === true,
    channels: [],
    isMissing: false,
    retires: retirement?.retires ?? null,
    successor: retirement?.successor ?? null,
  }
}

const viewOf = (options: OptionsReader, model: string): PriceRow['price'] => {
  const price = priceOf(options, { model, acceptUnset: false })
  return price ? toPriceView(price) : null
}

const viewOfTask = (options: OptionsReader, model: string): PriceRow['price'] =>
  toPriceView(taskPriceOf(options, { model, mode: '' }))
