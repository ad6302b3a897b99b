import { randomBytes } from 'node:crypto'
import type { Pool } from 'pg'
import { createSecrets, sha256 } from '#features/secrets/service.ts'

const letters = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

export const randomKey = (length = 48): string =>
  Array.from(randomBytes(length), (byte) => letters[byte % letters.length]).join('')

export type TestUser = { id: number; username: string; accessToken: string; sessionId: string }
export type TestToken = { id: number; key: string; userId: number }
export type TestChannel = { id: number }

type ChannelWish = {
  type?: number
  name?: string
  key?: string
  baseUrl?: string
  models?: string
  group?: string
  status?: number
  priority?: number
  weight?: number
  modelMapping?: string
  modelPrefix?: string
  setting?: string
  other?: string
  paramOverride?: string
  systemPrompt?: string
  statusCodeMapping?: string
  autoBan?: boolean
}

/** Rows for tests, written straight into the tables; balances are granted, so that the ledger's equation holds. */
export function createFactories(given: { pool: Pool; secretKey: string; upstreamUrl: string }) {
  const { pool } = given
  const secrets = createSecrets(given.secretKey)

  const one = async (text: string, values: unknown[]): Promise<number> => {
    const { rows } = await pool.query<{ id: number }>(text, values)
    return Number(rows[0]?.id)
  }

  return {
    user: async (
      wish: { quota?: number; role?: number; group?: string; username?: string } = {},
    ): Promise<TestUser> => {
      const username = wish.username ?? `user${randomKey(6)}`
      const accessToken = randomKey(32)
      const sessionId = randomKey(43)
      const quota = wish.quota ?? 10_000_000
      const id = await one(
        `insert into users (username, display_name, role, "group", quota, access_token_hash) values ($1, $1, $2, $3, $4, $5) returning id`,
        [username, wish.role ?? 1, wish.group ?? 'default', quota, sha256(accessToken)],
      )
      await pool.query("insert into grants (kind, key, user_id, amount) values ('test', $1, $2, $3)", [
        randomKey(12),
        id,
        quota,
      ])
      await pool.query(
        "insert into sessions (id_hash, user_id, expires_at) values ($1, $2, now() + interval '1 day')",
        [sha256(sessionId), id],
      )
      return { id, username, accessToken, sessionId }
    },
    token: async (
      user: { id: number },
      wish: {
        remainQuota?: number
        unlimited?: boolean
        group?: string
        modelLimits?: string
        allowIps?: string
        expiresAt?: Date
        status?: number
        rateLimit?: { period: number; count: number; success: number }
      } = {},
    ): Promise<TestToken> => {
      const key = randomKey()
      const id = await one(
        `insert into tokens (user_id, name, key_hash, key_encrypted, key_mask, remain_quota, unlimited_quota, "group",
           model_limits_enabled, model_limits, allow_ips, expires_at, status, rate_limit_enabled, rate_limit_period,
           rate_limit_count, rate_limit_success)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17) returning id`,
        [
          user.id,
          `token ${key.slice(0, 4)}`,
          sha256(key),
          secrets.encrypt(key),
          `${key.slice(0, 3)}***${key.slice(-3)}`,
          wish.remainQuota ?? 0,
          wish.unlimited ?? wish.remainQuota === undefined,
          wish.group ?? '',
          wish.modelLimits !== undefined,
          wish.modelLimits ?? '',
          wish.allowIps ?? '',
          wish.expiresAt ?? null,
          wish.status ?? 1,
          wish.rateLimit !== undefined,
          wish.rateLimit?.period ?? 60,
          wish.rateLimit?.count ?? 1000,
          wish.rateLimit?.success ?? 10,
        ],
      )
      return { id, key, userId: user.id }
    },
    channel: async (wish: ChannelWish = {}): Promise<TestChannel> => {
      const models = wish.models ?? 'gpt-4o-mini'
      const group = wish.group ?? 'default'
      const id = await one(
        `insert into channels (type, name, key_encrypted, base_url, models, "group", status, priority, weight, model_mapping,
           model_prefix, setting, param_override, system_prompt, status_code_mapping, auto_ban, other)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17) returning id`,
        [
          wish.type ?? 1,
          wish.name ?? `channel ${randomKey(4)}`,
          secrets.encrypt(wish.key ?? 'sk-upstream'),
          wish.baseUrl ?? given.upstreamUrl,
          models,
          group,
          wish.status ?? 1,
          wish.priority ?? 0,
          wish.weight ?? 0,
          wish.modelMapping ?? '',
          wish.modelPrefix ?? '',
          wish.setting ?? '',
          wish.paramOverride ?? '',
          wish.systemPrompt ?? '',
          wish.statusCodeMapping ?? '',
          wish.autoBan ?? true,
          wish.other ?? '',
        ],
      )
      await pool.query(
        `insert into abilities ("group", model, channel_id, enabled, priority, weight)
         select g, m, $1, $4, $5, $6 from unnest(string_to_array($2, ',')) g, unnest(string_to_array($3, ',')) m`,
        [id, group, models, (wish.status ?? 1) === 1, wish.priority ?? 0, wish.weight ?? 0],
      )
      return { id }
    },
    /** Sets an option as the options service would store it; live within the second. */
    option: async (key: string, value: string): Promise<void> => {
      await pool.query(
        'insert into options (key, value) values ($1, $2) on conflict (key) do update set value = excluded.value',
        [key, value],
      )
    },
  }
}

export type Factories = ReturnType<typeof createFactories>
