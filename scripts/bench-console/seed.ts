import pg, { type Client } from 'pg'
import type { ConnectionOptions } from '#db/connection.ts'
import { logType } from '#core/statuses.ts'
import { createSecrets, sha256 } from '#features/secrets/service.ts'
import { createRandom } from '#test/seed/random.ts'
import { secretKey } from '../bench/installation.ts'
import { copyInto, copyLine } from './copy.ts'
import {
  channelName,
  groupCount,
  groupName,
  hoursOf,
  type LogLine,
  logsOfHour,
  modelCount,
  modelName,
  type Size,
  tokenName,
  userName,
} from './rows.ts'

/** Numbers of accounts and channels of the benchmark begin here; what stood before keeps its own. */
export const firstId = 10_000
export const rootToken = 'the access token of the benchmark root'
export const userToken = 'the access token of the busiest user'

/** Fills an installation; the same size gives the same rows but for their times. */
export async function seedConsole(connection: ConnectionOptions, size: Size): Promise<void> {
  const client = new pg.Client(connection)
  const key = createSecrets(secretKey).encrypt('sk-upstream')
  await client.connect()
  try {
    await seedPeople(client, size, key)
    await seedChannels(client, size, key)
    await seedLists(client, size, key)
    await seedLogs(client, size)
    for (const table of serials) {
      await client.query(`select setval(pg_get_serial_sequence('${table}', 'id'), (select max(id) from ${table}))`)
    }
    await client.query('vacuum (freeze)')
  } finally {
    await client.end()
  }
}

/** What the jobs and PostgreSQL do by themselves in time, for filled tables as for those that a migration has just changed. */
export async function settle(connection: ConnectionOptions): Promise<void> {
  const client = new pg.Client(connection)
  await client.connect()
  try {
    await client.query('select roll_up_usage()')
    // Where a product has run all the time, a job has added up one hour after another.
    await client.query(
      'cluster usage_by_hour using usage_by_hour_pkey; cluster usage_by_model using usage_by_model_pkey',
    )
    await client.query('analyze')
  } finally {
    await client.end()
  }
}

const serials = ['users', 'tokens', 'channels', 'logs'] as const

async function seedPeople(client: Client, { users }: Size, key: string): Promise<void> {
  const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index)
  await copyInto(
    client,
    'users (id, username, display_name, email, role, quota, used_quota, request_count, "group", created_at)',
    range(users).map((index) =>
      copyLine([
        firstId + index,
        userName(index),
        `User ${index}`,
        `user${index}@mail${index % 97}.test`,
        1,
        1_000_000 + index,
        (users - index) * 1000,
        users - index,
        groupName(index % groupCount),
        new Date(Date.UTC(2025, 0, 1) + index * 60_000).toISOString(),
      ]),
    ),
  )
  await client.query(`update users set access_token_hash = $2 where id = $1`, [firstId, sha256(userToken)])
  await client.query(
    `insert into users (id, username, role, access_token_hash, quota) values ($1, 'bench-root', 100, $2, 0)`,
    [firstId - 1, sha256(rootToken)],
  )
  await copyInto(
    client,
    'tokens (id, user_id, name, key_hash, key_encrypted, key_mask, unlimited_quota)',
    range(users * 2).map((index) =>
      copyLine([
        firstId + index,
        firstId + Math.floor(index / 2),
        tokenName(index),
        `hash-${index}`,
        key,
        'sk-***',
        true,
      ]),
    ),
  )
  // One account with very many tokens.
  await client.query(
    `insert into tokens (id, user_id, name, key_hash, key_encrypted, key_mask)
     select $1 + n, $2, 'many-' || n, 'many-' || n, $3, 'sk-***' from generate_series(1, 1000) n`,
    [firstId + users * 2, firstId, key],
  )
}

