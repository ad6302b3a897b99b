import { LRUCache } from 'lru-cache'
import type { Pool } from 'pg'
import { parseExactly } from '#core/exact-json.ts'
import type { Secrets } from '#features/secrets/service.ts'
import { type HoldMemory, largestConversation } from './local-responses.ts'
import { largestText, sealText, unsealText } from './sealed-text.ts'
import { removeInPortions } from '#features/retention/portions.ts'

export type Item = Record<string, unknown> & { id: string }
export type Metadata = Record<string, string>
/** `createdAt`: in Unix seconds. */
export type ConversationHead = { id: string; createdAt: number; metadata: Metadata }

const headColumns = 'id, extract(epoch from created_at)::int as created_at, sealed_metadata'
type HeadRow = { id: string; created_at: number; sealed_metadata: string }

type Deps = { pool: Pool; secrets: Secrets }
type Named = { id: string; userId: number; days: number }

const mostItems = 10_000
const sealedAtOnce = 16
/** What a conversation without items and metadata takes. */
const emptyBytes = 1024

const isOwn = 'id = $1 and user_id = $2 and used_at > now() - make_interval(days => $3)'
const namedBy = ({ id, userId, days }: Named): [string, number, number] => [id, userId, days]

export async function createConversation(
  { pool, secrets }: Deps,
  made: { id: string; userId: number; metadata: Metadata; mostBytes: number },
): Promise<ConversationHead> {
  const { id, userId, metadata, mostBytes } = made
  const sealed = await sealText(secrets, JSON.stringify(metadata))
  const { rows } = await pool.query<HeadRow>(
    `insert into conversations (id, user_id, sealed_metadata, bytes) values ($1, $2, $3, $4) returning ${headColumns}`,
    [id, userId, sealed, emptyBytes + sealed.length],
  )
  await makeRoom(pool, { id, userId, mostBytes, added: emptyBytes + sealed.length })
  return { id, createdAt: rows[0]?.created_at ?? 0, metadata }
}

/** What a user's conversations take, as far as this process knows, and since when: adding one item must not sum up all of them. */
type Taken = { bytes: number; at: number }
const takenBy = new WeakMap<Pool, LRUCache<number, Taken>>()
const knownFor = { roomy: 60_000, full: 5000 }

const takenOf = (pool: Pool): LRUCache<number, Taken> => {
  const taken = takenBy.get(pool) ?? new LRUCache<number, Taken>({ max: 10_000 })
  takenBy.set(pool, taken)
  return taken
}

async function sumOf(pool: Pool, userId: number): Promise<Taken> {
  const { rows } = await pool.query<{ bytes: string }>(
    'select coalesce(sum(bytes), 0) as bytes from conversations where user_id = $1',
    [userId],
  )
  return { bytes: Number(rows[0]?.bytes ?? 0), at: performance.now() }
}

const oldestAtOnce = 100

/**
 * The conversations of the user that were used longest ago go, until the others take no more than they may. What they take is
 * summed up at most once a minute, and once in five seconds where room has to be made; what this process adds is counted.
 */
async function makeRoom(
  pool: Pool,
  { id, userId, mostBytes, added }: { id: string; userId: number; mostBytes: number; added: number },
): Promise<void> {
  const taken = takenOf(pool)
  const known = taken.get(userId)
  if (known) known.bytes += added
  const isFresh = (span: number): boolean => known !== undefined && performance.now() - known.at < span
  const current =
    known && isFresh(known.bytes <= mostBytes ? knownFor.roomy : knownFor.full) ? known : await sumOf(pool, userId)
  taken.set(userId, current)
  while (current.bytes > mostBytes) {
    const { rows } = await pool.query<{ bytes: string }>(
      `with oldest as (select id, bytes, used_at from conversations where user_id = $2 and id <> $1
          order by used_at, id desc limit ${oldestAtOnce}),
        old as (select id, sum(bytes) over (order by used_at, id desc) - bytes as freed from oldest),
        -- Those that another call uses or removes are left to it.
        free as (select id from conversations where id in (select id from old where freed < $3) order by id for update skip locked),
        removed as (delete from conversations c using free where c.id = free.id returning c.id, c.bytes),
        items as (delete from conversation_items i using removed where i.conversation_id = removed.id)
       select bytes from removed`,
      [id, userId, current.bytes - mostBytes],
    )
    if (rows.length === 0) return
    for (const { bytes } of rows) current.bytes -= Number(bytes)
  }
}

