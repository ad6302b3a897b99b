import type { Pool } from 'pg'
import { splitList } from '#core/routing/abilities.ts'
import { createRowCache } from './row-cache.ts'

/** What the relay needs of an access token; balances are never kept. */
export type TokenRow = {
  id: number
  userId: number
  name: string
  keyMask: string
  status: number
  unlimitedQuota: boolean
  expiresAt: Date | null
  modelLimits: ReadonlySet<string> | null
  allowIps: string
  group: string
  rateLimit: { periodSeconds: number; count: number; success: number } | null
  /** Of a former key: so long it still works. Null for the token's own. */
  keyWorksUntil: Date | null
  /** Nothing was left and nothing under way when the row was read. */
  exhaustedWhenRead: boolean
}

type Columns = {
  id: number
  user_id: number
  name: string
  key_hash: string
  key_mask: string
  status: number
  unlimited_quota: boolean
  /** Text: the driver is asked to leave instants alone. */
  expires_at: string | null
  model_limits_enabled: boolean
  model_limits: string
  allow_ips: string
  group: string
  rate_limit_enabled: boolean
  rate_limit_period: number
  rate_limit_count: number
  rate_limit_success: number
  exhausted: boolean
  asked_hash: string
  works_until: string | null
}

export const createTokenCache = (pool: Pool) =>
  createRowCache<string, TokenRow>({
    load: async (hashes) => {
      const { rows } = await pool.query<Columns>({
        name: 'relay_tokens',
        text: `with keys as (
                 select k.key_hash, k.id as token_id, null::timestamptz as works_until from tokens k where k.key_hash = any ($1::text[])
                 union all
                 select k.key_hash, k.token_id, k.works_until from retired_token_keys k
                 where k.key_hash = any ($1::text[]) and k.works_until > now())
               select t.*, keys.key_hash as asked_hash, keys.works_until, (not t.unlimited_quota and t.remain_quota <= 0 and not exists
                 (select 1 from holds h where h.token_id = t.id and h.status = 'open')) as exhausted
               from keys join tokens t on t.id = keys.token_id where t.deleted_at is null`,
        values: [hashes],
      })
      return new Map(rows.map((row) => [row.asked_hash, toTokenRow(row)]))
    },
  })

const toTokenRow = (row: Columns): TokenRow => ({
  id: row.id,
  userId: row.user_id,
  name: row.name,
  keyMask: row.key_mask,
  status: row.status,
  unlimitedQuota: row.unlimited_quota,
  expiresAt: row.expires_at === null ? null : new Date(row.expires_at),
  modelLimits: row.model_limits_enabled ? new Set(splitList(row.model_limits)) : null,
  allowIps: row.allow_ips,
  group: row.group,
  rateLimit: row.rate_limit_enabled
    ? { periodSeconds: row.rate_limit_period, count: row.rate_limit_count, success: row.rate_limit_success }
    : null,
  keyWorksUntil: row.works_until === null ? null : new Date(row.works_until),
  exhaustedWhenRead: row.exhausted,
})
