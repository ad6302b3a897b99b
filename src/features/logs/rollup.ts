import type { Services } from '#features/deps.ts'
import type { Query } from './timed-query.ts'

/** Adds up the hours that are over. Returns up to when that is done. */
export async function rollUpUsage({ database }: Pick<Services, 'database'>): Promise<Date> {
  const { rows } = await database.pool.query<{ until: string }>(
    'select extract(epoch from roll_up_usage()) * 1000 as until',
  )
  return new Date(Number(rows[0]?.until))
}

export type IdRange = { first?: number | undefined; last?: number | undefined }

/** Between which ids the rows of these times lie: an end is absent where that is not known, or not asked. */
export async function idsBetween(
  query: Query,
  { start, end }: { start?: Date | undefined; end?: Date | undefined },
): Promise<IdRange> {
  if (!start && !end) return {}
  const [row] = await query<{ first: string | null; last: string | null }>(
    `select
       (select first_id from log_hours where hour <= date_trunc('hour', $1::timestamptz) order by hour desc limit 1) as first,
       (select last_id from log_hours where hour >= date_trunc('hour', $2::timestamptz) order by hour limit 1) as last`,
    [start ?? null, end ?? null],
  )
  return { first: row?.first ? Number(row.first) : undefined, last: row?.last ? Number(row.last) : undefined }
}

const mostNames = 1000

/**
 * The models that were called, found by leaps through their index. Null where there are so many that a look at the rows is the
 * shorter way.
 */
export async function modelsLike(query: Query, patterns: readonly string[]): Promise<string[] | null> {
  const rows = await query<{ name: string; fits: boolean }>(
    `with recursive names(name) as (
       (select model_name from logs order by model_name limit 1)
       union all
       select (select l.model_name from logs l where l.model_name > n.name order by l.model_name limit 1)
       from names n where n.name is not null
     )
     select name, name like any($1::text[]) as fits from (select name from names limit ${mostNames + 1}) called where name is not null`,
    [patterns],
  )
  return rows.length > mostNames ? null : rows.filter(({ fits }) => fits).map(({ name }) => name)
}