const headOf = async ({ secrets }: Deps, row: HeadRow | undefined): Promise<ConversationHead | undefined> =>
  row && {
    id: row.id,
    createdAt: row.created_at,
    metadata: parseExactly((await unsealText(secrets, row.sealed_metadata))?.text ?? '{}') as Metadata,
  }

export async function findConversationHead(deps: Deps, named: Named): Promise<ConversationHead | undefined> {
  const { rows } = await deps.pool.query<HeadRow>(
    `select ${headColumns} from conversations where ${isOwn}`,
    namedBy(named),
  )
  return headOf(deps, rows[0])
}

export async function updateConversation(
  deps: Deps,
  { metadata, ...named }: Named & { metadata: Metadata },
): Promise<ConversationHead | undefined> {
  const { rows } = await deps.pool.query<HeadRow>(
    `update conversations set sealed_metadata = $4, bytes = bytes - length(sealed_metadata) + length($4), used_at = now()
     where ${isOwn} returning ${headColumns}`,
    [...namedBy(named), await sealText(deps.secrets, JSON.stringify(metadata))],
  )
  return headOf(deps, rows[0])
}

/** Whether there was one to remove. */
export async function removeConversation({ pool }: Deps, named: Named): Promise<boolean> {
  takenOf(pool).delete(named.userId)
  const { rows } = await pool.query(
    `with removed as (delete from conversations where ${isOwn} returning id),
          items as (delete from conversation_items i using removed where i.conversation_id = removed.id)
     select id from removed`,
    namedBy(named),
  )
  return rows.length === 1
}

export type Added = 'added' | 'unknown' | 'too-large'

/** Adds items in their order, all or none; what stands there under the same id stays as it is. */
export async function addItems(
  { pool, secrets }: Deps,
  { items, mostBytes, ...named }: Named & { items: readonly Item[]; mostBytes: number },
): Promise<Added> {
  if (items.length > mostItems) return 'too-large'
  const texts = items.map((item) => JSON.stringify(item))
  const sizes = texts.map((text) => Buffer.byteLength(text))
  const total = sizes.reduce((sum, size) => sum + size, 0)
  const most = Math.min(largestConversation, mostBytes)
  if (total > most || sizes.some((size) => size > largestText)) return 'too-large'
  const sealed: string[] = []
  // Each takes a quarter of a megabyte while it is compressed, however short it is.
  for (let at = 0; at < texts.length; at += sealedAtOnce)
    sealed.push(...(await Promise.all(texts.slice(at, at + sealedAtOnce).map((text) => sealText(secrets, text)))))
  const { rows } = await pool.query<{ known: boolean; fits: boolean }>(
    `with known as (select id from conversations where ${isOwn}),
          given as (select distinct on (id) id, bytes, sealed, n
            from unnest($4::text[], $5::int[], $6::text[]) with ordinality as i (id, bytes, sealed, n)
            where not exists (select 1 from conversation_items k where k.conversation_id = $1 and k.id = i.id)
            order by id, n),
          size as (select coalesce(sum(bytes), 0) as bytes, count(*)::int as items from given),
          place as (update conversations c set used_at = now(), bytes = c.bytes + size.bytes,
              last_position = last_position + size.items
            from size where ${isOwn} and c.bytes + size.bytes <= $7 and last_position + size.items <= $8
            returning c.id, last_position - size.items as before),
          added as (insert into conversation_items (conversation_id, position, id, bytes, sealed)
            select place.id, place.before + row_number() over (order by n), given.id, given.bytes, given.sealed
            from place, given
            on conflict (conversation_id, id) do nothing)
     select exists (select 1 from known) as known, exists (select 1 from place) as fits`,
    [...namedBy(named), items.map(({ id }) => id), sizes, sealed, most, mostItems],
  )
  if (rows[0]?.known !== true) return 'unknown'
  if (!rows[0].fits) return 'too-large'
  await makeRoom(pool, { id: named.id, userId: named.userId, mostBytes, added: total })
  return 'added'
}

type SealedItem = { id: string; bytes: number; sealed: string }

