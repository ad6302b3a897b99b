import { randomBytes } from 'node:crypto'
import { Pool } from 'pg'
import type { ConnectionOptions } from '#db/connection.ts'
import { migrate } from '#db/orm.ts'
import { createSecrets, sha256 } from '#features/secrets/service.ts'
import { type Scenario, scenarios } from './scenarios.ts'

/** More than any run can spend. */
const plenty = 1_000_000_000_000

const randomKey = (): string => randomBytes(24).toString('hex')

/** Access tokens: one busy user's, those of many users, and one of a busy user with spend caps. */
export type World = { pool: Pool; one: string[]; many: string[]; capped: string[] }

/**
 * The rows of the benchmark: one channel for each scenario, a busy user, and a thousand more; all with limited tokens. Channels of an
 * earlier run, whose provider is gone, are replaced.
 */
export async function createWorld(
  connection: ConnectionOptions,
  given: { secretKey: string; upstreamUrl: string },
): Promise<World> {
  await migrate(connection)
  const pool = new Pool(connection)
  // The database is stopped before the pool has let go of its last connection.
  pool.on('error', () => {})
  const secrets = createSecrets(given.secretKey)
  const models = Object.values<Scenario>(scenarios).map(({ model }) => model)
  await pool.query(
    `with gone as (delete from channels where name = any($1) returning id)
     delete from abilities where channel_id in (select id from gone)`,
    [models],
  )
  for (const { model, directives, setting = {} } of Object.values<Scenario>(scenarios)) {
    await pool.query(
      `with made as (insert into channels (type, name, key_encrypted, base_url, models, setting) values (1, $1, $2, $3, $1, $4) returning id)
       insert into abilities ("group", model, channel_id) select 'default', $1, id from made`,
      [model, secrets.encrypt('sk-upstream'), `${given.upstreamUrl}/~${directives}`, JSON.stringify(setting)],
    )
  }
  const keys = Array.from({ length: 1002 }, randomKey)
  await pool.query(
    `with made as (
       insert into users (username, display_name, quota) select $5 || n, 'bench', $1 from generate_series(1, $2) n
       returning id, quota),
     granted as (insert into grants (kind, key, user_id, amount) select 'bench', id::text, id, quota from made)
     insert into tokens (user_id, name, key_hash, key_encrypted, key_mask, remain_quota)
     select made.id, 'bench', k.hash, k.encrypted, '***', $1
     from (select *, row_number() over (order by id) as place from made) made
     join unnest($3::text[], $4::text[]) with ordinality k(hash, encrypted, place) using (place)`,
    [plenty, keys.length, keys.map(sha256), keys.map(secrets.encrypt), `bench-${randomBytes(4).toString('hex')}-`],
  )
  const [one = '', capped = '', ...many] = keys.map((key) => `sk-${key}`)
  await pool.query(
    `insert into spend_caps (scope, subject_id, source, period, seconds, amount)
     select s.scope, case s.scope when 'user' then t.user_id else t.id end, 'owner', s.period, s.seconds, $2
     from tokens t, (values ('token', 'rolling', 18000), ('token', 'day', 0), ('user', 'week', 0)) s(scope, period, seconds)
     where t.key_hash = $1`,
    [sha256(capped.slice(3)), plenty],
  )
  await pool.query('analyze')
  return { pool, one: [one], many, capped: [capped] }
}
