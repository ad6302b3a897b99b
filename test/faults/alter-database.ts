import type { Client } from 'pg'
import { until } from '../support/processes.ts'

/**
 * Alters a database for everybody: whoever is in it is put out, and comes back under the new setting, if it lets anybody in.
 * @param beside is in another one.
 */
export async function alterDatabase(
  beside: Pick<Client, 'query'>,
  { database, setting }: { database: string; setting: string },
): Promise<void> {
  await beside.query(`alter database ${database} ${setting}`)
  // Who was let in before that, and is not listed yet, holds a lock on the database until it is.
  const starting = `select 1 from pg_locks join pg_database on objid = oid
    where locktype = 'object' and classid = 'pg_database'::regclass and datname = $1`
  await until(async () => (await beside.query(starting, [database])).rowCount === 0, {
    what: 'sessions do not come about',
  })
  const end = `select pg_terminate_backend(pid, 60000) from pg_stat_activity
    where datname = $1 and backend_type = 'client backend'`
  await beside.query(end, [database])
}