type Select = { from: string; values: unknown[] }

/** Rows of items, once there is memory for them: how large they are is asked before they are read. */
async function readItems({ pool }: Deps, { from, values }: Select, hold: HoldMemory): Promise<SealedItem[]> {
  const { rows: sizes } = await pool.query<{ bytes: string }>(
    `select coalesce(sum(s.bytes + s.stored), 0) as bytes from (select i.bytes, octet_length(i.sealed) as stored ${from}) s`,
    values,
  )
  await hold(Number(sizes[0]?.bytes ?? 0))
  const { rows } = await pool.query<SealedItem>(`select i.id, i.bytes, i.sealed ${from}`, values)
  // Others may have added some meanwhile.
  await hold(rows.reduce((sum, { bytes, sealed }) => sum + bytes + sealed.length, 0))
  return rows
}

async function unsealItems({ secrets }: Deps, rows: readonly SealedItem[]): Promise<Item[]> {
  const items: Item[] = []
  for (const { id, sealed } of rows) {
    const found = await unsealText(secrets, sealed)
    if (found) items.push({ ...(parseExactly(found.text) as Item), id })
  }
  return items
}

type Page = { after: string | undefined; ascending: boolean; limit: number }

/** A part of the items, or all of them, in their order. Nothing where the user has no such conversation. */
export async function findConversationItems(
  deps: Deps,
  { hold, page, ...named }: Named & { hold: HoldMemory; page?: Page },
): Promise<{ items: Item[]; hasMore: boolean } | undefined> {
  if (!(await touch(deps, named))) return undefined
  const { after, ascending, limit }: Page = page ?? { after: undefined, ascending: true, limit: mostItems }
  const from = `from conversation_items i where i.conversation_id = $1 and ($2::text is null or
       i.position ${ascending ? '>' : '<'} (select position from conversation_items where conversation_id = $1 and id = $2))
     order by i.position ${ascending ? 'asc' : 'desc'} limit $3`
  const rows = await readItems(deps, { from, values: [named.id, after ?? null, limit + 1] }, hold)
  return { items: await unsealItems(deps, rows.slice(0, limit)), hasMore: rows.length > limit }
}

/** Whether the user has it; it lives on from now. */
async function touch({ pool }: Deps, named: Named): Promise<boolean> {
  const { rowCount } = await pool.query(`update conversations set used_at = now() where ${isOwn}`, namedBy(named))
  return rowCount === 1
}

export async function findConversationItem(
  deps: Deps,
  { item, hold, ...named }: Named & { item: string; hold: HoldMemory },
): Promise<Item | undefined> {
  const from = `from conversation_items i
     join (select id from conversations where ${isOwn}) c on c.id = i.conversation_id where i.id = $4`
  const rows = await readItems(deps, { from, values: [...namedBy(named), item] }, hold)
  return (await unsealItems(deps, rows))[0]
}

/** Whether there was one to remove. */
export async function removeConversationItem(
  { pool }: Deps,
  { item, ...named }: Named & { item: string },
): Promise<boolean> {
  takenOf(pool).delete(named.userId)
  const { rows } = await pool.query(
    // Locked before its item, as by whoever removes it whole.
    `with own as (select id from conversations where ${isOwn} for no key update),
          removed as (delete from conversation_items i using own where i.conversation_id = own.id and i.id = $4
            returning i.bytes),
          lighter as (update conversations c set bytes = c.bytes - removed.bytes from removed where c.id = $1)
     select bytes from removed`,
    [...namedBy(named), item],
  )
  return rows.length === 1
}

/** Removes what nobody has used for so many days, what users who are gone left behind, and items without a conversation. */
export async function forgetExpiredConversations(pool: Pool, days: number, signal: AbortSignal): Promise<number> {
  const expired = {
    table: 'conversations',
    condition: `used_at < now() - make_interval(days => $1)
      or not exists (select 1 from users u where u.id = user_id and u.deleted_at is null)`,
    values: [days],
  }
  const orphaned = {
    table: 'conversation_items',
    condition: 'not exists (select 1 from conversations c where c.id = conversation_id)',
  }
  return (await removeInPortions(pool, expired, signal)) + (await removeInPortions(pool, orphaned, signal))
}
