import { setImmediate as turn } from 'node:timers/promises'
import pg, { type PoolClient } from 'pg'
import type { OptionKey, OptionsReader, OptionValues } from '#core/options/registry/index.ts'
import { chargedGroupRatio, priceOf, taskPriceOf, priceTablesOf } from '#core/pricing/price-of.ts'
import { expandReceipt } from '#core/log-other.ts'
import { costOf } from '#core/pricing/buying-price.ts'
import { quotaOfReceipt } from '#core/pricing/charge.ts'
import { imageReceipt } from '#core/pricing/images.ts'
import { type PriceChange, withPriceChange } from '#core/pricing/price-changes.ts'
import { type Receipt, receipt as receiptSchema } from '#core/pricing/receipt.ts'
import { taskReceipt } from '#core/pricing/tasks.ts'
import { logType } from '#core/statuses.ts'
import { inTransaction } from '#db/transaction.ts'
import type { UserDeps } from '#features/deps.ts'
import type { Rehearse } from './schema.ts'

const portion = 500
/** Beyond this a rehearsal says where it stopped. */
const mostCalls = 500_000
const mostUsers = 20
const mostModels = 50

type Row = {
  user_id: number
  username: string
  model_name: string
  group: string
  quota: string
  cost: string | null
  receipt: unknown
  lean: boolean
  upstream: string | null
  own_cost: string | null
  share: string | null
  user_group: string | null
  accepts: boolean | null
}

const text = `select l.user_id, l.username, l.model_name, l."group", l.quota, l.cost, l.other -> 'receipt' as receipt, l.other -> 'lean' is not null as lean,
    l.other ->> 'upstream_model_name' as upstream, l.other -> 'admin_info' ->> 'cost' as own_cost,
    l.other -> 'admin_info' ->> 'cost_share' as share, u."group" as user_group,
    (u.setting ->> 'accept_unset_model_ratio_model')::boolean as accepts
  from logs l left join users u on u.id = l.user_id
  where l.type = ${logType.consume} and l.created_at >= $1
  order by l.created_at desc, l.id desc`

/** Money of some calls: what was charged, what it cost, and how much of the charge has a known cost. */
type Money = { quota: number; cost: number; costedQuota: number }

export type Rehearsal = {
  /** What was replayed: from here to now. */
  from: Date
  calls: number
  /** False where there were more calls than a rehearsal reads. */
  complete: boolean
  before: Money
  after: Money
  /** Who would pay most more, or less. */
  users: { userId: number; username: string; before: number; after: number }[]
  models: { model: string; calls: number; before: number; after: number }[]
  /** Models whose calls would be refused. */
  unpriced: { model: string; calls: number; quota: number }[]
  /** Calls whose row does not say what was used; they are taken as they were. */
  unchanged: number
}

/** The options as they would be. */
function readerAfter(options: OptionsReader, change: PriceChange): OptionsReader {
  const tables = withPriceChange({ ...priceTablesOf(options), GroupRatio: options.get('GroupRatio') }, change)
  return {
    get: <Key extends OptionKey>(key: Key) =>
      (Object.hasOwn(tables, key) ? tables[key as keyof typeof tables] : options.get(key)) as OptionValues[Key],
  }
}

/** The last days of traffic under other prices, worked out of what each call used by the very formulas that charge calls. */
export async function rehearse(deps: UserDeps, { change, days }: Rehearse): Promise<Rehearsal> {
  const from = new Date(deps.ambient.now().getTime() - days * 86_400_000)
  const reader = readerAfter(deps.options, change)
  const tally = createTally()
  const replayAll = async (client: PoolClient): Promise<void> => {
    await client.query(`declare replayed no scroll cursor for ${text}`, [from])
    for (;;) {
      const rows = await nextRows(client)
      for (const row of rows) tally.add(row, replay(reader, row, change))
      if (rows.length < portion || tally.calls() >= mostCalls) break
      await turn()
    }
  }
  await inTransaction(deps.database.pool, replayAll, 'begin read only')
  return { from, ...tally.result() }
}

const nextRows = async (client: PoolClient): Promise<Row[]> =>
  (await client.query<Row>({ text: `fetch ${portion} from replayed`, types: pg.types })).rows

type Replayed = { quota: number; cost: number | null } | 'refused' | 'unknown'

