import { leanOther } from '#core/log-other.ts'
import { cappedRow } from './bare-row.ts'
import type { ChargeRow } from './charge-row.ts'
import type { EndOfHold } from './ending.ts'

/** One end of a hold as `ledger_settle` reads it. */
export const toSettleJson = (item: EndOfHold, leased = false): unknown =>
  'release' in item
    ? { ...item, channelId: 0, quota: 0, counted: false, log: false, leased }
    : { ...storedRow(item), release: false, voids: false, leased }

/** Lean by the very name that stands in the row, by which it is read again. */
function storedRow(row: ChargeRow): ChargeRow {
  const capped = cappedRow(row)
  return { ...capped, other: leanOther(capped.other, capped.modelName) }
}