async function seedChannels(client: Client, { channels }: Size, key: string): Promise<void> {
  const names = Array.from({ length: modelCount }, (_, index) => modelName(index))
  const random = createRandom(2)
  const rows = Array.from({ length: channels }, (_, index) => ({
    index,
    models: names.filter(() => random() < 0.05),
    group: groupName(index % groupCount),
  }))
  await copyInto(
    client,
    'channels (id, type, name, key_encrypted, status, models, "group", tag, priority, weight, used_quota, used_cost)',
    rows.map(({ index, models, group }) =>
      copyLine([
        firstId + index,
        1 + (index % 40),
        channelName(index),
        key,
        index % 10 === 9 ? 2 : 1,
        models.join(','),
        group,
        index % 4 === 0 ? `tag-${index % 200}` : '',
        index % 5,
        index % 100,
        index * 1e3,
        index * 900,
      ]),
    ),
  )
  await copyInto(
    client,
    'abilities ("group", model, channel_id, enabled, tag)',
    rows.flatMap(({ index, models, group }) =>
      models.map((model) => copyLine([group, model, firstId + index, index % 10 !== 9, ''])),
    ),
  )
}

/** Lists that grow with the number of users. */
async function seedLists(client: Client, { users }: Size, key: string): Promise<void> {
  const statements = [
    `insert into redemptions (user_id, name, key_hash, key_encrypted, status, quota, is_gift)
     select $1, 'batch-' || n / 1000, 'hash-' || n, $3, 1 + n % 3, 1000, n % 7 = 0 from generate_series(1, $2::int) n`,
    `insert into top_up_orders (user_id, quota, currency, money_minor, gateway, trade_no, status, created_at)
     select $1 + n % 5000, 5000000, 'CNY', 1000, 'epay', 'order-' || n, (array['pending', 'paid', 'paid'])[1 + n % 3], now() - n * interval '1 minute'
     from generate_series(1, $2::int) n`,
    `insert into audit_entries (actor_id, actor_name, action, target_type, target_id, target_name, created_at)
     select $1 + n % 20, 'admin' || n % 20, (array['users.update', 'channels.update', 'tokens.create'])[1 + n % 3], 'user', n::text,
       'user' || n, now() - n * interval '1 minute' from (select * from generate_series($2::int, 1, -1)) n(n)`,
    `insert into drawing_tasks (user_id, action, mj_id, prompt, status, progress, submitted_at)
     select $1 + n % 5000, 'IMAGINE', 'mj-' || n, 'a house', 'SUCCESS', '100%', now() - n * interval '1 minute'
     from (select * from generate_series($2::int, 1, -1)) n(n)`,
    `insert into music_tasks (user_id, task_id, action, status, submitted_at)
     select $1 + n % 5000, 'task-' || n, 'MUSIC', 'SUCCESS', now() - n * interval '1 minute'
     from (select * from generate_series($2::int, 1, -1)) n(n)`,
    `insert into messages (title, content, created_at)
     select 'Message ' || n, 'Text of message ' || n, now() - n * interval '1 hour' from generate_series(1, ($2::int / 100)) n cross join (values ($1::int)) first`,
    `insert into message_recipients (message_id, user_id)
     select m.id, $1::int + n from messages m cross join generate_series(0, least($2::int, 100) - 1) n`,
  ]
  // Not every one needs the key; the others are given its type.
  for (const statement of statements)
    await client.query(`${statement} where $3::text is not null`, [firstId, users, key])
}

const logColumns = `logs (id, created_at, user_id, type, content, username, token_name, token_id, model_name, quota, prompt_tokens,
  completion_tokens, use_time_ms, is_stream, channel_id, "group", request_id, other, cost)`
const usageColumns = `usage_hourly (hour, user_id, model_name, channel_id, token_id, "group", count, prompt_tokens,
  completion_tokens, cached_tokens, quota, use_time_ms, first_token_ms, first_token_count, cost, costed_quota)`
const failureColumns = `failures_hourly (hour, user_id, model_name, channel_id, token_id, "group", calls, attempts)`

async function seedLogs(client: Client, size: Size): Promise<void> {
  const hours = hoursOf(size)
  await makePartitions(
    client,
    hours.map(({ start }) => start),
  )
  const indexes = await dropIndexes(client)
  const random = createRandom(1)
  let id = 0
  const sums: string[] = []
  const failures: string[] = []
  const logLines = function* (): Generator<string> {
    for (const hour of hours) {
      const lines = logsOfHour(random, size, hour)
      for (const line of lines) yield toCopyLine((id += 1), line)
      sums.push(...sumsOfHour(hour.start, lines))
      failures.push(...failuresOfHour(hour.start, lines))
    }
  }
  await copyInto(client, logColumns, logLines())
  await copyInto(client, usageColumns, sums)
  await copyInto(client, failureColumns, failures)
  await client.query("set maintenance_work_mem = '1GB'")
  for (const statement of indexes) await client.query(statement)
}

