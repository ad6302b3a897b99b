import { logType } from '#core/statuses.ts'
import type { SeedContext } from './seed-context.ts'
import { callAt, type LogRow } from './calls.ts'
import { minutesBefore, oneOf } from './random.ts'
import type { PlantedChannel } from './channels.ts'
import type { Person } from './people.ts'
import type { PlantedToken } from './tokens.ts'

type Given = { people: Person[]; channels: PlantedChannel[]; tokens: PlantedToken[]; tasks: LogRow[] }

const days = 30
const minutesOfDay = 24 * 60

/** A month of calls with quiet nights and week-ends, and the hourly sums and counters that follow from them. */
export async function seedUsage(context: SeedContext, given: Given): Promise<void> {
  const rows = given.people.flatMap((person) => rowsOf(context, person, given))
  await insertLogs(context, [...rows, ...given.tasks])
  await sumUp(context)
}

function rowsOf({ random, now }: SeedContext, person: Person, { channels, tokens }: Given): LogRow[] {
  const own = tokens.filter((token) => token.userId === person.id)
  const lots = own.flatMap((token) => Array<PlantedToken>(token.share).fill(token))
  const rows: LogRow[] = []
  for (let day = Math.min(days, person.joinedDaysAgo - 1); day >= 0; day -= 1) {
    const weekday = minutesBefore(now, day * minutesOfDay).getUTCDay()
    const share = weekday === 0 || weekday === 6 ? 0.3 : 1
    const count = Math.round(person.callsPerDay * share * (0.6 + 0.8 * random()) * (1.3 - day / 60))
    for (let call = 0; call < count; call += 1) {
      const createdAt = momentOf(random, now, day)
      if (createdAt === null) continue
      const answered = callAt(random, createdAt, { person, token: oneOf(random, lots), channels })
      const luck = random()
      if (luck < 0.008) rows.push(failedInsteadOf(answered, channels))
      else rows.push(luck < 0.025 ? answeredAtSecondTry(answered, oneOf(random, channels)) : answered)
    }
  }
  return rows
}

/** Between eight and midnight in Shanghai, most of it in the afternoon; null for what would lie ahead. */
function momentOf(random: () => number, now: Date, day: number): Date | null {
  const midnight = Math.floor(now.getTime() / 86_400_000) * 86_400_000
  const hour = (random() + random()) * 8
  const moment = midnight - day * 86_400_000 + hour * 3_600_000
  return moment > now.getTime() - 60_000 ? null : new Date(moment)
}

const overloaded = (channel: { id: number; name: string }) => ({
  channel_id: channel.id,
  channel_name: channel.name,
  key_index: 0,
  status: 503,
  reason: 'The engine is overloaded',
  ms: 1800,
})

/** The same call, which another channel had failed before. */
function answeredAtSecondTry(answered: LogRow, failed: PlantedChannel): LogRow {
  const info = (answered.other as { admin_info?: { use_channel?: string[]; attempts?: object[] } }).admin_info ?? {}
  const admin = { attempts: [overloaded(failed), ...(info.attempts ?? [])] }
  const use = [String(failed.id), ...(info.use_channel ?? [])]
  return { ...answered, other: { ...answered.other, admin_info: { ...info, ...admin, use_channel: use } } }
}

/** The call that no channel answered. */
const failedInsteadOf = (answered: LogRow, channels: readonly PlantedChannel[]): LogRow => ({
  ...answered,
  type: logType.error,
  content: 'The engine is overloaded',
  quota: 0,
  prompt_tokens: 0,
  completion_tokens: 0,
  use_time_ms: 1800,
  other: {
    error_type: 'server_error',
    error_code: 'overloaded',
    status_code: 503,
    channel_id: answered.channel_id,
    admin_info: {
      use_channel: [String(answered.channel_id)],
      attempts: channels.filter(({ id }) => id === answered.channel_id).map(overloaded),
    },
  },
})

