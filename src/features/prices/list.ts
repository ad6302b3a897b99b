import { taskTypes } from '#core/channel-types/index.ts'
import { retirementOf } from '#core/models/retirements.ts'
import type { OptionsReader } from '#core/options/registry/index.ts'
import { isInPriceTables, priceOf, priceTablesOf, taskPriceOf } from '#core/pricing/price-of.ts'
import { entriesOf } from '#core/pricing/price-changes.ts'
import { completionRuleOf } from '#core/pricing/completion-rules.ts'
import { splitList } from '#core/routing/abilities.ts'
import type { UserDeps } from '#features/deps.ts'
import { pricedName } from '#features/models/priced-name.ts'
import { toPriceView } from '#features/models/view.ts'

type PriceRow = {
  model: string
  /** What a call is charged by; null where it would be refused. */
  price: ReturnType<typeof toPriceView> | null
  /** What the tables say of it, to be given back with a change. */
  entries: string
  /** A row of the tables bears the model's own name, so it can be changed and taken away. */
  isListed: boolean
  /** A rule by the model's name fixes the completion ratio. */
  isCompletionLocked: boolean
  /** Places in `channels` of the first channels that name the model. */
  channels: number[]
  /** How many name it. */
  channelCount: number
  /** An enabled channel serves it, and no table prices it: its calls are refused, or charged by a fallback. */
  isMissing: boolean
  retires: Date | null
  successor: string | null
}

export type PriceList = { channels: { id: number; name: string; status: number }[]; rows: PriceRow[] }

/** More than anybody reads beside a model. */
const mostChannelsNamed = 20

type ChannelRow = { id: number; name: string; status: number; type: number; models: string; mapping: string }

/** Every model that a table prices or a channel names. */
export async function listPrices({ database, options }: UserDeps): Promise<PriceList> {
  const { rows: channels } = await database.pool.query<ChannelRow>(
    'select id, name, status, type, models, model_mapping as mapping from channels order by id',
  )
  const modelsOf = remembered(splitList)
  // Thousands of channels share few mappings, and so the prices of their models.
  const isUnpriced = remembered((model: string) => !isInPriceTables(options, model))
  const tables = priceTablesOf(options)
  const rows = new Map<string, PriceRow>()
  const rowOf = (model: string, price: () => PriceRow['price']): PriceRow => {
    const known = rows.get(model)
    if (known) return known
    const row = { ...newRow(model, price()), entries: entriesOf(tables, model) }
    rows.set(model, row)
    return row
  }
  channels.forEach((channel, place) => {
    const isTask = taskTypes.has(channel.type)
    for (const model of modelsOf(channel.models)) {
      const priced = pricedName(options, model, channel.mapping)
      const row = rowOf(model, () => (isTask ? viewOfTask(options, model) : viewOf(options, priced)))
      row.channelCount += 1
      if (row.channels.length < mostChannelsNamed) row.channels.push(place)
      row.isMissing ||= channel.status === 1 && !isTask && isUnpriced(priced)
    }
  })
  for (const model of new Set([...Object.keys(tables.ModelPrice), ...Object.keys(tables.ModelRatio)])) {
    rowOf(model, () => viewOf(options, model)).isListed = true
  }
  return {
    channels: channels.map(({ id, name, status }) => ({ id, name, status })),
    rows: [...rows.values()].toSorted((left, right) => (left.model < right.model ? -1 : 1)),
  }
}

/** The same answer for the same text, worked out once. */
function remembered<Answer>(work: (text: string) => Answer): (text: string) => Answer {
  const known = new Map<string, Answer>()
  return (text) => {
    if (!known.has(text)) known.set(text, work(text))
    return known.get(text) as Answer
  }
}

function newRow(model: string, price: PriceRow['price']): Omit<PriceRow, 'entries'> {
  const retirement = retirementOf(model)
  return {
    model,
    price,
    isListed: false,
    isCompletionLocked: !model.includes('/') && completionRuleOf(model)?.locked === true,
    channels: [],
    channelCount: 0,
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