/** What a call would have been charged, and have cost. */
function replay(reader: OptionsReader, row: Row, change: PriceChange): Replayed {
  const cost = row.cost === null ? null : Number(row.cost)
  // Nothing was used or delivered: nothing is charged under any price.
  if (row.receipt === null && Number(row.quota) === 0) return { quota: 0, cost }
  const read = receiptSchema.safeParse(row.lean ? expandReceipt(row.receipt, row.model_name) : row.receipt)
  if (!read.success) return 'unknown'
  const next = receiptUnder(reader, row, { receipt: read.data, change })
  if (!next) return 'refused'
  return { quota: quotaOfReceipt(next), cost: cost === null ? null : cost + costDifference(row, next) }
}

/** A share of the list price follows the list price. */
function costDifference({ share, own_cost: own }: Row, next: Receipt): number {
  if (share === null || own === null) return 0
  return costOf({ kind: 'share', share: Number(share) }, next) - Number(own)
}

function receiptUnder(
  reader: OptionsReader,
  row: Row,
  { receipt, change }: { receipt: Receipt; change: PriceChange },
): Receipt | undefined {
  const groups = { userGroup: row.user_group ?? '', usedGroup: row.group }
  const isGroupTouched = Object.hasOwn(change.groupRatios, row.group)
  const groupRatio = isGroupTouched ? chargedGroupRatio(reader, groups).ratio : receipt.groupRatio
  const { quotaPerUnit, pricedModel } = receipt
  const terms = { groupRatio, quotaPerUnit, pricedModel }
  if (receipt.formula === 'task') {
    return taskReceipt({
      action: receipt.action,
      price: taskPriceOf(reader, { model: row.model_name, mode: '', pricedModel }),
      ...terms,
    })
  }
  const model = pricedModel ?? row.upstream ?? row.model_name
  // Whoever was served without a price is served so again, as long as they accept it.
  const price = priceOf(reader, { model, acceptUnset: row.accepts ?? false })
  if (!price) return undefined
  if (receipt.formula !== 'image') return { ...receipt, ...terms, price }
  const { size, quality, count } = receipt
  return imageReceipt({ model, size, quality, count, price, ...terms })
}

function createTally() {
  const before: Money = { quota: 0, cost: 0, costedQuota: 0 }
  const after: Money = { quota: 0, cost: 0, costedQuota: 0 }
  const users = new Map<number, Rehearsal['users'][number]>()
  const models = new Map<string, Rehearsal['models'][number]>()
  const unpriced = new Map<string, Rehearsal['unpriced'][number]>()
  let calls = 0
  let unchanged = 0

  const book = (money: Money, quota: number, cost: number | null): void => {
    money.quota += quota
    if (cost === null) return
    money.cost += cost
    money.costedQuota += quota
  }

  return {
    calls: () => calls,
    add: (row: Row, replayed: Replayed): void => {
      calls += 1
      const quota = Number(row.quota)
      const cost = row.cost === null ? null : Number(row.cost)
      if (replayed === 'unknown') unchanged += 1
      const next =
        replayed === 'unknown' ? { quota, cost } : replayed === 'refused' ? { quota: 0, cost: null } : replayed
      book(before, quota, cost)
      book(after, next.quota, next.cost)
      const user = users.get(row.user_id) ?? { userId: row.user_id, username: row.username, before: 0, after: 0 }
      users.set(row.user_id, { ...user, before: user.before + quota, after: user.after + next.quota })
      const model = models.get(row.model_name) ?? { model: row.model_name, calls: 0, before: 0, after: 0 }
      models.set(row.model_name, {
        ...model,
        calls: model.calls + 1,
        before: model.before + quota,
        after: model.after + next.quota,
      })
      if (replayed !== 'refused') return
      const refused = unpriced.get(row.model_name) ?? { model: row.model_name, calls: 0, quota: 0 }
      unpriced.set(row.model_name, { ...refused, calls: refused.calls + 1, quota: refused.quota + quota })
    },
    result: () => ({
      calls,
      complete: calls < mostCalls,
      before,
      after,
      users: hardestHit(users.values()).slice(0, mostUsers),
      models: hardestHit(models.values()).slice(0, mostModels),
      unpriced: [...unpriced.values()].toSorted((left, right) => right.quota - left.quota),
      unchanged,
    }),
  }
}

const difference = ({ before, after }: { before: number; after: number }): number => Math.abs(after - before)

const hardestHit = <Item extends { before: number; after: number }>(items: Iterable<Item>): Item[] =>
  [...items].filter((item) => difference(item) > 0).toSorted((left, right) => difference(right) - difference(left))
