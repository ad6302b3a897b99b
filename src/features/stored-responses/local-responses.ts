import { promisify } from 'node:util'
import { deflateRaw, inflateRaw } from 'node:zlib'
import type { Pool } from 'pg'
import type { Secrets } from '#features/secrets/service.ts'

type Item = Record<string, unknown>

/** One turn: what its call brought along itself, and the response it was answered with. */
export type StoredTurn = { input: Item[]; response: Record<string, unknown> }

type Deps = { pool: Pool; secrets: Secrets }

const deflate = promisify(deflateRaw)
const inflate = promisify(inflateRaw)

/** A turn that takes more, and a conversation that does, are not kept and not taken up again. */
const largestTurn = 16 * 1024 * 1024
const largestConversation = 64 * 1024 * 1024
const longestConversation = 2000

const seal = async ({ secrets }: Deps, turn: StoredTurn): Promise<string> =>
  secrets.encrypt((await deflate(JSON.stringify(turn), { level: 1 })).toString('base64'))

async function unseal({ secrets }: Deps, sealed: string): Promise<StoredTurn> {
  const text = await inflate(Buffer.from(secrets.decrypt(sealed), 'base64'))
  return JSON.parse(text.toString('utf8')) as StoredTurn
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
  const sealed = await seal(deps, stored.turn)
  if (sealed.length > Math.min(largestTurn, stored.mostBytes)) return false
  const { rowCount } = await deps.pool.query(
    `with used as (update local_responses set used_at = now() where user_id = $2 and id = any ($5::text[])),
          room as (delete from local_responses k using (
            select id, sum(bytes) over (order by used_at desc, id) as taken from local_responses where user_id = $2
          ) old where k.id = old.id and old.taken > $7::bigint - $6 and k.id <> all ($5::text[]))
     insert into local_responses (id, user_id, previous_id, item_ids, bytes, sealed)
     values ($1, $2, $3, $4::text[], $6, $8) on conflict (id) do nothing`,
    [
      stored.id,
      stored.userId,
      stored.previousId,
      stored.itemIds,
      stored.chain,
      sealed.length,
      stored.mostBytes,
      sealed,
    ],
  )
  return rowCount === 1
}

type Owned = { userId: number; days: number }

/**
 * The turns up to a response of the user's, the oldest first. Nothing where there is no such response, or where a turn it
 * goes on from is gone.
 */
export async function findConversation(
  deps: Deps,
  { id, userId, days }: Owned & { id: string },
): Promise<{ ids: string[]; turns: StoredTurn[] } | undefined> {
  const { rows } = await deps.pool.query<{ id: string; previous_id: string | null; sealed: string }>(
    `with recursive chain as (
       select id, previous_id, bytes::bigint as taken, 1 as depth from local_responses
       where id = $1 and user_id = $2 and used_at > now() - make_interval(days => $3)
       union all
       select k.id, k.previous_id, chain.taken + k.bytes, chain.depth + 1 from chain
       join local_responses k on k.id = chain.previous_id and k.user_id = $2
       where chain.taken < $4 and chain.depth < $5)
     select k.id, k.previous_id, k.sealed from chain join local_responses k using (id) order by chain.depth desc`,
    [id, userId, days, largestConversation, longestConversation],
  )
  if (rows.length === 0 || rows[0]?.previous_id) return undefined
  const turns: StoredTurn[] = []
  for (const { sealed } of rows) turns.push(await unseal(deps, sealed))
  return { ids: rows.map((row) => row.id), turns }
}

/** One turn of the user's, and the one it goes on from. */
export async function findTurn(
  deps: Deps,
  { id, userId, days }: Owned & { id: string },
): Promise<StoredTurn | undefined> {
  const { rows } = await deps.pool.query<{ sealed: string }>(
    'select sealed from local_responses where id = $1 and user_id = $2 and used_at > now() - make_interval(days => $3)',
    [id, userId, days],
  )
  return rows[0] && unseal(deps, rows[0].sealed)
}

/** What the user was answered under these ids of items. */
export async function findItems(
  deps: Deps,
  { ids, userId, days }: Owned & { ids: readonly string[] },
): Promise<Map<string, Item>> {
  const { rows } = await deps.pool.query<{ sealed: string }>(
    `select sealed from local_responses
     where user_id = $2 and item_ids && $1::text[] and used_at > now() - make_interval(days => $3)`,
    [ids, userId, days],
  )
  const wanted = new Set(ids)
  const found = new Map<string, Item>()
  for (const { sealed } of rows) {
    const { output } = (await unseal(deps, sealed)).response
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
export async function forgetExpiredResponses(pool: Pool, days: number): Promise<number> {
  const { rowCount } = await pool.query(
    `delete from local_responses k where used_at < now() - make_interval(days => $1)
       or not exists (select 1 from users u where u.id = k.user_id and u.deleted_at is null)`,
    [days],
  )
  return rowCount ?? 0
}
