import { cappedRow } from './bare-row.ts'
import type { EndOfHold } from './ending.ts'

/** One end of a hold as `ledger_settle` reads it. */
export const toSettleJson = (item: EndOfHold, leased = false): unknown =>
  'release' in item
    ? { ...item, channelId: 0, quota: 0, counted: false, log: false, leased }
    : { ...cappedRow(item), release: false, voids: false, leased }
