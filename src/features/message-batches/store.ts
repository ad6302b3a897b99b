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
  created_at: string
  settled_at: string | null
}

const toBatch = (row: Row): StoredBatch => ({
  id: row.id,
  userId: row.user_id,
  tokenId: row.token_id,
  channelId: row.channel_id,
  keyHmac: row.key_hmac,
  facts: row.facts,
  answer: row.answer,
  createdAt: new Date(row.created_at),
  settledAt: row.settled_at === null ? null : new Date(row.settled_at),
})

const intentPrefix = 'creating:'
const isNamed = `id not like '${intentPrefix}%'`

/** Under which name a call's batch stands before its upstream has given it one. */
export const intentOf = (callId: string): string => intentPrefix + callId

/** It was sent, and nobody knows yet what its upstream calls it. */
export const isIntent = ({ id }: Pick<StoredBatch, 'id'>): boolean => id.startsWith(intentPrefix)

type NewBatch = Omit<StoredBatch, 'createdAt' | 'settledAt' | 'answer'>

/**
 * Remembers a batch before an upstream is asked to take it, and makes its holds the database's own: from here on it is charged
 * or given back whatever becomes of this process. Both or neither. Each attempt does so anew.
 * @throws when a hold is not there any more.
 */
export async function storeIntent({ database }: Pick<Services, 'database'>, batch: NewBatch): Promise<void> {
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
       values (?, ?, ?, ?, ?, ?::jsonb, '{}')
       on conflict (id) do update set channel_id = excluded.channel_id, key_hmac = excluded.key_hmac, facts = excluded.facts,
         created_at = excluded.created_at`,
      [batch.id, batch.userId, batch.tokenId, batch.channelId, batch.keyHmac, asJson(batch.facts)],
    )
  })
}

type Named = { intent: string; userId: number; facts: BatchFacts; answer: Json & { id: string } }

/**
 * An upstream has taken the batch and named it; its holds are not this process's any more.
 * @throws when nothing is known of it, or the name is another's.
 */
export async function nameBatch(
  { database, ledger }: Pick<Services, 'database' | 'ledger'>,
  { intent, userId, facts, answer }: Named,
): Promise<void> {
  // It may have been found by its name already, where this process was taken for dead.
  const { rowCount } = await database.pool.query(
    `update message_batches set id = $1, facts = $4::jsonb, answer = $5::jsonb
     where id = any (array[$1, $2]) and user_id = $3 and facts #>> '{shares,0,holdId}' = $6`,
    [answer.id, intent, userId, asJson(facts), asJson(answer), facts.shares[0]?.holdId],
  )
  if (rowCount !== 1) throw new Error('a batch was taken that is not expected any more')
  ledger.handOver(facts.shares.map(({ holdId }) => holdId))
}

/** No upstream has taken it, and what was set aside for it is given back. */
export async function forgetIntent(pool: Pool, id: string): Promise<void> {
  await pool.query('delete from message_batches where id = $1', [id])
}

/** The batch that a lost one turned out to be. */
export async function adoptBatch(pool: Pool, intent: StoredBatch, answer: Json & { id: string }): Promise<StoredBatch> {
  const { intent: _, ...facts } = intent.facts
  const { rowCount } = await pool.query(
    "update message_batches set id = $2, facts = facts - 'intent', answer = $3::jsonb where id = $1",
    [intent.id, answer.id, asJson(answer)],
  )
  if (rowCount !== 1) throw new Error('the batch was named meanwhile')
  return { ...intent, id: answer.id, facts, answer }
}

/** Which of these names are known, of whomever. */
export async function knownBatches(pool: Pool, ids: readonly string[]): Promise<Set<string>> {
  const { rows } = await pool.query<{ id: string }>('select id from message_batches where id = any ($1::text[])', [ids])
  return new Set(rows.map(({ id }) => id))
}

/** How many calls of this key were lost with the same names of requests: the caller's own, this one among them, and others'. */
export async function countTwins(
  pool: Pool,
  { userId, keyHmac, facts }: StoredBatch,
): Promise<{ own: number; others: number }> {
  const { rows } = await pool.query<{ own: number; others: number }>(
    `select count(*) filter (where user_id = $1)::int as own, count(*) filter (where user_id <> $1)::int as others
     from message_batches where settled_at is null and not (${isNamed}) and key_hmac = $2
       and facts #>> '{intent,customIds}' = $3`,
    [userId, keyHmac, facts.intent?.customIds],
  )
  return rows[0] ?? { own: 0, others: 0 }
}

const asJson = (value: unknown): string => storableJson(JSON.stringify(value))

/** The names of up to 100,000 requests are read only where they are charged. */
const columns = `id, user_id, token_id, channel_id, key_hmac, answer, created_at, settled_at, facts || jsonb_build_object('shares',
  (select coalesce(jsonb_agg(share - 'customIds' - 'promptTokens' order by number), '[]')
   from jsonb_array_elements(facts -> 'shares') with ordinality as s (share, number))) as facts`

