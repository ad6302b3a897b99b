import type { Pool } from 'pg'
import { storableJson } from '#core/storable-json.ts'
import { ChannelCooldown } from '#db/entities/channel-cooldown.ts'
import type { UserDeps } from '#features/deps.ts'

type Place = { channelId: number; key: number; model: string }
type Cooldown = { until: Date; status: number; reason: string }

/** Stores the cooldowns of one process where every process can read them; one that could not be stored is only not shown. */
export type CooldownRecords = {
  put: (place: Place, cooldown: Cooldown | null) => void
  /** Everything given so far is stored, or given up. */
  flushed: () => Promise<void>
}

const longestReason = 500
const mostPending = 1000

export function createCooldownRecords(
  pool: Pool,
  nodeId: () => number,
  onError: (error: unknown) => void,
): CooldownRecords {
  const pending = new Map<string, Place & { cooldown: Cooldown | null }>()
  let writing: Promise<void> | undefined

  const write = async (): Promise<void> => {
    while (pending.size > 0) {
      const batch = [...pending.values()]
      pending.clear()
      await store(pool, nodeId(), batch)
    }
  }
  return {
    put: (place, cooldown) => {
      if (pending.size >= mostPending) return
      pending.set(JSON.stringify(place), { ...place, cooldown })
      writing ??= Promise.resolve()
        .then(write)
        .catch(onError)
        .finally(() => (writing = undefined))
    },
    flushed: async () => {
      while (writing) await writing
    },
  }
}

async function store(pool: Pool, nodeId: number, batch: (Place & { cooldown: Cooldown | null })[]): Promise<void> {
  const rows = batch.map(({ channelId, key, model, cooldown }) => ({
    channelId,
    key,
    model,
    until: cooldown?.until ?? null,
    status: cooldown?.status ?? 0,
    reason: cooldown?.reason.slice(0, longestReason) ?? '',
  }))
  await pool.query({
    name: 'channel_cooldowns',
    text: `with given as materialized (select * from json_to_recordset($1::json)
        as g("channelId" int, key int, model text, until timestamptz, status int, reason text)),
      ended as (delete from channel_cooldowns c using given g where g.until is null and c.node_id = $2
        and g."channelId" = c.channel_id and g.key = c.key and g.model = c.model),
      -- Not what a process that is back writes meanwhile, which may be about to remove the rows of this one.
      stale as (delete from channel_cooldowns where ctid in (select ctid from channel_cooldowns
        where until < now() - interval '1 hour' and node_id <> $2 for update skip locked))
      insert into channel_cooldowns (channel_id, key, model, node_id, until, status, reason)
      select g."channelId", g.key, g.model, $2, g.until, g.status, g.reason from given g where g.until is not null
      on conflict (channel_id, key, model, node_id) do update
        set until = excluded.until, status = excluded.status, reason = excluded.reason`,
    values: [storableJson(JSON.stringify(rows)), nodeId],
  })
}

export type CooldownView = {
  channelId: number
  key: number
  model: string
  until: Date
  status: number
  reason: string
}

/** Current cooldowns, the longest of each place, wherever it was seen. */
export async function listCooldowns(
  { em, ambient }: Pick<UserDeps, 'em' | 'ambient'>,
  { ids }: { ids?: number[] } = {},
): Promise<CooldownView[]> {
  if (ids?.length === 0) return []
  const found = await em.find(
    ChannelCooldown,
    { ...(ids && { channelId: { $in: ids } }), until: { $gt: ambient.now() } },
    { orderBy: { until: 'asc' }, disableIdentityMap: true },
  )
  const longest = new Map(found.map((row) => [JSON.stringify([row.channelId, row.key, row.model]), row]))
  return [...longest.values()].map(({ channelId, key, model, until, status, reason }) => ({
    channelId,
    key,
    model,
    until,
    status,
    reason,
  }))
}