/** In the order of time, because lists are in the order of ids. */
async function insertLogs({ db }: Pick<SeedContext, 'db'>, rows: LogRow[]): Promise<void> {
  const ordered = rows.toSorted((left, right) => left.created_at.getTime() - right.created_at.getTime())
  await db.query(
    `insert into logs (created_at, user_id, type, content, username, token_name, token_id, model_name, quota, prompt_tokens,
       completion_tokens, use_time_ms, is_stream, channel_id, "group", request_id, other)
     select created_at, user_id, type, content, username, coalesce(token_name, ''), coalesce(token_id, 0),
       coalesce(model_name, ''), coalesce(quota, 0), coalesce(prompt_tokens, 0), coalesce(completion_tokens, 0),
       coalesce(use_time_ms, 0), coalesce(is_stream, false), coalesce(channel_id, 0), coalesce("group", ''),
       coalesce(request_id, ''), other
     from json_to_recordset($1::json) as x(created_at timestamptz, user_id int, type smallint, content text, username text,
       token_name text, token_id int, model_name text, quota bigint, prompt_tokens int, completion_tokens int,
       use_time_ms int, is_stream boolean, channel_id int, "group" text, request_id text, other jsonb)`,
    [JSON.stringify(ordered)],
  )
}

/** Lists are in the order of ids: what was planted last has not happened last. */
export async function orderLogs({ db }: SeedContext): Promise<void> {
  await db.query(`
    update logs l set id = ordered.id
    from (select id as old, created_at, (select max(id) from logs) + row_number() over (order by created_at, id) as id from logs) ordered
    where l.id = ordered.old and l.created_at = ordered.created_at`)
  await db.query(`select setval(pg_get_serial_sequence('logs', 'id'), (select max(id) from logs))`)
}

async function sumUp({ db }: SeedContext): Promise<void> {
  await db.query(`
    insert into usage_hourly (hour, user_id, model_name, channel_id, token_id, "group", count, prompt_tokens,
      completion_tokens, cached_tokens, quota, use_time_ms, first_token_ms, first_token_count)
    select date_trunc('hour', created_at), user_id, model_name, channel_id, token_id, "group", count(*), sum(prompt_tokens),
      sum(completion_tokens), coalesce(sum((other ->> 'cache_tokens')::bigint), 0), sum(quota), sum(use_time_ms),
      coalesce(sum((other ->> 'frt')::bigint), 0), count(other ->> 'frt')
    from logs where type = ${logType.consume} group by 1, 2, 3, 4, 5, 6`)
  await db.query(`
    insert into failures_hourly (hour, user_id, model_name, channel_id, token_id, "group", calls, attempts)
    select date_trunc('hour', created_at), user_id, model_name, channel_id, token_id, "group",
      count(*) filter (where type = ${logType.error}),
      coalesce(sum(jsonb_array_length(jsonb_path_query_array(other, '$.admin_info.attempts[*] ? (@.status >= 400)'))), 0)
    from logs where type in (${logType.consume}, ${logType.error}) group by 1, 2, 3, 4, 5, 6
    having count(*) filter (where other @? '$.admin_info.attempts[*] ? (@.status >= 400)') > 0`)
  const sums = (column: string) =>
    `(select ${column} as id, sum(quota) as quota, sum(count) as calls from usage_hourly group by 1) s`
  await db.query(
    `update users u set used_quota = s.quota, request_count = s.calls from ${sums('user_id')} where u.id = s.id`,
  )
  // Those without a call were last used when they were tried out.
  await db.query("update tokens set accessed_at = created_at + interval '1 day'")
  await db.query(`update channels c set used_quota = s.quota from ${sums('channel_id')} where c.id = s.id`)
  await db.query(
    `update tokens t set used_quota = s.quota, remain_quota = case when unlimited_quota then remain_quota else remain_quota - s.quota end,
       accessed_at = (select max(created_at) from logs l where l.token_id = t.id)
     from ${sums('token_id')} where t.id = s.id`,
  )
}
