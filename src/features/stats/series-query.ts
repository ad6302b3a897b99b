import { hourSumsOf } from '#features/logs/usage-sums.ts'
import { pointColumns } from './view.ts'

const namedModels = 10
const sums = hourSumsOf(pointColumns)
const signed = (sign: '' | '-'): string => pointColumns.map((column) => `${sign}${column}`).join(', ')
const added = pointColumns.map((column) => `sum(${column}) as ${column}`).join(', ')

/** Placeholders of the interval's name, its time zone, the first hour and the hour behind the last one. */
type Places = Record<'interval' | 'timeZone' | 'from' | 'until', string>

/** Hours `l`, to which conditions may be added, and the common table expressions that they read. */
type Source = { source: string; withQueries?: string; places: Places }

const mostExpensive = (source: string, { from, until }: Places): string =>
  `top as materialized (
     select l.model_name as model, row_number() over (order by sum(l.quota) desc, sum(l.count) desc, l.model_name)::int as rank
     from ${source} and l.hour >= ${from} and l.hour < ${until} group by 1 order by rank limit ${namedModels}
   )`

/**
 * Sums by interval and model, in this order: the models that cost most by name, all others together under null. Each interval reads
 * its own stretch of an index.
 */
export const seriesByInterval = ({ source, withQueries = '', places }: Source): string =>
  `with ${withQueries}${mostExpensive(source, places)}, intervals as materialized (
     select date_trunc(${places.interval}, h.hour, ${places.timeZone}) as time, min(h.hour) as first, max(h.hour) as last
     from generate_series(${places.from}::timestamptz, ${places.until}::timestamptz - interval '1 hour', interval '1 hour') h(hour) group by 1
   )
   select i.time, s.* from intervals i, lateral (
     select t.model, t.rank, ${sums} from (select l.* from ${source} and l.hour between i.first and i.last) l
     left join top t on t.model = l.model_name group by 1, 2
   ) s order by 1, 2`

/**
 * The same where the hours of all models together are added up already: the others are what the named ones leave of them. Each named
 * model reads its own stretch of an index.
 */
export const seriesByModel = ({ source, places, totals }: Omit<Source, 'withQueries'> & { totals: string }): string => {
  const inRange = `l.hour >= ${places.from} and l.hour < ${places.until}`
  return `with ${mostExpensive(source, places)}, named as materialized (
     select s.hour, t.model, t.rank, ${signed('')}
     from top t, lateral (select l.hour, ${sums} from ${source} and l.model_name = t.model and ${inRange} group by 1) s
   )
   select date_trunc(${places.interval}, p.hour, ${places.timeZone}) as time, p.model, p.rank, ${added} from (
     select * from named
     union all select hour, null, null, ${signed('-')} from named
     union all select l.hour, null, null, ${sums} from ${totals} and ${inRange} group by 1
   ) p group by 1, 2, 3 having sum(calls) > 0 order by 1, 2`
}
