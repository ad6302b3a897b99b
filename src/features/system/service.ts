import type { NodeFigures } from '#db/entities/node.ts'
import type { Deps } from '#features/deps.ts'
import { nodeLockClass } from '#features/ledger/node.ts'
import { type Query, readInTime } from '#features/logs/timed-query.ts'
import { withoutValues } from './statements.ts'

type NodeRow = {
  id: number
  host: string
  pid: number
  role: string
  version: string
  started_at: Date
  seen_at: Date
  figures: NodeFigures
  alive: boolean
}

/** A process that lives holds the lock of its number. */
async function readNodes(query: Query) {
  const rows = await query<NodeRow>(
    `select n.*, exists (select 1 from pg_locks l where l.locktype = 'advisory' and l.classid = $1 and l.objid = n.id
       and l.granted and l.database = (select oid from pg_database where datname = current_database())) as alive
     from nodes n order by n.host, n.id`,
    [nodeLockClass],
  )
  return rows.map(({ started_at: startedAt, seen_at: seenAt, ...row }) => ({ ...row, startedAt, seenAt }))
}

/** What is set aside for calls that go on, and for charges that wait for an operator (`waiting`). */
async function readHolds(query: Query) {
  const [row] = await query<{ count: string; amount: string; oldest: Date | null; waiting: string }>(
    `select count(*) as count, coalesce(sum(amount), 0) as amount, min(created_at) filter (where node_id <> 0) as oldest,
       count(*) filter (where node_id = 0 and exists (select 1 from failed_charges f where f.id = holds.id)) as waiting
       from holds where status = 'open'`,
    [],
  )
  return {
    count: Number(row?.count ?? 0),
    amount: Number(row?.amount ?? 0),
    oldest: row?.oldest ?? null,
    waiting: Number(row?.waiting ?? 0),
  }
}

/** What the processes keep of balances for busy tokens, to give their calls without asking. */
async function readLeases(query: Query) {
  const [row] = await query<{ count: string; amount: string }>(
    'select count(*) as count, coalesce(sum(amount), 0) as amount from leases',
    [],
  )
  return { count: Number(row?.count ?? 0), amount: Number(row?.amount ?? 0) }
}

async function readDatabase(query: Query) {
  const [row] = await query<{ bytes: string; connections: string; most: string; version: string }>(
    `select pg_database_size(current_database()) as bytes, current_setting('server_version') as version,
       (select count(*) from pg_stat_activity where datname = current_database()) as connections,
       current_setting('max_connections') as most`,
    [],
  )
  return {
    bytes: Number(row?.bytes ?? 0),
    connections: Number(row?.connections ?? 0),
    mostConnections: Number(row?.most ?? 0),
    version: row?.version ?? '',
  }
}

const mostMonths = 12
const daysOfGrowth = 14

/** The log by month, newest first, what has no month last, and without the coming ones that are made ahead, and how many calls were charged on each of the last days. */
async function readLogGrowth(query: Query) {
  const months = await query<{ month: string; bytes: string; rows: string }>(
    `select c.relname as month, pg_total_relation_size(c.oid) as bytes, greatest(c.reltuples, 0)::bigint as rows
     from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'logs'::regclass
       and (c.relname <= 'logs_' || to_char(now(), 'YYYY_MM') or (c.relname = 'logs_default' and c.reltuples > 0))
     order by c.relname = 'logs_default', c.relname desc limit ${mostMonths}`,
    [],
  )
  const days = await query<{ day: string; calls: string }>(
    `select to_char(d.day, 'YYYY-MM-DD') as day, coalesce(sum(u.count), 0) as calls
     from generate_series(date_trunc('day', now()) - interval '${daysOfGrowth - 1} days', date_trunc('day', now()), '1 day') as d (day)
     left join usage_hourly u on u.hour >= d.day and u.hour < d.day + interval '1 day' group by 1 order by 1`,
    [],
  )
  return {
    months: months.map(({ month, bytes, rows }) => ({ name: month, bytes: Number(bytes), rows: Number(rows) })),
    days: days.map(({ day, calls }) => ({ day, calls: Number(calls) })),
  }
}

const slowSeconds = 1
const mostStatements = 20

/** What has been running for over a second now. */
async function readSlowStatements(query: Query) {
  const rows = await query<{ pid: number; seconds: number; locked: boolean; query: string }>(
    `select pid, extract(epoch from clock_timestamp() - query_start)::float8 as seconds,
       coalesce(wait_event_type = 'Lock', false) as locked, query
     from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and state like '%active%'
       and query_start < clock_timestamp() - interval '${slowSeconds} second'
     order by query_start limit ${mostStatements}`,
    [],
  )
  return rows.map(({ query: text, ...row }) => ({ ...row, statement: withoutValues(text) }))
}

/** The statements with the most time since the extension last began to count; null where it is not installed. */
async function readStatementCosts(query: Query) {
  const [extension] = await query<{ schema: string }>(
    `select quote_ident(n.nspname) as schema from pg_extension e join pg_namespace n on n.oid = e.extnamespace
     where e.extname = 'pg_stat_statements'`,
    [],
  )
  if (!extension) return null
  const rows = await query<{ query: string; calls: string; mean: number; total: number }>(
    `select query, calls, mean_exec_time as mean, total_exec_time as total from ${extension.schema}.pg_stat_statements
     where dbid = (select oid from pg_database where datname = current_database())
     order by total_exec_time desc limit ${mostStatements}`,
    [],
  )
  return rows.map(({ query: text, calls, mean, total }) => ({
    statement: withoutValues(text),
    calls: Number(calls),
    meanMs: mean,
    totalMs: total,
  }))
}

/** How the installation is doing, by what its processes said last and what the database says now. */
export async function systemState({ database }: Pick<Deps, 'database'>) {
  const state = await readInTime(database.pool, async (query) => ({
    nodes: await readNodes(query),
    holds: await readHolds(query),
    leases: await readLeases(query),
    database: await readDatabase(query),
    logs: await readLogGrowth(query),
    slowStatements: await readSlowStatements(query),
  }))
  // Apart, since an extension that is there may be out of order.
  const statementCosts = await readInTime(database.pool, readStatementCosts).catch(() => null)
  return { ...state, statementCosts }
}
