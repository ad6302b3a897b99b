import type { Pool } from 'pg'
import { storableJson } from '#core/storable-json.ts'
import type { Services } from '#features/deps.ts'
import type { BatchFacts } from './facts.ts'

export type Json = Record<string, unknown>

export type StoredBatch = {
  id: string
  userId: number
  tokenId: number
  channelId: number
  keyHmac: string
  facts: BatchFacts
  /** As the upstream described it last. */
  answer: Json
  createdAt: Date
  settledAt: Date | null
}

type Row = {
  id: string
  user_id: number
  token_id: number
  channel_id: number
  key_hmac: string
  facts: BatchFacts
  answer: Json
  created_at: Date
  settled_at: Date | null
}

const toBatch = (row: Row): StoredBatch => ({
  id: row.id,
  userId: row.user_id,
  tokenId: row.token_id,
  channelId: row.channel_id,
  keyHmac: row.key_hmac,
  facts: row.facts,
  answer: row.answer,
  createdAt: row.created_at,
  settledAt: row.settled_at,
})

/**
 * Remembers a batch that an upstream has taken, and makes its holds the database's own: from here on it is charged whatever
 * becomes of this process. Both or neither.
 * @throws when a hold is not there any more, or the id is known already.
 */
export async function storeBatch(
  { database, ledger }: Pick<Services, 'database' | 'ledger'>,
  batch: Omit<StoredBatch, 'createdAt' | 'settledAt'>,
): Promise<void> {
  const holdIds = batch.facts.shares.map(({ holdId }) => holdId)
  await database.orm.em.fork().transactional(async (tx) => {
    const execute = (sql: string, values: unknown[]): Promise<unknown[]> =>
      tx.getConnection().execute(sql, values, 'all', tx.getTransactionContext())
    const held = await execute(
      `update holds set node_id = 0 where id in (${holdIds.map(() => '?').join(', ')}) and status = 'open' returning id`,
      holdIds,
    )
    if (held.length !== holdIds.length) throw new Error('what is set aside for a batch was given back')
    await execute(
      `insert into message_batches (id, user_id, token_id, channel_id, key_hmac, facts, answer)
       values (?, ?, ?, ?, ?, ?::jsonb, ?::jsonb)`,
      [
        batch.id,
        batch.userId,
        batch.tokenId,
        batch.channelId,
        batch.keyHmac,
        asJson(batch.facts),
        asJson(batch.answer),
      ],
    )
  })
  ledger.handOver(holdIds)
}

const asJson = (value: unknown): string => storableJson(JSON.stringify(value))

const columns = 'id, user_id, token_id, channel_id, key_hmac, facts, answer, created_at, settled_at'

/** A user's own batch. */
export async function findBatch(
  pool: Pool,
  { id, userId }: { id: string; userId: number },
): Promise<StoredBatch | undefined> {
  const { rows } = await pool.query<Row>(`select ${columns} from message_batches where id = $1 and user_id = $2`, [
    id,
    userId,
  ])
  return rows.map(toBatch)[0]
}

type Page = { userId: number; limit: number; after?: string | undefined; before?: string | undefined }

/** A user's batches as their upstreams described them last, the latest first. */
export async function listBatches(pool: Pool, page: Page): Promise<{ answers: Json[]; hasMore: boolean }> {
  const { userId, limit, after = null, before = null } = page
  const backwards = after === null && before !== null
  const { rows } = await pool.query<{ answer: Json }>(
    `select answer from message_batches b where user_id = $1
       and ($2::text is null or (created_at, id) < (select created_at, id from message_batches where id = $2 and user_id = $1))
       and ($3::text is null or (created_at, id) > (select created_at, id from message_batches where id = $3 and user_id = $1))
     order by ${backwards ? 'created_at, id' : 'created_at desc, id desc'} limit $4`,
    [userId, after, before, limit + 1],
  )
  const answers = rows.slice(0, limit).map(({ answer }) => answer)
  return { answers: backwards ? answers.toReversed() : answers, hasMore: rows.length > limit }
}

/** What an upstream says of a batch now. */
export async function noteBatch(pool: Pool, { id, answer }: { id: string; answer: Json }): Promise<void> {
  await pool.query('update message_batches set answer = $2::jsonb, polled_at = now() where id = $1', [
    id,
    asJson(answer),
  ])
}

/** Looked at without news, so that the others have their turn. */
export async function noteLook(pool: Pool, ids: readonly string[]): Promise<void> {
  await pool.query('update message_batches set polled_at = now() where id = any ($1::text[])', [ids])
}

/** The upstream has deleted it. */
export async function forgetBatch(pool: Pool, id: string): Promise<void> {
  await pool.query('delete from message_batches where id = $1 and settled_at is not null', [id])
}

/** Batches that nobody has settled, those not looked at for longest first. */
export async function findUnsettled(pool: Pool, most: number): Promise<StoredBatch[]> {
  const { rows } = await pool.query<Row>(
    `select ${columns} from message_batches where settled_at is null order by polled_at nulls first limit $1`,
    [most],
  )
  return rows.map(toBatch)
}

/** Which of these holds are still to be settled: that a batch's hold is gone says that its charge was committed. */
export async function openHolds(pool: Pool, ids: readonly string[]): Promise<Set<string>> {
  const { rows } = await pool.query<{ id: string }>(
    "select id from holds where id = any ($1::text[]) and status = 'open'",
    [ids],
  )
  return new Set(rows.map(({ id }) => id))
}

export async function markSettled(pool: Pool, id: string): Promise<void> {
  await pool.query('update message_batches set settled_at = now() where id = $1', [id])
}
