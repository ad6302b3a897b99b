import type { Pool } from 'pg'
import { parseExactly } from '#core/exact-json.ts'
import type { Secrets } from '#features/secrets/service.ts'
import { largestText, sealText, unsealText } from './sealed-text.ts'
import { removeInPortions } from '#features/retention/portions.ts'

type Item = Record<string, unknown>

/** One turn: what its call brought along itself, and the response it was answered with. */
export type StoredTurn = { input: Item[]; response: Record<string, unknown> }

type Deps = { pool: Pool; secrets: Secrets }

/** A conversation that takes more is not taken up again. */
export const largestConversation = 64 * 1024 * 1024
const longestConversation = 2000

type Unsealed = { turn: StoredTurn; bytes: number }

async function unseal({ secrets }: Deps, sealed: string): Promise<Unsealed | undefined> {
  const found = await unsealText(secrets, sealed)
  return found && { turn: parseExactly(found.text) as StoredTurn, bytes: found.bytes }
}

/** Makes sure of memory before that much is read. */
export type HoldMemory = (bytes: number) => Promise<void> | undefined

type SealedRow = { bytes: number; sealed: string }

/** Each turn in its place. Stops at the first beyond what a conversation may take: rows of old say only their packed size. */
async function* unsealEach(
  deps: Deps,
  { rows, hold }: { rows: readonly SealedRow[]; hold: HoldMemory },
): AsyncGenerator<StoredTurn | undefined> {
  await hold(rows.reduce((sum, { bytes }) => sum + bytes, 0))
  let taken = 0
  for (const { sealed } of rows) {
    const found = await unseal(deps, sealed)
    taken += found?.bytes ?? 0
    await hold(taken)
    yield taken > largestConversation ? undefined : found?.turn
    if (taken > largestConversation) return
  }
}

type Stored = {
  userId: number
  id: string
  previousId: string | null
  /** The turns it goes on from, which live on with it. */
  chain: readonly string[]
  itemIds: readonly string[]
  turn: StoredTurn
  /** What one user's answers may take; the oldest make room. */
  mostBytes: number
}

/** Keeps a turn for its user. False where it is too large to keep. */
export async function keepResponse(deps: Deps, stored: Stored): Promise<boolean> {
  const text = JSON.stringify(stored.turn)
  const length = Buffer.byteLength(text)
  const most = Math.min(largestText, stored.mostBytes)
  if (length > most) return false
  const sealed = await sealText(deps.secrets, text)
  // What it takes when it is read, or as it lies there.
  const bytes = Math.max(sealed.length, length)
  if (bytes > most) return false
  const { rowCount } = await deps.pool.query(
    // Calls of one user run beside each other: each locks its own turns in the order of their ids, and then makes room among
    // those that no other call is at, so none waits for another in a circle.
    `with used as materialized (update local_responses set used_at = now() where id in (
            select id from local_responses where user_id = $2 and id = any ($5::text[]) order by id for no key update)
          returning id),
          old as (select id from (
            select id, sum(bytes) over (order by used_at desc, id) as taken from local_responses where user_id = $2
          ) k where k.taken > $7::bigint - $6 and k.id <> all ($5::text[]) and (select count(*) from used) >= 0),
          room as (delete from local_responses where id in (
            select id from local_responses where id in (select id from old) order by id for update skip locked))
     insert into local_responses (id, user_id, previous_id, item_ids, bytes, sealed)
     values ($1, $2, $3, $4::text[], $6, $8) on conflict (id) do nothing`,
    [stored.id, stored.userId, stored.previousId, stored.itemIds, stored.chain, bytes, stored.mostBytes, sealed],
  )
  return rowCount === 1
}

type Owned = { userId: number; days: number; hold: HoldMemory }

/**
 * The turns up to a response of the user's, the oldest first. Nothing where there is no such response, or where a turn it
 * goes on from is gone.
 */
export async function findConversation(
  deps: Deps,
  { id, userId, days, hold }: Owned & { id: string },
): Promise<{ ids: string[]; turns: StoredTurn[] } | undefined> {
  const { rows } = await deps.pool.query<SealedRow & { id: string; previous_id: string | null }>(
    `with recursive chain as (
       select id, previous_id, bytes::bigint as taken, 1 as depth from local_responses
       where id = $1 and user_id = $2 and used_at > now() - make_interval(days => $3)
       union all
       select k.id, k.previous_id, chain.taken + k.bytes, chain.depth + 1 from chain
       join local_responses k on k.id = chain.previous_id and k.user_id = $2
       where chain.taken < $4 and chain.depth < $5)
     select k.id, k.previous_id, k.bytes, k.sealed from chain join local_responses k using (id) order by chain.depth desc`,
    [id, userId, days, largestConversation, longestConversation],
  )
  if (rows.length === 0 || rows[0]?.previous_id) return undefined
  const turns: StoredTurn[] = []
  for await (const turn of unsealEach(deps, { rows, hold })) {
    if (!turn) return undefined
    turns.push(turn)
  }
  return { ids: rows.map((row) => row.id), turns }
}

/** One turn of the user's, and the one it goes on from. */
export async function findTurn(
  deps: Deps,
  { id, userId, days, hold }: Owned & { id: string },
): Promise<StoredTurn | undefined> {
  const { rows } = await deps.pool.query<SealedRow>(
    'select bytes, sealed from local_responses where id = $1 and user_id = $2 and used_at > now() - make_interval(days => $3)',
    [id, userId, days],
  )
  return (await unsealEach(deps, { rows, hold }).next()).value ?? undefined
}

/** What the user was answered under these ids of items, in the latest turns that take no more than a conversation may. */
export async function findItems(
  deps: Deps,
  { ids, userId, days, hold }: Owned & { ids: readonly string[] },
): Promise<Map<string, Item>> {
  const { rows } = await deps.pool.query<SealedRow>(
    `select bytes, sealed from (
       select bytes, sealed, sum(bytes) over (order by used_at desc, id) as taken from local_responses
       where user_id = $2 and item_ids && $1::text[] and used_at > now() - make_interval(days => $3)
     ) k where taken <= $4`,
    [ids, userId, days, largestConversation],
  )
  const wanted = new Set(ids)
  const found = new Map<string, Item>()
  for await (const turn of unsealEach(deps, { rows, hold })) {
    const output = turn?.response['output']
    for (const item of Array.isArray(output) ? (output as Item[]) : [])
      if (typeof item['id'] === 'string' && wanted.has(item['id'])) found.set(item['id'], item)
  }
  return found
}

/** Whether there was one to forget. */
export async function forgetLocalResponse(
  pool: Pool,
  { id, userId }: { id: string; userId: number },
): Promise<boolean> {
  const { rowCount } = await pool.query('delete from local_responses where id = $1 and user_id = $2', [id, userId])
  return rowCount === 1
}

/** Removes what nobody has gone on from for so many days, and what users who are gone left behind. */
export const forgetExpiredResponses = (pool: Pool, days: number, signal: AbortSignal): Promise<number> =>
  removeInPortions(
    pool,
    {
      table: 'local_responses',
      condition: `used_at < now() - make_interval(days => $1)
        or not exists (select 1 from users u where u.id = user_id and u.deleted_at is null)`,
      values: [days],
    },
    signal,
  )