type Owner = { holdId: string; promptTokens: number }

/** By which hold a request is charged, and what it brought along; nothing for one that the batch does not have. */
export async function findOwners(pool: Pool, { id }: StoredBatch): Promise<(customId: string) => Owner | undefined> {
  const { rows } = await pool.query<{ facts: BatchFacts }>('select facts from message_batches where id = $1', [id])
  const shares = rows[0]?.facts.shares ?? []
  const owners = new Map<string, Owner>()
  for (const { holdId, customIds = [], promptTokens = [] } of shares)
    for (const [index, customId] of customIds.entries())
      owners.set(customId, { holdId, promptTokens: promptTokens[index] ?? 0 })
  const [first] = shares
  const other = first && !first.customIds ? { holdId: first.holdId, promptTokens: 0 } : undefined
  return (customId) => owners.get(customId) ?? other
}

/** A user's own batch. */
export async function findBatch(
  pool: Pool,
  { id, userId }: { id: string; userId: number },
): Promise<StoredBatch | undefined> {
  const { rows } = await pool.query<Row>(
    `select ${columns} from message_batches where id = $1 and user_id = $2 and ${isNamed}`,
    [id, userId],
  )
  return rows.map(toBatch)[0]
}

type Page = { userId: number; limit: number; after?: string | undefined; before?: string | undefined }

/** A user's batches as their upstreams described them last, the latest first. */
export async function listBatches(pool: Pool, page: Page): Promise<{ answers: Json[]; hasMore: boolean }> {
  const { userId, limit, after = null, before = null } = page
  const backwards = after === null && before !== null
  const { rows } = await pool.query<{ answer: Json }>(
    `select answer from message_batches b where user_id = $1 and ${isNamed}
       and ($2::text is null or (created_at, id) < (select created_at, id from message_batches where id = $2 and user_id = $1))
       and ($3::text is null or (created_at, id) > (select created_at, id from message_batches where id = $3 and user_id = $1))
     order by ${backwards ? 'created_at, id' : 'created_at desc, id desc'} limit $4`,
    [userId, after, before, limit + 1],
  )
  const answers = rows.slice(0, limit).map(({ answer }) => answer)
  return { answers: backwards ? answers.toReversed() : answers, hasMore: rows.length > limit }
}

/** What an upstream says of a batch now. Processes ask beside each other: once it has ended, no answer from before takes that back. */
export async function noteBatch(pool: Pool, { id, answer }: { id: string; answer: Json }): Promise<void> {
  await pool.query(
    `update message_batches set answer = $2::jsonb, polled_at = now() where id = $1
       and ($2::jsonb ->> 'processing_status' = 'ended' or answer ->> 'processing_status' is distinct from 'ended')`,
    [id, asJson(answer)],
  )
}

/** Looked at without news, so that the others have their turn; not again before `waitMs` have passed. Locked in order. */
export async function noteLook(pool: Pool, ids: readonly string[], waitMs = 0): Promise<void> {
  await pool.query(
    `update message_batches set polled_at = now() + make_interval(secs => $2)
     where id in (select id from message_batches where id = any ($1::text[]) order by id for no key update)`,
    [ids, waitMs / 1000],
  )
}

/** The upstream has deleted it. */
export async function forgetBatch(pool: Pool, id: string): Promise<void> {
  await pool.query('delete from message_batches where id = $1 and settled_at is not null', [id])
}

/**
 * Batches that nobody has settled and whose turn it is, those not looked at for longest first. One of ten minutes is looked at in each
 * round, then the more seldom the older it is, up to every ten minutes: a vendor limits the requests about batches, too.
 */
export async function findUnsettled(pool: Pool, most: number): Promise<StoredBatch[]> {
  const { rows } = await pool.query<Row>(
    `select ${columns} from message_batches
     where settled_at is null and (polled_at is null or polled_at < now() - greatest(interval '0',
       least(interval '10 minutes', (now() - created_at - interval '10 minutes') / 20)))
     order by polled_at nulls first limit $1`,
    [most],
  )
  return rows.map(toBatch)
}

/** Which of these holds are still to be settled: that a batch's hold is gone says that its charge was committed. */
export async function openHolds(pool: Pool, ids: readonly string[]): Promise<Set<string>> {
  const { rows } = await pool.query<{ id: string }>(
    `select id from holds h where id = any ($1::text[]) and status = 'open'
       and not exists (select 1 from failed_charges f where f.id = h.id)`,
    [ids],
  )
  return new Set(rows.map(({ id }) => id))
}

export async function markSettled(pool: Pool, id: string): Promise<void> {
  await pool.query('update message_batches set settled_at = now() where id = $1', [id])
}
