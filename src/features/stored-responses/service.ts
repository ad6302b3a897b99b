import type { Pool } from 'pg'

/** Where an upstream keeps something: only the key that made it can name it again. `model` is as its maker wrote it, empty where that is not known. */
export type StoredPlace = { channelId: number; keyHmac: string; model: string }

type StoredAnswer = StoredPlace & { id: string; userId: number; conversationTokens: number | null }

/** How long an id is remembered, which is how long upstreams keep what it names. */
const retentionDays = 30

/**
 * Remembers who made what an upstream keeps, and how many tokens the conversation up to there has. An id that somebody else's call
 * brought before stays theirs. Resolves with those that no call had brought.
 */
export async function rememberAnswers(
  pool: Pool,
  made: { ids: readonly string[]; userId: number; conversationTokens?: number | undefined } & StoredPlace,
): Promise<string[]> {
  const { rows } = await pool.query<{ id: string; isNew: boolean }>(
    `insert into upstream_objects as o (id, user_id, channel_id, key_hmac, model, conversation_tokens)
     select distinct id, $2::int, $3::int, $4::text, $5::text, $6::int from unnest($1::text[]) id order by id
     on conflict (id) do update set channel_id = excluded.channel_id, key_hmac = excluded.key_hmac,
       model = excluded.model, conversation_tokens = excluded.conversation_tokens, created_at = now()
     where o.user_id = excluded.user_id
     returning id, xmax = 0 as "isNew"`,
    [made.ids, made.userId, made.channelId, made.keyHmac, made.model, made.conversationTokens ?? null],
  )
  return rows.filter(({ isNew }) => isNew).map(({ id }) => id)
}

/** What of these ids is remembered, the latest first. */
export async function findAnswers(pool: Pool, ids: readonly string[]): Promise<StoredAnswer[]> {
  const { rows } = await pool.query<StoredAnswer>(
    `select id, user_id as "userId", channel_id as "channelId", key_hmac as "keyHmac", model,
       conversation_tokens as "conversationTokens" from upstream_objects
     where id = any ($1::text[]) and created_at > now() - make_interval(days => $2) order by created_at desc, id`,
    [ids, retentionDays],
  )
  return rows
}

/** What the upstream counts of a conversation when it is asked for it later. */
export async function recountConversation(
  pool: Pool,
  { id, userId, tokens }: { id: string; userId: number; tokens: number },
): Promise<void> {
  await pool.query('update upstream_objects set conversation_tokens = $3 where id = $1 and user_id = $2', [
    id,
    userId,
    tokens,
  ])
}

export async function forgetAnswer(pool: Pool, made: { id: string; userId: number }): Promise<void> {
  await pool.query('delete from upstream_objects where id = $1 and user_id = $2', [made.id, made.userId])
}