async function makePartitions(client: Client, starts: readonly number[]): Promise<void> {
  for (const month of new Set(starts.map((start) => new Date(start).toISOString().slice(0, 7)))) {
    await client.query(
      `create table if not exists logs_${month.replace('-', '_')} partition of logs
       for values from ('${month}-01 00:00+00') to ('${nextMonth(month)}-01 00:00+00')`,
    )
  }
}

const nextMonth = (month: string): string => {
  const [year = 0, number = 0] = month.split('-').map(Number)
  return new Date(Date.UTC(year, number, 1)).toISOString().slice(0, 7)
}

/** An index is made faster of all rows than row by row. Returns what makes them again. */
async function dropIndexes(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string; definition: string }>(
    `select c.relname as name, pg_get_indexdef(c.oid) as definition from pg_index i join pg_class c on c.oid = i.indexrelid
     where i.indrelid = 'logs'::regclass and not i.indisprimary`,
  )
  for (const { name } of rows) await client.query(`drop index "${name}"`)
  return rows.map(({ definition }) => definition.replace(' ON ONLY ', ' ON '))
}

const keyOf = (line: LogLine): string => `${line.user} ${line.model} ${line.channel} ${line.token} ${line.group}`

function grouped(lines: readonly LogLine[]): LogLine[][] {
  const groups = new Map<string, LogLine[]>()
  for (const line of lines) {
    const key = keyOf(line)
    const known = groups.get(key)
    if (known) known.push(line)
    else groups.set(key, [line])
  }
  return [...groups.values()]
}

const placeOf = (start: number, { user, model, channel, token, group }: LogLine): (string | number)[] => [
  new Date(start).toISOString(),
  firstId + user,
  modelName(model),
  firstId + channel,
  firstId + token,
  groupName(group),
]

function sumsOfHour(start: number, lines: readonly LogLine[]): string[] {
  return grouped(lines.filter(({ failed }) => !failed)).map((calls) => {
    const sum = (pick: (line: LogLine) => number): number => calls.reduce((total, line) => total + pick(line), 0)
    const quota = sum((line) => line.quota)
    return copyLine([
      ...placeOf(start, calls[0] as LogLine),
      calls.length,
      sum((line) => line.promptTokens),
      sum((line) => line.completionTokens),
      sum((line) => line.cachedTokens),
      quota,
      sum((line) => line.useTimeMs),
      sum((line) => line.firstTokenMs),
      calls.length,
      sum((line) => line.cost),
      quota,
    ])
  })
}

const failuresOfHour = (start: number, lines: readonly LogLine[]): string[] =>
  grouped(lines.filter(({ failed }) => failed)).map((calls) =>
    copyLine([...placeOf(start, calls[0] as LogLine), calls.length, calls.length]),
  )

function toCopyLine(id: number, line: LogLine): string {
  const { user, token, model, channel, group, failed, session } = line
  const other = failed
    ? { error_type: 'server_error', status_code: 503 }
    : {
        model_ratio: 1.25,
        group_ratio: 1,
        completion_ratio: 4,
        frt: line.firstTokenMs,
        cache_tokens: line.cachedTokens,
        admin_info: { use_channel: [String(firstId + channel)] },
        ...(id % 1e3 === 0 ? { end: 'client_gone' } : {}),
        ...(session === null ? {} : { session }),
      }
  return copyLine([
    id,
    new Date(line.at).toISOString(),
    firstId + user,
    failed ? logType.error : logType.consume,
    failed ? `The engine is overloaded (${channelName(channel)})` : '模型倍率 1.25，补全倍率 4.00，分组倍率 1.00',
    userName(user),
    tokenName(token),
    firstId + token,
    modelName(model),
    line.quota,
    failed ? 0 : line.promptTokens,
    failed ? 0 : line.completionTokens,
    line.useTimeMs,
    id % 2 === 0,
    firstId + channel,
    groupName(group),
    `request-${id}`,
    JSON.stringify(other),
    failed ? null : line.cost,
  ])
}
