import type { Pool } from 'pg'
import { storableJson } from '#core/storable-json.ts'
import { logType } from '#core/statuses.ts'
import type { LogOther } from '#db/entities/log.ts'
import { batchFaultOf } from '#features/ledger/batch-fault.ts'
import { createBatchQueue } from '#features/ledger/batch-queue.ts'

/** An attempt or a call that failed. */
export type FailureRow = {
  failed: 'attempt' | 'call'
  /** Becomes a row of the log, which costs nothing; counted it is in any case. */
  logged: boolean
  userId: number
  content: string
  username: string
  tokenName: string
  tokenId: number
  modelName: string
  useTimeMs: number
  isStream: boolean
  channelId: number
  group: string
  clientIp: string
  requestId: string
  other: LogOther
}

export type FailureLog = {
  /** Takes a row to be written soon; it is dropped, and counted, when too much waits or the database does not take it. */
  add: (row: FailureRow) => void
  /** Waits until everything taken so far is written or dropped. */
  flushed: () => Promise<void>
}

const mostWaiting = 5000
/** Rows are dropped by the hundred. */
const reportAfterMs = 1000

/** Gathers failures: one statement at a time, for all that came meanwhile. No bill hangs on them. */
export function createFailureLog(
  pool: Pool,
  /** Receives how many rows were dropped since it last did. */
  onDropped: (dropped: number, error: unknown) => void,
): FailureLog {
  const queue = createBatchQueue((rows: FailureRow[]) => insertRows(pool, rows), {
    nameOf: () => 'rows of failed attempts',
    largestBatch: 200,
    mostWaiting,
    faultOf: batchFaultOf,
  })
  const pending = new Set<Promise<void>>()
  let dropped = 0

  const drop = (error: unknown): void => {
    dropped += 1
    if (dropped > 1) return
    const report = (): void => {
      onDropped(dropped, error)
      dropped = 0
    }
    setTimeout(report, reportAfterMs).unref()
  }

  return {
    add: (row) => {
      const work: Promise<void> = queue
        .add(row)
        .catch(drop)
        .finally(() => pending.delete(work))
      pending.add(work)
    },
    flushed: async () => {
      while (pending.size > 0) await Promise.all(pending)
    },
  }
}

async function insertRows(pool: Pool, rows: FailureRow[]): Promise<void[]> {
  await pool.query({
    name: 'failures',
    text: `with r as materialized (select * from json_to_recordset($1::json) as r(failed text, logged boolean, "userId" int,
        content text, username text, "tokenName" text, "tokenId" int, "modelName" text, "useTimeMs" int, "isStream" boolean,
        "channelId" int, "group" text, "clientIp" text, "requestId" text, other jsonb)),
      counted as (insert into failures_hourly as totals (hour, user_id, model_name, channel_id, token_id, "group", calls, attempts)
        select date_trunc('hour', now()), "userId", "modelName", "channelId", "tokenId", "group",
          count(*) filter (where failed = 'call'), count(*) filter (where failed = 'attempt')
        from r group by "userId", "modelName", "channelId", "tokenId", "group"
        order by "userId", "modelName", "channelId", "tokenId", "group"
        on conflict (hour, user_id, model_name, channel_id, token_id, "group") do update set
          calls = totals.calls + excluded.calls, attempts = totals.attempts + excluded.attempts)
      insert into logs (user_id, type, content, username, token_name, token_id, model_name, use_time_ms, is_stream,
        channel_id, "group", client_ip, request_id, other)
      select r."userId", $2, r.content, r.username, r."tokenName", r."tokenId", r."modelName", r."useTimeMs", r."isStream",
        r."channelId", r."group", r."clientIp", r."requestId", r.other
      from r where r.logged`,
    values: [storableJson(JSON.stringify(rows)), logType.error],
  })
  return rows.map(() => undefined)
}
