import { randomBytes } from 'node:crypto'
import type { Pool } from 'pg'
import { settingColumns } from '#features/channels/stored-setting.ts'
import { createSecrets, sha256 } from '#features/secrets/service.ts'

const letters = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

export const randomKey = (length = 48): string =>
  Array.from(randomBytes(length), (byte) => letters[byte % letters.length]).join('')

export type TestUser = { id: number; username: string; accessToken: string; sessionId: string }
export type TestToken = { id: number; key: string; userId: number }
export type TestChannel = { id: number }

type ChannelInput = {
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
  const addSession = (userId: number, sessionId: string) =>
    pool.query("insert into sessions (id_hash, user_id, expires_at) values ($1, $2, now() + interval '1 day')", [
      sha256(sessionId),
      userId,
    ])

  return {
    user: async (
      input: { quota?: number; role?: number; group?: string; username?: string } = {},
    ): Promise<TestUser> => {
      const username = input.username ?? `user${randomKey(6)}`
      const accessToken = randomKey(32)
      const sessionId = randomKey(43)
      const quota = input.quota ?? 10_000_000
      const id = await one(
        `insert into users (username, display_name, role, "group", quota, access_token_hash) values ($1, $1, $2, $3, $4, $5) returning id`,
        [username, input.role ?? 1, input.group ?? 'default', quota, sha256(accessToken)],
      )
      await pool.query("insert into grants (kind, key, user_id, amount) values ('test', $1, $2, $3)", [
        randomKey(12),
        id,
        quota,
      ])
      await addSession(id, sessionId)
      return { id, username, accessToken, sessionId }
    },
    /** Of somebody who is there already: a browser alone, no access token. */
    signIn: async ({ id, username }: { id: number; username: string }): Promise<TestUser> => {
      const sessionId = randomKey(43)
      await addSession(id, sessionId)
      return { id, username, accessToken: '', sessionId }
    },
    token: async (
      user: { id: number },
      input: {
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
          input.remainQuota ?? 0,
          input.unlimited ?? input.remainQuota === undefined,
          input.group ?? '',
          input.modelLimits !== undefined,
          input.modelLimits ?? '',
          input.allowIps ?? '',
          input.expiresAt ?? null,
          input.status ?? 1,
          input.rateLimit !== undefined,
          input.rateLimit?.period ?? 60,
          input.rateLimit?.count ?? 1000,
          input.rateLimit?.success ?? 10,
        ],
      )
      return { id, key, userId: user.id }
    },
    spendCap: (
      subject: { scope: 'user' | 'token'; id: number },
      input: { amount: number; period?: string; seconds?: number; zone?: string; models?: string[] },
    ): Promise<number> =>
      one(
        `insert into spend_caps (scope, subject_id, source, period, seconds, zone, amount, models)
         values ($1, $2, 'admin', $3, $4, $5, $6, $7) returning id`,
        [
          subject.scope,
          subject.id,
          input.period ?? 'rolling',
          input.period === undefined ? (input.seconds ?? 18_000) : 0,
          input.zone ?? 'UTC',
          input.amount,
          input.models ?? [],
        ],
      ),
    /** A plan that the user has, with the numbers of its windows; five hours unless they say otherwise. */
    subscription: async (
      user: { id: number },
      input: {
        windows: { amount: number; period?: string; seconds?: number; zone?: string }[]
        models?: string[]
        balancePays?: boolean
        startsAt?: Date
        endsAt?: Date
      },
    ): Promise<{ id: number; windows: number[] }> => {
      const id = await one(
        `insert into subscriptions (user_id, plan_id, name, models, balance_pays, source, key, price, starts_at, ends_at)
         values ($1, 0, 'Team', $2, $3, 'balance', $4, 1000, $5, $6) returning id`,
        [
          user.id,
          input.models ?? [],
          input.balancePays ?? true,
          randomKey(),
          input.startsAt ?? new Date(0),
          input.endsAt ?? new Date('2100-01-01'),
        ],
      )
      const windows: number[] = []
      for (const window of input.windows)
        windows.push(
          await one(
            `insert into spend_caps (scope, subject_id, source, source_id, period, seconds, zone, amount)
             values ('subscription', $1, 'subscription', $1, $2, $3, $4, $5) returning id`,
            [
              id,
              window.period ?? 'rolling',
              window.period === undefined ? (window.seconds ?? 18_000) : 0,
              window.zone ?? 'UTC',
              window.amount,
            ],
          ),
        )
      return { id, windows }
    },
    channel: async (input: ChannelInput = {}): Promise<TestChannel> => {
      const models = input.models ?? 'gpt-4o-mini'
      const group = input.group ?? 'default'
      const { setting, proxyEncrypted } = settingColumns(secrets, input.setting ?? '')
      const id = await one(
        `insert into channels (type, name, key_encrypted, base_url, models, "group", status, priority, weight, model_mapping,
           model_prefix, setting, param_override, system_prompt, status_code_mapping, auto_ban, other, proxy_encrypted)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18) returning id`,
        [
          input.type ?? 1,
          input.name ?? `channel ${randomKey(4)}`,
          secrets.encrypt(input.key ?? 'sk-upstream'),
          input.baseUrl ?? given.upstreamUrl,
          models,
          group,
          input.status ?? 1,
          input.priority ?? 0,
          input.weight ?? 0,
          input.modelMapping ?? '',
          input.modelPrefix ?? '',
          setting,
          input.paramOverride ?? '',
          input.systemPrompt ?? '',
          input.statusCodeMapping ?? '',
          input.autoBan ?? true,
          input.other ?? '',
          proxyEncrypted,
        ],
      )
      await pool.query(
        `insert into abilities ("group", model, channel_id, enabled, priority, weight)
         select g, m, $1, $4, $5, $6 from unnest(string_to_array($2, ',')) g, unnest(string_to_array($3, ',')) m`,
        [id, group, models, (input.status ?? 1) === 1, input.priority ?? 0, input.weight ?? 0],
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
